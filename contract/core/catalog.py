"""A catalog: what a server's ``tools/list`` gave, captured in a file."""

from typing import Any, Final, NamedTuple

from contract.core.document import CATALOG, read_document
from contract.core.members import integer
from contract.core.refusal import Refusal, Refused

__all__ = ["TOOL_LIMIT", "Tool", "read_catalog"]

#: Tools of a catalog: it is one page, and a server that lists more is not one that a person reviewed.
TOOL_LIMIT: Final = 128

_ENVELOPE: Final = frozenset({"jsonrpc", "id", "result"})


class Tool(NamedTuple):
    """A tool's name and what it advertises as its ``inputSchema``: any JSON value, None when there is none."""

    name: str
    schema: Any


def read_catalog(data: bytes) -> tuple[Tool, ...]:
    """Read the bytes of a catalog, at most 256 KiB, or raise Refused.

    It is the result of ``tools/list`` or the JSON-RPC response that holds it, whole: a ``nextCursor``, whatever its
    value, is refused. Members of the result and of its tools that are not looked at may be there.
    """
    result = _result(read_document(CATALOG, data))
    if not isinstance(result, dict) or not isinstance(result.get("tools"), list):
        raise Refused(Refusal.CATALOG_SHAPE)
    if "nextCursor" in result:
        raise Refused(Refusal.CATALOG_PAGED)
    if len(result["tools"]) > TOOL_LIMIT:
        raise Refused(Refusal.CATALOG_TOOLS)
    return tuple(map(_tool, result["tools"]))


def _result(value: Any) -> Any:
    """Take the result out of a response; what is neither one nor the other stays as it is."""
    if not isinstance(value, dict) or "result" not in value:
        return value
    identified = isinstance(value.get("id"), str) or integer(value.get("id")) is not None
    return value["result"] if value.keys() == _ENVELOPE and value["jsonrpc"] == "2.0" and identified else None


def _tool(value: Any) -> Tool:
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise Refused(Refusal.CATALOG_ENTRY)
    return Tool(value["name"], value.get("inputSchema"))
