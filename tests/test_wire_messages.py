"""Messages of the host wire: one strict reading, and encoders that it understands."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.wire.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Malformed,
    Notification,
    Request,
    Response,
    decode,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"run"}', Request(1, "run", {})),
        (b'{"jsonrpc":"2.0","id":"a","method":"run","params":{"x":"y"}}', Request("a", "run", {"x": "y"})),
        (b'{"jsonrpc":"2.0","method":"cancel","params":{}}', Notification("cancel", {})),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', Response(1, None, None)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', Response(1, None, {"code": msgspec.Raw(b"1")})),
    ],
)
def test_each_kind_of_message_is_read(line: bytes, expected: object) -> None:
    assert decode(line) == expected


@pytest.mark.parametrize(
    ("line", "identity", "code"),
    [
        (b"", None, PARSE_ERROR),
        (b"\xff", None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1,"method":"run"}}', None, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (b"[]", None, INVALID_REQUEST),
        (b'[{"jsonrpc":"2.0","id":1,"method":"run"}]', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"run","method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"run","params":{"a":{"b":1,"b":1}}}', None, INVALID_REQUEST),
        (b'{"id":1,"method":"run"}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":1,"method":"run"}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":null,"method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1.0,"method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":9007199254740992,"method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":true,"method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":"' + b"x" * 257 + b'","method":"run"}', None, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"method":"run","params":[]}', 1, INVALID_PARAMS),
        (b'{"jsonrpc":"2.0","id":1}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{}}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":1,"error":"no"}', 1, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","result":1}', None, INVALID_REQUEST),
    ],
)
def test_what_is_no_message_says_why_and_keeps_a_readable_id(line: bytes, identity: object, code: int) -> None:
    message = decode(line)
    assert isinstance(message, Malformed)
    assert (message.id, message.code) == (identity, code)


def test_a_malformed_line_is_never_quoted() -> None:
    for line in (b"s3cret-value", b'{"s3cret-value":1,"s3cret-value":2}', b'{"jsonrpc":"s3cret-value"}'):
        message = decode(line)
        assert isinstance(message, Malformed)
        assert "s3cret" not in message.message


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_reading_never_raises(line: bytes) -> None:
    assert isinstance(decode(line), Request | Notification | Response | Malformed)


def test_what_one_end_writes_the_other_reads_and_it_is_one_line() -> None:
    lines = [
        encode_request(7, "run", {"text": "a\nb\u2028"}),
        encode_notification("progress", {"id": 7}),
        encode_result(7, {"big": msgspec.Raw(b"1.10")}),
        encode_error(7, -32000, "no", {"code": "timeout"}),
    ]
    assert [line.count(b"\n") for line in lines] == [1, 1, 1, 1]
    assert [decode(line) for line in lines] == [
        Request(7, "run", {"text": "a\nb\u2028"}),
        Notification("progress", {"id": msgspec.Raw(b"7")}),
        Response(7, {"big": msgspec.Raw(b"1.10")}, None),
        Response(7, None, {"code": msgspec.Raw(b"-32000"), "message": "no", "data": {"code": "timeout"}}),
    ]
