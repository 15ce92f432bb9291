"""The judge: every rung of the ladder that turns what was seen into an outcome."""

from typing import Any

import pytest

from protocol.failures import Code, Failure
from protocol.mcp.messages import read
from protocol.mcp.replies import EVENT_STREAM, JSON, Asked, Outcome, Reply, judge
from protocol.mcp.revisions import ACCEPTED, LATEST, REVISIONS

URL = "http://h.example/mcp"
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
OTHER = b'{"jsonrpc":"2.0","id":2,"result":{"content":[]}}'
ERROR = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no such tool"}}'
BROKEN = b'{"jsonrpc":"2.0","id":1,"result":{"content":[],"a":{"b":1,"b":1}}}'

CUT = Failure(Code.REPLY_LOST, "The connection ended.")
LATE = Failure(Code.TIMEOUT, "The deadline passed.")
CANCELLED = Failure(Code.CANCELLED, "It was cancelled.")
LARGE = Failure(Code.RESPONSE_TOO_LARGE, "The reply is too large.")


def outcome(
    *texts: bytes,
    status: int = 200,
    kind: str = JSON,
    text: str = "",
    location: str | None = None,
    trouble: Failure | None = None,
    session: bool = False,
    method: str = "tools/call",
    revision: str | None = LATEST,
    url: str = URL,
    challenge: tuple[dict[str, Any], ...] = (),
) -> Outcome:
    readings = [read(part) for part in texts]
    messages = tuple(message for reading in readings for message in reading.messages)
    http: dict[str, Any] = {"status": status} | ({"challenge": list(challenge)} if challenge else {})
    batch = any(reading.batch for reading in readings)
    reply = Reply(status, kind, messages, batch, text, location, trouble, http)
    return judge(Asked(1, method, url, REVISIONS[revision] if revision else None, session), reply)


def brief(found: Outcome) -> tuple[str, Code | None, bool]:
    return found.kind, found.code, found.closes


KNOWN = ("result", None, False)
REFUSED = ("rpc-error", None, False)


@pytest.mark.parametrize("status", [200, 202, 204, 307, 400, 404, 408, 500, 503])
@pytest.mark.parametrize("kind", [JSON, EVENT_STREAM])
def test_a_response_with_our_id_is_what_it_says_at_any_status(status: int, kind: str) -> None:
    assert brief(outcome(RESULT, status=status, kind=kind, session=True)) == KNOWN
    assert brief(outcome(ERROR, status=status, kind=kind, session=True)) == REFUSED


def test_a_result_is_handed_on_with_its_text_and_facts() -> None:
    assert outcome(RESULT) == Outcome("result", None, "", {"content": []}, RESULT, {"status": 200}, False)


def test_a_refusal_is_handed_on_with_its_code_in_the_message() -> None:
    found = outcome(ERROR)
    assert found.message == "The server refused tools/call with JSON-RPC error -32602: no such tool"
    assert found.value["message"] == "no such tool"
    assert found.raw == ERROR


def test_what_came_before_and_after_the_response_does_not_change_it() -> None:
    ping, note, junk = b'{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","method":"n"}', b'{"method":1}'
    assert brief(outcome(note, ping, RESULT, note, junk, kind=EVENT_STREAM)) == KNOWN


@pytest.mark.parametrize(
    ("texts", "revision"),
    [
        ((RESULT, RESULT), LATEST),
        ((RESULT, ERROR), LATEST),
        ((OTHER,), LATEST),
        ((OTHER, RESULT), LATEST),
        ((RESULT, OTHER), LATEST),
        ((b'{"jsonrpc":"2.0","id":"1","result":{}}',), LATEST),
        ((b'{"jsonrpc":"2.0","id":1.0,"result":{}}',), LATEST),
        ((b'{"jsonrpc":"2.0","id":true,"result":{}}',), LATEST),
        ((b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}',), LATEST),
        ((b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}',), LATEST),
        ((b"[" + RESULT + b"]",), LATEST),
        ((b"[" + RESULT + b"]",), None),
        ((b"[" + RESULT + b"," + RESULT + b"]",), "2025-03-26"),
        ((b"[" + RESULT + b"," + OTHER + b"]",), "2025-03-26"),
    ],
)
def test_what_cannot_be_attributed_is_ambiguous(texts: tuple[bytes, ...], revision: str | None) -> None:
    assert brief(outcome(*texts, kind=EVENT_STREAM, revision=revision)) == ("lost", Code.REPLY_AMBIGUOUS, True)


def test_two_responses_are_ambiguous_at_any_status() -> None:
    assert brief(outcome(RESULT, ERROR, status=400)) == ("lost", Code.REPLY_AMBIGUOUS, True)


@pytest.mark.parametrize("revision", ACCEPTED)
def test_a_batch_is_taken_only_where_the_revision_has_batches(revision: str) -> None:
    found = outcome(b"[" + RESULT + b"]", revision=revision)
    assert brief(found) == (KNOWN if revision == "2025-03-26" else ("lost", Code.REPLY_AMBIGUOUS, True))


def test_a_message_about_ambiguity_says_what_came() -> None:
    assert outcome(RESULT, RESULT).message == "Two responses came to one id (tools/call)."
    assert outcome(OTHER).message == (
        "A response came to tools/call whose id is not the request's own (which is the number 1)."
    )
    assert (
        outcome(b"[" + RESULT + b"]").message == "The reply to tools/call is a batch, which 2025-11-25 does not allow."
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("5", "result-not-an-object"),
        ("null", "result-not-an-object"),
        ("{}", "content-not-an-array"),
        ('{"content":{}}', "content-not-an-array"),
        ('{"content":[5]}', "content-block-malformed"),
        ('{"content":[{"text":"a"}]}', "content-block-malformed"),
        ('{"content":[{"type":"text"}]}', "text-not-a-string"),
        ('{"content":[{"type":"text","text":1}]}', "text-not-a-string"),
        ('{"content":[],"isError":"false"}', "is-error-not-a-boolean"),
        ('{"content":[],"isError":null}', "is-error-not-a-boolean"),
        ('{"toolResult":5}', "content-not-an-array"),
    ],
)
def test_a_tool_result_of_a_wrong_shape_is_unavailable_with_a_fixed_reason(result: str, reason: str) -> None:
    text = f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'.encode()
    assert outcome(text) == Outcome(
        "unavailable",
        Code.PROTOCOL_ERROR,
        f"The reply to tools/call cannot be used: {reason}.",
        reason,
        text,
        {"status": 200},
        False,
    )


def test_a_tool_result_before_negotiation_has_the_shape_of_today() -> None:
    assert outcome(b'{"jsonrpc":"2.0","id":1,"result":{"toolResult":5}}', revision=None).kind == "unavailable"


@pytest.mark.parametrize(
    "result",
    [
        '{"content":[]}',
        '{"content":[{"type":"text","text":""},{"type":"image"},{"type":"of tomorrow","x":1}],"isError":true}',
        '{"content":[],"structuredContent":[1],"_meta":5,"other":null}',
    ],
)
def test_a_tool_result_may_hold_what_does_not_hinder_reading_it(result: str) -> None:
    assert brief(outcome(f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'.encode())) == KNOWN


def test_the_first_revision_has_another_tool_result_and_its_servers_today_the_next_one() -> None:
    for result, expected in (
        ('{"toolResult":5}', "result"),
        ('{"toolResult":null}', "result"),
        ('{"content":[]}', "result"),
        ("{}", "unavailable"),
    ):
        text = f'{{"jsonrpc":"2.0","id":1,"result":{result}}}'.encode()
        assert outcome(text, revision="2024-10-07").kind == expected


def test_other_methods_have_any_object_for_a_result() -> None:
    assert outcome(b'{"jsonrpc":"2.0","id":1,"result":{}}', method="tools/list").kind == "result"
    assert outcome(b'{"jsonrpc":"2.0","id":1,"result":[]}', method="tools/list").kind == "unavailable"


def test_a_repeated_member_anywhere_makes_the_reply_unavailable_and_leaves_the_connection_open() -> None:
    assert brief(outcome(BROKEN)) == ("unavailable", Code.PROTOCOL_ERROR, False)
    assert outcome(BROKEN).value == "repeated-member"


@pytest.mark.parametrize(
    ("status", "text", "lost"),
    [
        (404, "", True),
        (404, "<html>", True),
        (400, "Bad Request: No valid session ID provided", True),
        (400, '{"error":{"message":"Session not found"}}', True),
        (400, "Bad Request: Server not initialized", True),
        (400, "invalid session", True),
        (400, "SESSION EXPIRED", True),
        (400, "malformed request", False),
        (400, "Mcp-Session-Id header is required for this session", False),
        (403, "session not found", False),
    ],
)
def test_a_session_is_lost_by_404_or_by_a_400_that_says_so(status: int, text: str, lost: bool) -> None:
    found = outcome(status=status, kind="text/plain", text=text, session=True)
    assert brief(found) == (("refused", Code.SESSION_LOST, True) if lost else ("refused", Code.HTTP_STATUS, False))
    assert found.http == ({"status": status, "body": text} if text else {"status": status})


def test_without_a_session_a_404_is_an_http_refusal() -> None:
    assert brief(outcome(status=404, kind="text/html")) == ("refused", Code.HTTP_STATUS, False)


@pytest.mark.parametrize("status", [300, 301, 302, 303, 304, 307, 308])
def test_a_redirect_is_refused_and_closes(status: int) -> None:
    found = outcome(status=status, kind="", location="/elsewhere")
    assert brief(found) == ("lost", Code.REDIRECT_REFUSED, True)


@pytest.mark.parametrize(
    ("url", "location", "hint"),
    [
        (URL, "/mcp/", "a redirect to http://h.example/mcp/: the same URL with a trailing slash; change `endpoint`"),
        (URL, "http://h.example/mcp/", "the same URL with a trailing slash; change `endpoint`"),
        (URL + "/", "/mcp", "the same URL without its trailing slash; change `endpoint`"),
        (URL, "https://h.example/mcp", "the same URL over https; change `endpoint`"),
        (URL, "/mcp", "the same URL again"),
        (URL, "https://login.example/", "a redirect to https://login.example/: another address"),
        (URL, "http://[", "a redirect to http://[: another address"),
        (URL, None, "names no address"),
    ],
)
def test_a_redirect_says_where_to_and_what_to_change(url: str, location: str | None, hint: str) -> None:
    message = outcome(status=307, kind="", location=location, url=url).message
    assert message.startswith("The server answered HTTP 307 to tools/call, a redirect")
    assert hint in message
    assert "never followed" in message


@pytest.mark.parametrize("status", [408, 500, 502, 503, 599])
def test_a_failing_server_leaves_a_call_unknown_and_closes(status: int) -> None:
    assert brief(outcome(status=status, kind="text/plain", text="x")) == ("lost", Code.HTTP_STATUS, True)


@pytest.mark.parametrize("status", [400, 401, 403, 405, 406, 409, 415, 429, 499])
def test_another_4xx_is_a_known_refusal_that_stays_open(status: int) -> None:
    for kind, texts in (
        ("text/html", ()),
        (JSON, (b"no json",)),
        (JSON, (OTHER,)),
        (JSON, (b"[" + RESULT + b"]",)),
        ("", ()),
    ):
        found = outcome(*texts, status=status, kind=kind, text="why")
        assert brief(found) == ("refused", Code.HTTP_STATUS, False)
        assert found.http == {"status": status, "body": "why"}
        assert found.message.startswith(f"The server answered HTTP {status} to tools/call. ")


@pytest.mark.parametrize("trouble", [CUT, LATE, LARGE])
@pytest.mark.parametrize(
    ("status", "code"), [(403, Code.HTTP_STATUS), (307, Code.REDIRECT_REFUSED), (500, Code.HTTP_STATUS)]
)
def test_a_status_refuses_whatever_became_of_its_body(trouble: Failure, status: int, code: Code) -> None:
    assert outcome(status=status, kind="text/plain", trouble=trouble).code is code


def test_a_cancelled_reading_has_no_outcome_but_that() -> None:
    for status in (200, 307, 403, 500):
        assert brief(outcome(status=status, kind="text/plain", trouble=CANCELLED)) == ("lost", Code.CANCELLED, True)


@pytest.mark.parametrize("trouble", [CUT, LATE, CANCELLED])
def test_a_response_that_was_seen_stands_when_the_reading_on_fails(trouble: Failure) -> None:
    assert brief(outcome(RESULT, kind=EVENT_STREAM, trouble=trouble)) == KNOWN


def test_a_reply_over_the_limit_is_too_large_though_a_response_was_seen() -> None:
    assert brief(outcome(RESULT, kind=EVENT_STREAM, trouble=LARGE)) == ("lost", Code.RESPONSE_TOO_LARGE, True)
    assert brief(outcome(trouble=LARGE)) == ("lost", Code.RESPONSE_TOO_LARGE, True)


@pytest.mark.parametrize("trouble", [CUT, LATE])
def test_trouble_before_the_response_loses_the_reply(trouble: Failure) -> None:
    assert brief(outcome(trouble=trouble)) == ("lost", trouble.code, True)
    assert outcome(trouble=trouble).message == trouble.message


def test_accepted_means_that_no_reply_will_come() -> None:
    assert brief(outcome(status=202, kind="")) == ("lost", Code.REPLY_LOST, True)


@pytest.mark.parametrize(("kind", "named"), [("text/html", "the content type text/html"), ("", "no content type")])
def test_a_foreign_content_type_is_named(kind: str, named: str) -> None:
    found = outcome(kind=kind)
    assert brief(found) == ("lost", Code.PROTOCOL_ERROR, True)
    assert f"has {named};" in found.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"no json", "is not strict JSON: a value is expected."),
        (
            b'{"jsonrpc":"2.0","id":1,"result":{"a":1e999,"b":Infinity}}',
            "is not strict JSON: NaN and Infinity are not JSON.",
        ),
        (b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
        (b"5", "is not a JSON-RPC object."),
        (b'{"jsonrpc":"2.0","result":{}}', "is a message without an id."),
        (b'{"jsonrpc":"2.0","method":"n"}', "holds no response."),
        (b'{"jsonrpc":"2.0","id":1,"method":"x"}', "holds no response."),
    ],
)
def test_a_body_without_a_readable_id_is_a_protocol_error(text: bytes, said: str) -> None:
    found = outcome(text)
    assert brief(found) == ("lost", Code.PROTOCOL_ERROR, True)
    assert said in found.message
    assert found.message.startswith("The reply to tools/call ")


def test_a_stream_that_ends_before_the_response_loses_it() -> None:
    for texts in ((), (b'{"jsonrpc":"2.0","method":"n"}',), (b'{"method":1}',)):
        assert brief(outcome(*texts, kind=EVENT_STREAM)) == ("lost", Code.REPLY_LOST, True)
    assert brief(outcome(b"junk", kind=EVENT_STREAM)) == ("lost", Code.PROTOCOL_ERROR, True)


@pytest.mark.parametrize("status", [302, 401, 403, 404, 408, 500])
def test_what_initialize_was_refused_with_is_always_known(status: int) -> None:
    assert outcome(status=status, kind="text/plain", method="initialize", revision=None).kind == "refused"


def test_hints_say_what_to_do_next() -> None:
    hints: dict[Any, str] = {status: outcome(status=status, kind="").message for status in (401, 404, 405, 418)}
    assert "credentials" in hints[401]
    assert "path of the server's URL" in hints[404]
    assert "takes no POST" in hints[405]
    assert "server's log" in hints[418]


@pytest.mark.parametrize(
    ("scheme", "parameters", "told"),
    [
        ("Bearer", {"resource_metadata": "https://h.example/m"}, True),
        ("bearer", {"resource_metadata": "https://h.example/m"}, True),
        ("Bearer", {"realm": "m"}, False),
        ("Basic", {"resource_metadata": "https://h.example/m"}, False),
    ],
)
def test_a_401_that_says_where_to_sign_in_is_told_with_the_command_that_does(
    scheme: str, parameters: dict[str, str], told: bool
) -> None:
    seen = outcome(status=401, kind="", challenge=({"scheme": scheme, "parameters": parameters},))
    assert "`--bearer-env`" in seen.message
    assert ("`assay login URL`" in seen.message, "`oauth`" in seen.message) == (told, told)
