"""Requests of a plugin to its host: answered, refused, abandoned, and never waited for without an end."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from protocol.failures import Code, Failed
from protocol.wire.asking import Asking
from protocol.wire.messages import Response, decode


class Host:
    """The other end: ``react`` is called with each request, on a thread of its own, and given the asking."""

    def __init__(self, react: Callable[[Asking, dict[str, Any]], Any], seconds: float = 20.0) -> None:
        self.requests: list[dict[str, Any]] = []
        self._react = react
        self._threads: list[threading.Thread] = []
        self.asking = Asking(self._take, seconds)

    def _take(self, line: bytes) -> None:
        request = json.loads(line)
        self.requests.append(request)
        thread = threading.Thread(target=self._react, args=(self.asking, request))
        self._threads.append(thread)
        thread.start()

    def ask(self) -> Any:
        try:
            return self.asking.ask("consent/open", {"alias": "api", "url": "u"}, lambda: False)
        finally:
            for thread in self._threads:
                thread.join()


def response(identity: Any, **members: Any) -> Response:
    message = decode(json.dumps({"jsonrpc": "2.0", "id": identity, **members}).encode())
    assert isinstance(message, Response)
    return message


def answering(**members: Any) -> Host:
    return Host(lambda asking, request: asking.take(response(request["id"], **members)))


def test_a_request_is_written_once_and_its_result_returned() -> None:
    host = answering(result={"a": "b"})
    assert host.ask() == {"a": "b"}
    assert host.ask() == {"a": "b"}
    params = {"alias": "api", "url": "u"}
    assert host.requests == [
        {"jsonrpc": "2.0", "id": number, "method": "consent/open", "params": params} for number in (1, 2)
    ]


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"code": -32000, "message": "No.", "data": {"code": "origin_not_admitted"}}, Code.ORIGIN_NOT_ADMITTED, "No."),
        (
            {"code": -32601, "message": "?"},
            Code.BROWSER_MISSING,
            "The host does not know `consent/open`: it has no browser for a consent page.",
        ),
        ({"code": -32000, "message": "No."}, Code.INTERNAL, "The host refused `consent/open`: No."),
        ({"code": -32000, "message": 5}, Code.INTERNAL, "The host refused `consent/open`: it does not say why"),
        ({"message": "No.", "data": {"code": "unheard_of"}}, Code.INTERNAL, "The host refused `consent/open`: No."),
        ({"message": "No.", "data": {"code": {}}}, Code.INTERNAL, "The host refused `consent/open`: No."),
    ],
)
def test_a_refusal_becomes_a_failure(error: dict[str, Any], code: Code, message: str) -> None:
    with pytest.raises(Failed) as failed:
        answering(error=error).ask()
    assert (failed.value.code, failed.value.failure.message) == (code, message)


def test_a_host_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    with pytest.raises(Failed) as failed:
        Host(lambda asking, request: None, seconds=0.05).ask()
    assert (failed.value.code, failed.value.failure.message) == (
        Code.TIMEOUT,
        "The host did not answer `consent/open` within 0.05 s.",
    )


def test_abandoning_ends_the_wait() -> None:
    with pytest.raises(Failed) as failed:
        Host(lambda asking, request: asking.abandon()).ask()
    assert failed.value.code is Code.CANCELLED


def test_what_was_cancelled_before_is_not_even_written() -> None:
    host = answering(result={})
    with pytest.raises(Failed) as failed:
        host.asking.ask("consent/open", {}, lambda: True)
    assert (failed.value.code, host.requests) == (Code.CANCELLED, [])


def test_a_response_is_ours_when_its_id_was_asked() -> None:
    host = answering(result={})
    assert not host.asking.take(response(1, result={}))
    host.ask()
    assert host.asking.take(response(1, result={"late": True}))
    assert not host.asking.take(response(2, result={}))
    assert not host.asking.take(response("1", result={}))
    host.asking.abandon()
    assert host.ask() == {}
