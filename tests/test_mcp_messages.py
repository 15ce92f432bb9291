"""JSON-RPC messages of MCP: one reading of whatever a server sends, and the bodies that a client sends."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.messages import (
    Malformed,
    Notification,
    Reading,
    Request,
    Response,
    answer_body,
    is_idle_notification,
    notification_body,
    read,
    refusal_body,
    request_body,
)


def raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


ONE = raw("1")


def response(
    text: str, *, identity: Any = ONE, result: Any = None, error: Any = None, fault: str | None = None
) -> Reading:
    return Reading((Response(identity, result, error, fault, text.encode()),), batch=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"jsonrpc":"2.0","id":1,"result":{}}', {"result": {}}),
        ('{"result":{"a":1.0},"id":1,"jsonrpc":"2.0"}', {"result": {"a": raw("1.0")}}),
        ('{"jsonrpc":"2.0","id":"1","result":{}}', {"identity": "1", "result": {}}),
        ('{"jsonrpc":"2.0","id":null,"result":{}}', {"identity": None, "result": {}}),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"no"}}',
            {"error": {"code": raw("-5"), "message": "no"}},
        ),
        ('{"jsonrpc":"2.0","id":1}', {"fault": "no-result"}),
        ('{"id":1,"result":{}}', {"result": {}, "fault": "not-json-rpc-2.0"}),
        ('{"jsonrpc":2.0,"id":1,"result":{}}', {"result": {}, "fault": "not-json-rpc-2.0"}),
        ('{"jsonrpc":"2.0","id":1,"method":"x","result":{}}', {"result": {}, "fault": "method-in-response"}),
        ('{"jsonrpc":"2.0","id":1,"result":{},"error":null}', {"result": {}, "fault": "result-and-error"}),
        ('{"jsonrpc":"2.0","id":1,"error":null}', {"fault": "error-not-an-object"}),
        ('{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}', {"fault": "error-code-not-an-integer"}),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":"5","message":"no"}}', {"fault": "error-code-not-an-integer"}),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":1.0,"message":"no"}}', {"fault": "error-code-not-an-integer"}),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":"no"}}', {"fault": "error-code-not-an-integer"}),
        ('{"jsonrpc":"2.0","id":1,"error":{"code":5}}', {"fault": "error-message-not-a-string"}),
        (
            '{"jsonrpc":"2.0","id":1,"result":{"a":{"b":1,"b":2}}}',
            {"result": {"a": {"b": raw("2")}}, "fault": "repeated-member"},
        ),
        ('{"jsonrpc":"2.0","id":1,"result":{"id":1,"id":2}}', {"result": {"id": raw("2")}, "fault": "repeated-member"}),
        ('{"jsonrpc":"2.0","id":1,"result":{},"result":{}}', {"result": {}, "fault": "repeated-member"}),
        ('{"jsonrpc":"2.0","id":1,"result":{},"id":1}', {"identity": None, "result": {}, "fault": "repeated-member"}),
        (
            '{"jsonrpc":"2.0","id":2,"result":{},"i\\u0064":1}',
            {"identity": None, "result": {}, "fault": "repeated-member"},
        ),
    ],
)
def test_responses_are_read_with_the_reason_why_one_cannot_be_used(text: str, expected: dict[str, Any]) -> None:
    assert read(text.encode()) == response(text, **expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"jsonrpc":"2.0","id":"a","method":"ping"}', Request("a", "ping", {})),
        ('{"jsonrpc":"2.0","id":1e3,"method":"x","params":{"a":1}}', Request(raw("1e3"), "x", {"a": raw("1")})),
        ('{"jsonrpc":"2.0","method":"n","params":{"a":null}}', Notification("n", {"a": None})),
        (
            '{"jsonrpc":"2.0","id":null,"method":"x"}',
            Malformed("a request whose id is no string or number of bounded length", False),
        ),
        (
            '{"jsonrpc":"2.0","id":[1],"method":"x"}',
            Malformed("a request whose id is no string or number of bounded length", False),
        ),
        ('{"jsonrpc":"2.0","method":5}', Malformed("a malformed request or notification", False)),
        ('{"method":"x"}', Malformed("a malformed request or notification", False)),
        ('{"jsonrpc":"2.0","method":"x","params":[1]}', Malformed("a malformed request or notification", False)),
        ('{"jsonrpc":"2.0","method":"x","method":"x"}', Malformed("a malformed request or notification", False)),
        ('{"jsonrpc":"2.0","result":{}}', Malformed("a message without an id", True)),
        ("{}", Malformed("a message without an id", True)),
        ("5", Malformed("not a JSON-RPC object", True)),
        ("[]", Malformed("an empty array", True)),
        ("", Malformed("not strict JSON: a value is expected", True)),
        ('{"jsonrpc":"2.0","id":1,"result":NaN}', Malformed("not strict JSON: NaN and Infinity are not JSON", True)),
    ],
)
def test_other_messages_are_read_for_what_they_are(text: str, expected: Any) -> None:
    assert read(text.encode()) == Reading((expected,), batch=text == "[]")


def test_the_id_of_a_request_is_bounded() -> None:
    for spelling in ('"{}"', "{}"):
        for size, kind in ((1024, Request), (1025, Malformed)):
            text = f'{{"jsonrpc":"2.0","id":{spelling.format("1" * size)},"method":"ping"}}'
            assert isinstance(read(text.encode()).messages[0], kind)


def test_a_batch_gives_each_message_and_says_that_it_was_one() -> None:
    text = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"},7]'
    first = Response(raw("1"), {}, None, None, text)
    assert read(text) == Reading((first, Notification("n", {}), Malformed("not a JSON-RPC object", True)), batch=True)


def test_only_the_message_of_a_batch_that_repeats_its_id_loses_it() -> None:
    text = b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"id":2,"result":{}},5]'
    first, second, _ = read(text).messages
    assert (first, second) == (
        Response(raw("1"), {}, None, "repeated-member", text),
        Response(None, {}, None, "repeated-member", text),
    )


def test_a_byte_order_mark_and_other_encodings_are_not_json() -> None:
    for text in (b'\xef\xbb\xbf{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0"}'.encode("utf-16"), b'{"a":"\xff"}'):
        (message,) = read(text).messages
        assert isinstance(message, Malformed)
        assert message.anonymous


VALUES = st.recursive(
    st.none() | st.booleans() | st.sampled_from(["2.0", "n"]) | st.integers(0, 2),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "method", "result", "error", "jsonrpc", "params"]), inner)
    ),
    max_leaves=8,
)
NOTES = VALUES.map(lambda value: {"jsonrpc": "2.0", "method": "n", "params": value})
MESSAGES = st.binary(max_size=60) | (VALUES | NOTES).map(lambda value: json.dumps(value).encode())


@settings(deadline=None, max_examples=80)
@given(MESSAGES)
def test_any_bytes_are_read(text: bytes) -> None:
    assert read(text).messages


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ('{"jsonrpc":"2.0","method":"n"}', True),
        ('{"params":{"a":[1,{}]},"method":"notifications/message","jsonrpc":"2.0"}', True),
        ('{"jsonrpc":"2.0","method":"n","params":[]}', False),
        ('{"jsonrpc":"2.0","method":"n","params":5}', False),
        ('{"jsonrpc":"2.0","method":5}', False),
        ('{"jsonrpc":"1.0","method":"n"}', False),
        ('{"method":"n"}', False),
        ('{"jsonrpc":"2.0","id":1,"result":{}}', False),
        ('{"jsonrpc":"2.0","id" : 1,"method":"ping"}', False),
        ('{"jsonrpc":"2.0","i\\u0064":1,"method":"ping"}', False),
        ('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}', False),
        ('[{"jsonrpc":"2.0","method":"n"}]', False),
        ('{"jsonrpc":"2.0","method":"n"', False),
        ('{"jsonrpc":"2.0","method":"n","params":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}", False),
        ("", False),
    ],
)
def test_a_notification_that_means_nothing_here_is_told_at_a_glance(text: str, idle: bool) -> None:
    assert is_idle_notification(text.encode()) is idle


@settings(deadline=None, max_examples=80)
@given(MESSAGES)
def test_what_is_told_at_a_glance_is_never_a_response_or_request(text: bytes) -> None:
    if is_idle_notification(text):
        assert not any(isinstance(message, Response | Request) for message in read(text).messages)


def test_bodies_are_compact_json_rpc() -> None:
    assert request_body(7, "tools/call", {"n": raw("1.10")}) == (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"n":1.10}}'
    )
    assert request_body(8, "ping", None) == b'{"jsonrpc":"2.0","id":8,"method":"ping"}'
    assert notification_body("n", {}) == b'{"jsonrpc":"2.0","method":"n","params":{}}'
    assert notification_body("n") == b'{"jsonrpc":"2.0","method":"n"}'
    assert answer_body(raw("1.0"), {}) == b'{"jsonrpc":"2.0","id":1.0,"result":{}}'
    assert refusal_body("x", -32601, "no") == b'{"jsonrpc":"2.0","id":"x","error":{"code":-32601,"message":"no"}}'


def test_a_lone_surrogate_cannot_be_sent() -> None:
    with pytest.raises(ValueError):
        request_body(1, "x", {"a": "\ud800"})
