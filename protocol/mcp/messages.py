"""JSON-RPC messages of MCP: the bodies that a client sends, and one reading of what a server sends."""

import json
from collections.abc import Iterable
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from protocol.values.document import JsonError, encode, integer, parse

__all__ = [
    "INVALID_PARAMS",
    "METHOD_NOT_FOUND",
    "UNSUPPORTED_VERSION",
    "Malformed",
    "Message",
    "Notification",
    "Reading",
    "Request",
    "Response",
    "answer_body",
    "is_idle_notification",
    "notification_body",
    "read",
    "refusal_body",
    "request_body",
]

#: JSON-RPC 2.0, section 5.1.
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
#: Characters of a server's request id that are echoed. An answer must not be made as large as the server likes.
REQUEST_ID_LIMIT: Final = 1024
#: MCP 2026-07-28: the server speaks other revisions; ``data.supported`` lists them.
UNSUPPORTED_VERSION: Final = -32022


class Response(NamedTuple):
    """An answer to a request. ``id`` is as parsed, None where it was null or written twice.

    ``fault`` is the fixed, hyphenated reason why the content cannot be used; result and error then mean nothing.
    ``raw`` is the whole JSON text that the answer came in (of a batch: the batch).
    """

    id: Any
    result: Any
    error: dict[str, Any] | None
    fault: str | None
    raw: bytes


class Request(NamedTuple):
    """A request of the server. ``id`` is a string or a number in its own spelling, to be echoed as it is."""

    id: Any
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    method: str
    params: dict[str, Any]


class Malformed(NamedTuple):
    """What is no message. ``anonymous``: it may have been meant as a reply, and no id tells whose."""

    reason: str
    anonymous: bool


Message: TypeAlias = Response | Request | Notification | Malformed


class Reading(NamedTuple):
    """The messages of one JSON text; ``batch`` when they stood in an array."""

    messages: tuple[Message, ...]
    batch: bool


def read(text: bytes) -> Reading:
    """Read one JSON text (a body, or the data of one event). Total: nothing is raised, whatever the bytes."""
    try:
        document = parse(text)
    except JsonError as error:
        return Reading((Malformed(f"not strict JSON: {error.reason}", anonymous=True),), batch=False)
    value, repeated = document.value, bool(document.repeated)
    doubtful = _with_repeated_id(text) if "id" in document.repeated else frozenset()
    if not isinstance(value, list):
        return Reading((_classify(value, repeated, 0 in doubtful, text),), batch=False)
    if not value:
        return Reading((Malformed("an empty array", anonymous=True),), batch=True)
    messages = [_classify(each, repeated, place in doubtful, text) for place, each in enumerate(value)]
    return Reading(tuple(messages), batch=True)


class _Params(msgspec.Struct):
    """An object. Its members are passed over."""


class _Heading(msgspec.Struct):
    """What makes a message a notification."""

    jsonrpc: Literal["2.0"]
    method: str
    params: _Params | msgspec.UnsetType = msgspec.UNSET


_HEADING: Final = msgspec.json.Decoder(_Heading)


def is_idle_notification(text: bytes) -> bool:
    """Tell that a text is a notification that means nothing to this client, without reading it strictly.

    It has no id, however spelled, so it is neither response nor request; nor is it about progress. False says nothing:
    :func:`read` it then. Ten times as fast, for servers that log their every step into a reply.
    """
    if b'"id"' in text or b"progress" in text or b"\\" in text:
        return False
    try:
        _HEADING.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _classify(value: Any, repeated: bool, doubtful: bool, raw: bytes) -> Message:
    if not isinstance(value, dict):
        return Malformed("not a JSON-RPC object", anonymous=True)
    if "result" in value or "error" in value or "method" not in value:
        return _response(value, repeated, doubtful, raw)
    method, params, identity = value["method"], value.get("params", {}), value.get("id")
    if repeated or value.get("jsonrpc") != "2.0" or not isinstance(method, str) or not isinstance(params, dict):
        return Malformed("a malformed request or notification", anonymous=False)
    if "id" not in value:
        return Notification(method, params)
    if not _is_request_id(identity):
        return Malformed("a request whose id is no string or number of bounded length", anonymous=False)
    return Request(identity, method, params)


def _is_request_id(value: Any) -> bool:
    spelling = bytes(value) if isinstance(value, msgspec.Raw) else value
    return isinstance(spelling, str | bytes) and len(spelling) <= REQUEST_ID_LIMIT


def _response(value: dict[str, Any], repeated: bool, doubtful: bool, raw: bytes) -> Message:
    if "id" not in value:
        return Malformed("a message without an id", anonymous=True)
    identity = None if doubtful else value["id"]
    fault = "repeated-member" if repeated else _fault(value)
    return Response(identity, value.get("result"), value.get("error") if fault is None else None, fault, raw)


def _fault(value: dict[str, Any]) -> str | None:
    """Name what is wrong with a response by JSON-RPC 2.0, section 5; None when nothing is."""
    if value.get("jsonrpc") != "2.0":
        return "not-json-rpc-2.0"
    if "method" in value:
        return "method-in-response"
    if ("result" in value) == ("error" in value):
        return "result-and-error" if "result" in value else "no-result"
    if "result" in value:
        return None
    error = value["error"]
    if not isinstance(error, dict):
        return "error-not-an-object"
    if integer(error.get("code")) is None:
        return "error-code-not-an-integer"
    return None if isinstance(error.get("message"), str) else "error-message-not-a-string"


class _Pairs(list[tuple[str, Any]]):
    """An object with every member that was written, told apart from an array."""


def _with_repeated_id(text: bytes) -> frozenset[int]:
    """Return the places of the messages whose own ``id`` stands twice. Rare, so the text is simply read once more."""
    value = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=str, parse_float=str).decode(str(text, "utf-8"))
    objects: Iterable[Any] = [value] if isinstance(value, _Pairs) else value
    return frozenset(
        place
        for place, pairs in enumerate(objects)
        if isinstance(pairs, _Pairs) and [name for name, _ in pairs].count("id") > 1
    )


def request_body(identity: int, method: str, params: dict[str, Any] | None) -> bytes:
    """Encode a request. Params of None are left out. Raises ValueError for a lone surrogate in a string."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": identity, "method": method}
    if params is not None:
        message["params"] = params
    return encode(message)


def notification_body(method: str, params: dict[str, Any] | None = None) -> bytes:
    """Encode a notification. Params of None are left out."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    if params is not None:
        message["params"] = params
    return encode(message)


def answer_body(identity: Any, result: dict[str, Any]) -> bytes:
    """Encode the answer to a server's request, under the id as the server spelled it."""
    return encode({"jsonrpc": "2.0", "id": identity, "result": result})


def refusal_body(identity: Any, code: int, message: str) -> bytes:
    """Encode the refusal of a server's request."""
    return encode({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}})
