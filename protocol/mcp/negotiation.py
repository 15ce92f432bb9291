"""The opening of a session: what ``initialize`` proposes, and what its outcome means for the connection."""

from typing import Any, Final, NamedTuple

from protocol.failures import Code
from protocol.mcp.messages import UNSUPPORTED_VERSION
from protocol.mcp.replies import Outcome
from protocol.mcp.revisions import ACCEPTED, LATEST, REVISIONS, Revision
from protocol.values.document import integer

__all__ = ["Negotiated", "initialize_params", "negotiate"]

_SPOKEN: Final = ", ".join(ACCEPTED)


class Negotiated(NamedTuple):
    """What a server agreed to."""

    revision: Revision
    server: dict[str, Any]
    capabilities: dict[str, Any]


def initialize_params(name: str, version: str, capabilities: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the params of ``initialize``: the latest revision, the client's capabilities (none), name and version."""
    return {
        "protocolVersion": LATEST,
        "capabilities": capabilities or {},
        "clientInfo": {"name": name, "version": version},
    }


def negotiate(outcome: Outcome) -> Negotiated | Outcome:
    """Read the outcome of ``initialize``. An Outcome that is returned says why there is no session; it closes.

    A JSON-RPC error is ``unexpected_refusal`` at HTTP 2xx and an HTTP refusal (``http_status``) at 4xx and 5xx.
    """
    if outcome.kind == "rpc-error":
        return _refused(outcome)
    if outcome.kind != "result":
        return outcome._replace(closes=True)
    result = outcome.value
    if reason := _fault(result):
        return _unusable(outcome, Code.PROTOCOL_ERROR, f"The result of initialize is malformed: {reason}.")
    revision = REVISIONS.get(result["protocolVersion"])
    if revision is None:
        text = f"The server chose MCP {result['protocolVersion']}; this client speaks {_SPOKEN}."
        return _unusable(outcome, Code.VERSION_UNSUPPORTED, text)
    return Negotiated(revision, result["serverInfo"], result["capabilities"])


def _fault(result: dict[str, Any]) -> str | None:
    """Say what an InitializeResult lacks of what every revision requires of it."""
    server = result.get("serverInfo")
    if not isinstance(result.get("protocolVersion"), str):
        return "`protocolVersion` is not a string"
    if not isinstance(result.get("capabilities"), dict):
        return "`capabilities` is not an object"
    if not isinstance(server, dict):
        return "`serverInfo` is not an object"
    if not isinstance(server.get("name"), str) or not isinstance(server.get("version"), str):
        return "`serverInfo` lacks a string `name` or `version`"
    return None


def _refused(outcome: Outcome) -> Outcome:
    text = outcome.message
    if integer(outcome.value["code"]) == UNSUPPORTED_VERSION:
        text = f"{text} {_wanted(outcome.value.get('data'))}"
    if outcome.http["status"] >= 400:
        text = f"{text} (HTTP {outcome.http['status']})"
        return outcome._replace(kind="refused", code=Code.HTTP_STATUS, message=text, closes=True)
    return outcome._replace(code=Code.UNEXPECTED_REFUSAL, message=text, closes=True)


def _wanted(data: Any) -> str:
    supported = data.get("supported") if isinstance(data, dict) else None
    names = [name for name in supported if isinstance(name, str)] if isinstance(supported, list) else []
    wanted = ", ".join(names[:10]) or "revisions that it does not name"
    return f"The server wants MCP {wanted}; this client speaks {_SPOKEN}."


def _unusable(outcome: Outcome, code: Code, text: str) -> Outcome:
    return outcome._replace(kind="unavailable", code=code, message=text, closes=True)
