"""The one unauthenticated request: what a server demands, and what becomes of a session that it opens instead."""

import json

import pytest

from oauth.challenge import Demand, Probe, ask, demand
from oauth.record import Entry
from oauth.steps import Fetch, Learn, NoReply, Reply
from protocol.failures import Code
from protocol.mcp.challenge import parse_challenges
from tests.fakes.oauth_script import LATE, UNREACHABLE, Page, Played, answer, play

ENDPOINT = "https://mcp.example.com/mcp"


def probe(page: Page) -> tuple[Played, list[Entry]]:
    record: list[Entry] = []
    played = play(ask(Probe(ENDPOINT, (("X-Api-Key", "key-1"),), "assay", "9"), record), {ENDPOINT: page})
    return played, record


def read(field: str) -> Demand | None:
    return demand(parse_challenges([field]))


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("", None),
        ('Basic realm="x"', None),
        ("Bearer", Demand()),
        ('Bearer resource_metadata="https://h/prm", scope="a b a"', Demand("https://h/prm", ("a", "b"))),
        ('Basic realm="x", bearer scope="a", error="insufficient_scope"', Demand(None, ("a",), "insufficient_scope")),
        ('Bearer scope="a", Bearer scope="b"', Demand(None, ("a",))),
        ('Bearer scope=""', Demand()),
        ('Bearer scope="a  b"', Demand(None, ("a", "b"))),
        ('Bearer scope="a\tb"', Demand()),
        ('Bearer scope="a,\\"b"', Demand()),
    ],
)
def test_the_first_bearer_challenge_counts(field: str, expected: Demand | None) -> None:
    assert read(field) == expected


@pytest.mark.requirement("oauth.challenge")
def test_one_initialize_is_sent_with_the_headers_of_the_binding_and_without_a_token() -> None:
    played, record = probe(answer(b"", 401, www_authenticate='Bearer scope="a", resource_metadata="https://h/prm"'))
    (request,) = played.steps
    assert isinstance(request, Fetch)
    assert json.loads(request.body or b"")["params"]["clientInfo"] == {"name": "assay", "version": "9"}
    assert json.loads(request.body or b"")["method"] == "initialize"
    assert request._replace(body=None) == Fetch(
        "challenge",
        "POST",
        ENDPOINT,
        (
            ("X-Api-Key", "key-1"),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ),
        head_only=True,
    )
    assert played.result == Demand("https://h/prm", ("a",))
    assert record == [
        Entry("challenge", ENDPOINT, 401, "a Bearer challenge with `resource_metadata` and `scope`", True)
    ]


@pytest.mark.requirement("oauth.challenge")
@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (answer(b"", 401), "no Bearer challenge in `WWW-Authenticate`"),
        (answer(b"", 403, www_authenticate="Bearer"), "the server refused `initialize`, and not for want of a token"),
        (answer(b"", 307), "a redirect, which is not followed"),
        (answer(b"{}"), "the server asks for no token on `initialize`"),
    ],
)
def test_no_challenge_is_recorded_and_is_not_fatal(page: Reply, reason: str) -> None:
    played, record = probe(page)
    assert (played.result, played.failure) == (None, None)
    assert record == [Entry("challenge", ENDPOINT, page.status, reason, False)]


def test_a_bare_challenge_is_a_demand_without_metadata_and_scope() -> None:
    played, record = probe(answer(b"", 401, www_authenticate="Bearer"))
    assert played.result == Demand()
    assert record[0].reason == "a Bearer challenge with neither metadata nor scope"


@pytest.mark.requirement("oauth.challenge")
@pytest.mark.parametrize(
    ("deleted", "attempt"),
    [
        (answer(b"", 204), Entry("session opened without a token", ENDPOINT, 204, "deleted", True)),
        (
            answer(b"", 405),
            Entry("session opened without a token", ENDPOINT, 405, "the server refused its DELETE", False),
        ),
        (
            LATE,
            Entry(
                "session opened without a token",
                ENDPOINT,
                None,
                "its DELETE had no usable reply: The deadline passed before the reply was complete",
                False,
            ),
        ),
    ],
)
def test_a_session_that_the_server_opens_is_learnt_and_deleted(deleted: Reply | NoReply, attempt: Entry) -> None:
    def page(request: Fetch) -> Reply | NoReply:
        return answer(b"", mcp_session_id="sid-123") if request.method == "POST" else deleted

    played, record = probe(page)
    assert played.kinds == ["Fetch", "Learn", "Fetch"]
    assert played.steps[1] == Learn(("sid-123",))
    assert played.steps[2] == Fetch(
        "session opened without a token",
        "DELETE",
        ENDPOINT,
        (("X-Api-Key", "key-1"), ("Mcp-Session-Id", "sid-123")),
        head_only=True,
        seconds=1.5,
    )
    assert played.result is None
    assert record[1] == attempt


def test_a_session_id_that_no_header_can_carry_is_learnt_and_left_alone() -> None:
    played, record = probe(answer(b"", mcp_session_id="a b"))
    assert played.kinds == ["Fetch", "Learn"]
    assert record[1].reason == "left alone: its id cannot be sent back"


def test_an_endpoint_that_cannot_be_reached_ends_the_sign_in_and_a_late_one_does_not() -> None:
    played, record = probe(UNREACHABLE)
    assert played.failure is not None
    assert played.failure.code is Code.UNREACHABLE
    assert record[0].reason == "no usable reply: No connection to the server: connection refused"
    played, record = probe(LATE)
    assert played.failure is None
    assert len(record) == 1


def test_a_cancelled_delete_ends_the_sign_in() -> None:
    def page(request: Fetch) -> Reply | NoReply:
        cancelled = NoReply(Code.CANCELLED, "It was cancelled before the reply was complete.", True)
        return answer(b"", mcp_session_id="sid-123") if request.method == "POST" else cancelled

    played, _ = probe(page)
    assert played.failure is not None
    assert played.failure.code is Code.CANCELLED
