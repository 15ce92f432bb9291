"""The performer by itself: every step goes to the right hand, and the listener is let go of whatever happens."""

from collections.abc import Iterator
from typing import Any

import pytest

from oauth.perform import GRACE, Performer
from oauth.steps import Consent, Fetch, Flow, Learn, Listen, NoReply, Reply, Wait
from protocol.failures import Code, Failed
from protocol.mcp.attempts import Interrupt

REPLY = Reply(200, (), b"{}")
LISTEN = Listen("127.0.0.1", 0, "/cb")


class Listening:
    port = 4711

    def __init__(self, log: list[Any]) -> None:
        self.log = log

    def expire(self, seconds: float) -> None:
        self.log.append(("expire", seconds))

    def wait(self) -> str | None:
        self.log.append("wait")
        return "code=1"

    def close(self, grace: float) -> None:
        self.log.append(("close", grace))


class Hands:
    """A performer whose every hand writes down what it was given."""

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.interrupt = Interrupt()
        self.reply: Reply | NoReply = REPLY
        self.performer = Performer(self._fetch, self._learn, self._consent, self.interrupt, self._listen)

    def _fetch(self, request: Fetch) -> Reply | NoReply:
        self.log.append(request)
        return self.reply

    def _learn(self, *values: str) -> None:
        self.log.append(values)

    def _consent(self, url: str) -> None:
        self.log.append(url)

    def _listen(self, host: str, port: int, path: str) -> Listening:
        self.log.append((host, port, path))
        return Listening(self.log)


@pytest.fixture
def hands() -> Iterator[Hands]:
    made = Hands()
    yield made
    made.interrupt.close()


def steps(*given: Any) -> Flow[list[Any]]:
    answers = [None] * len(given)
    for place, step in enumerate(given):
        answers[place] = yield step
    return answers


def failing(*given: Any) -> Flow[None]:
    yield from steps(*given)
    raise Failed(Code.OAUTH_STATE_MISMATCH, "no")


def test_every_step_is_answered_by_its_hand(hands: Hands) -> None:
    fetch = Fetch("x", "GET", "https://h")
    answers = hands.performer.run(steps(fetch, LISTEN, Learn(("a", "b")), Learn(()), Consent("https://c", 1.5), Wait()))
    assert answers == [REPLY, 4711, None, None, None, "code=1"]
    assert hands.log == [
        fetch,
        ("127.0.0.1", 0, "/cb"),
        ("a", "b"),
        "https://c",
        ("expire", 1.5),
        "wait",
        ("close", GRACE),
    ]


def test_the_listener_is_kept_between_the_halves_and_only_then(hands: Hands) -> None:
    hands.performer.run(steps(LISTEN), keep=True)
    assert hands.log == [("127.0.0.1", 0, "/cb")]
    assert hands.performer.run(steps(Wait())) == ["code=1"]
    assert hands.log[-1] == ("close", GRACE)
    assert hands.performer.run(steps(Wait())) == [None]


def test_a_second_listener_takes_the_place_of_the_first(hands: Hands) -> None:
    hands.performer.run(steps(LISTEN, LISTEN), keep=True)
    assert hands.log[1] == ("close", 0)
    hands.performer.close()
    assert hands.log[-1] == ("close", 0)
    hands.performer.close()
    assert hands.log.count(("close", 0)) == 2


@pytest.mark.requirement("oauth.listener-gone")
@pytest.mark.parametrize("keep", [True, False])
def test_a_failure_lets_go_of_the_listener_in_either_half(hands: Hands, keep: bool) -> None:
    with pytest.raises(Failed, match="no"):
        hands.performer.run(failing(LISTEN), keep=keep)
    assert hands.log[-1] == ("close", GRACE)


def test_a_refused_consent_ends_the_sign_in(hands: Hands) -> None:
    def refuse(_: str) -> None:
        raise Failed(Code.ORIGIN_NOT_ADMITTED, "not this one")

    hands.performer._consent = refuse
    with pytest.raises(Failed, match="not this one"):
        hands.performer.run(steps(LISTEN, Consent("https://c", 1.5)), keep=True)
    assert hands.log[-1] == ("close", GRACE)


def test_after_a_cancel_nothing_is_sent_and_the_listener_is_gone_at_once(hands: Hands) -> None:
    hands.performer.run(steps(LISTEN), keep=True)
    hands.performer.cancel()
    assert hands.log[-1] == ("close", 0)
    with pytest.raises(Failed) as failed:
        hands.performer.run(steps(Fetch("x", "GET", "https://h")))
    assert failed.value.code is Code.CANCELLED
    assert len(hands.log) == 2


def test_what_came_back_during_a_cancel_is_learnt_before_the_sign_in_ends(hands: Hands) -> None:
    def flow() -> Flow[None]:
        hands.interrupt.set()
        yield Learn(("token",))
        yield Consent("https://never", 1.5)

    with pytest.raises(Failed) as failed:
        hands.performer.run(flow())
    assert failed.value.code is Code.CANCELLED
    assert hands.log == [("token",)]


def test_a_request_that_a_cancel_ended_tells_itself_what_became_of_it(hands: Hands) -> None:
    def fetch(_: Fetch) -> NoReply:
        hands.interrupt.set()
        return NoReply(Code.CANCELLED, "It was cancelled before the reply was complete.", True)

    def flow() -> Flow[None]:
        reply = yield Fetch("x", "POST", "https://h")
        raise Failed(Code.CANCELLED, "cut off", data={"unknown": reply.sent})

    hands.performer._fetch = fetch
    with pytest.raises(Failed) as failed:
        hands.performer.run(flow())
    assert failed.value.failure.data == {"unknown": True}


def test_a_flow_is_closed_when_it_is_given_up(hands: Hands) -> None:
    closed = []

    def flow() -> Flow[None]:
        try:
            yield Consent("https://c", 1.5)
        finally:
            closed.append(True)

    hands.interrupt.set()
    with pytest.raises(Failed):
        hands.performer.run(flow())
    assert closed == [True]


@pytest.mark.requirement("oauth.callback")
def test_without_another_a_performer_opens_the_real_listener(hands: Hands) -> None:
    performer = Performer(hands._fetch, hands._learn, hands._consent, hands.interrupt)
    (port,) = performer.run(steps(LISTEN), keep=True)
    assert 1024 < port < 65536
    performer.close()
