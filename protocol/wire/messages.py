"""JSON-RPC 2.0 messages of the host wire: one strict reading of a line, and the encoders for both ends."""

from typing import Any, Final, NamedTuple, TypeAlias

from protocol.values.document import JsonError, encode, integer, parse

__all__ = [
    "FAILURE",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "PROTOCOL",
    "Id",
    "Malformed",
    "Message",
    "Notification",
    "Request",
    "Response",
    "decode",
    "encode_error",
    "encode_notification",
    "encode_request",
    "encode_result",
]

#: Version of the host wire.
PROTOCOL: Final = 1

# JSON-RPC 2.0, section 5.1. FAILURE is ours: ``data.code`` then holds one of ``protocol.failures.Code``.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
FAILURE: Final = -32000

#: Ids are strings of at most 256 characters, or integers that every JSON implementation can hold exactly.
Id: TypeAlias = str | int
ID_LENGTH_LIMIT: Final = 256


class Request(NamedTuple):
    id: Id
    method: str
    params: dict[str, Any]


class Notification(NamedTuple):
    method: str
    params: dict[str, Any]


class Response(NamedTuple):
    """An answer to a request of the other end; exactly one of the two is meaningful, ``error`` when not None."""

    id: Id
    result: Any
    error: dict[str, Any] | None


class Malformed(NamedTuple):
    """A line that is no message. ``id`` is the line's own id where it could be read; ``code`` is JSON-RPC's."""

    id: Id | None
    code: int
    message: str


Message: TypeAlias = Request | Notification | Response | Malformed


def decode(line: bytes) -> Message:
    """Read one line. Total: whatever the bytes, the answer is one of the four kinds and nothing is raised."""
    try:
        document = parse(line)
    except JsonError as error:
        return Malformed(None, PARSE_ERROR, f"The line is not strict JSON: {error.reason}.")
    message = document.value
    if not isinstance(message, dict):
        return Malformed(None, INVALID_REQUEST, "The line is not a JSON object; batches are not supported.")
    if document.repeated:
        return Malformed(None, INVALID_REQUEST, "The message repeats a member of an object.")
    return _classify(message)


def _classify(message: dict[str, Any]) -> Message:
    identity = _read_id(message["id"]) if "id" in message else None
    if message.get("jsonrpc") != "2.0":
        return Malformed(identity, INVALID_REQUEST, 'The member "jsonrpc" must be "2.0".')
    if "id" in message and identity is None:
        return Malformed(None, INVALID_REQUEST, "An id is a string of at most 256 characters or an integer.")
    if "method" not in message:
        return _response(identity, message)
    method = message["method"]
    params = message.get("params", {})
    if not isinstance(method, str):
        return Malformed(identity, INVALID_REQUEST, 'The member "method" must be a string.')
    if not isinstance(params, dict):
        return Malformed(identity, INVALID_PARAMS, 'The member "params" must be an object.')
    return Notification(method, params) if identity is None else Request(identity, method, params)


def _response(identity: Id | None, message: dict[str, Any]) -> Message:
    if identity is None or ("result" in message) == ("error" in message):
        return Malformed(identity, INVALID_REQUEST, "The message is neither a request nor a response.")
    error = message.get("error")
    if "error" in message and not isinstance(error, dict):
        return Malformed(identity, INVALID_REQUEST, 'The member "error" must be an object.')
    return Response(identity, message.get("result"), error)


def _read_id(value: Any) -> Id | None:
    if isinstance(value, str):
        return value if len(value) <= ID_LENGTH_LIMIT else None
    return integer(value)


def encode_request(identity: Id, method: str, params: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


def encode_notification(method: str, params: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def encode_result(identity: Id, result: Any) -> bytes:
    return _line({"jsonrpc": "2.0", "id": identity, "result": result})


def encode_error(identity: Id | None, code: int, message: str, data: dict[str, Any] | None = None) -> bytes:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    return _line({"jsonrpc": "2.0", "id": identity, "error": error})


def _line(message: dict[str, Any]) -> bytes:
    return encode(message) + b"\n"
