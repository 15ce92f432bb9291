"""The opening of a session, as far as it is decided without a server."""

from typing import Any

import msgspec
import pytest

from protocol.failures import Code
from protocol.mcp.negotiation import Negotiated, initialize_params, negotiate
from protocol.mcp.replies import Outcome
from protocol.mcp.revisions import ACCEPTED, REVISIONS

SERVER = {"name": "s", "version": "1"}
SPOKEN = "2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05, 2024-10-07"


def result(value: Any) -> Outcome:
    return Outcome("result", None, "", value, b"", {"status": 200}, False)


def refusal(code: int, data: Any = None, status: int = 200) -> Outcome:
    error = {"code": msgspec.Raw(str(code).encode()), "message": "no", "data": data}
    return Outcome("rpc-error", None, "The server refused initialize.", error, b"", {"status": status}, False)


@pytest.mark.requirement("limits.revisions")
def test_initialize_proposes_the_latest_revision_and_declares_nothing() -> None:
    assert initialize_params("assay", "1.2") == {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "assay", "version": "1.2"},
    }


@pytest.mark.parametrize("version", ACCEPTED)
def test_each_accepted_revision_is_negotiated(version: str) -> None:
    value = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": SERVER, "more": 1}
    assert negotiate(result(value)) == Negotiated(REVISIONS[version], SERVER, {"tools": {}})


def test_another_revision_is_refused_naming_both_sides() -> None:
    found = negotiate(result({"protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": SERVER}))
    assert isinstance(found, Outcome)
    assert (found.kind, found.code, found.closes) == ("unavailable", Code.VERSION_UNSUPPORTED, True)
    assert found.message == f"The server chose MCP 2026-07-28; this client speaks {SPOKEN}."


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"protocolVersion": None}, "`protocolVersion` is not a string"),
        ({"protocolVersion": 20251125}, "`protocolVersion` is not a string"),
        ({"capabilities": None}, "`capabilities` is not an object"),
        ({"capabilities": []}, "`capabilities` is not an object"),
        ({"serverInfo": "s"}, "`serverInfo` is not an object"),
        ({"serverInfo": {"name": "s"}}, "`serverInfo` lacks a string `name` or `version`"),
        ({"serverInfo": {"version": "1"}}, "`serverInfo` lacks a string `name` or `version`"),
        ({"serverInfo": {"name": "s", "version": 1}}, "`serverInfo` lacks a string `name` or `version`"),
    ],
)
def test_a_malformed_result_is_a_protocol_error(change: dict[str, Any], named: str) -> None:
    value = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": SERVER, **change}
    found = negotiate(result(value))
    assert isinstance(found, Outcome)
    assert (found.kind, found.code, found.closes) == ("unavailable", Code.PROTOCOL_ERROR, True)
    assert found.message == f"The result of initialize is malformed: {named}."


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (200, "rpc-error", Code.UNEXPECTED_REFUSAL),
        (202, "rpc-error", Code.UNEXPECTED_REFUSAL),
        (400, "refused", Code.HTTP_STATUS),
        (500, "refused", Code.HTTP_STATUS),
    ],
)
def test_a_json_rpc_error_is_a_refusal_of_its_kind(status: int, kind: str, code: Code) -> None:
    found = negotiate(refusal(-32600, status=status))
    assert isinstance(found, Outcome)
    assert (found.kind, found.code, found.closes) == (kind, code, True)
    assert found.value["message"] == "no"


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        ({"supported": ["2026-07-28"], "requested": "2025-11-25"}, "2026-07-28"),
        ({"supported": ["2026-07-28", "2027-01-01", 5]}, "2026-07-28, 2027-01-01"),
        ({"supported": []}, "revisions that it does not name"),
        ({"supported": "2026-07-28"}, "revisions that it does not name"),
        (None, "revisions that it does not name"),
    ],
)
def test_an_unsupported_version_says_what_the_server_wants(data: Any, wanted: str) -> None:
    found = negotiate(refusal(-32022, data, status=400))
    assert isinstance(found, Outcome)
    assert found.code is Code.HTTP_STATUS
    assert f"The server wants MCP {wanted}; this client speaks {SPOKEN}." in found.message
    assert found.message.endswith("(HTTP 400)")


def test_every_other_outcome_closes_and_is_handed_on() -> None:
    lost = Outcome("unsent", Code.UNREACHABLE, "No.", None, b"", {}, False)
    assert negotiate(lost) == lost._replace(closes=True)
