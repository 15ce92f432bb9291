"""Form elicitations answered with the defaults of their schema, and every other one refused or declined."""

from typing import Any

import msgspec
import pytest

from protocol.mcp.answering import answer
from protocol.mcp.elicitation import fill_in
from protocol.mcp.messages import Request
from tests.fakes.http_server import McpScript, Peer
from tests.fakes.http_server import Request as HttpRequest
from tests.fakes.mcp_connections import call, opened


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_every_default_that_a_form_can_hold_is_filled_in() -> None:
    number = msgspec.Raw(b"95.50")
    asked = schema(
        name={"type": "string", "default": "Ada"},
        score={"type": "number", "default": number},
        verified={"type": "boolean", "default": False},
        colours={"type": "array", "items": {"enum": ["red"]}, "default": ["red"]},
        status={"enum": ["open", "shut"], "default": "open"},
    )
    assert fill_in({"message": "?", "requestedSchema": asked}) == {
        "action": "accept",
        "content": {"name": "Ada", "score": number, "verified": False, "colours": ["red"], "status": "open"},
    }


def test_what_has_no_default_is_left_out() -> None:
    asked = schema(name={"type": "string"}, nothing={"default": None}, object={"default": {}}, odd=True)
    assert fill_in({"mode": "form", "requestedSchema": asked}) == {"action": "accept", "content": {}}


def test_a_form_that_requires_what_has_no_default_is_declined() -> None:
    asked = {**schema(name={"type": "string", "default": "Ada"}, mail={"type": "string"}), "required": ["mail"]}
    assert fill_in({"requestedSchema": asked}) == {"action": "decline"}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"requestedSchema": []},
        {"requestedSchema": {}},
        {"requestedSchema": {"properties": []}},
        {"requestedSchema": {"properties": {}, "required": "name"}},
        {"mode": "url", "url": "https://example.com", "elicitationId": "1"},
        {"mode": "url", "requestedSchema": schema()},
    ],
)
def test_what_is_no_form_is_not_filled_in(params: dict[str, Any]) -> None:
    assert fill_in(params) is None
    refused = answer(Request("e-1", "elicitation/create", params), elicitation=True)
    assert b'"code":-32602' in refused


def test_without_the_setting_the_capability_is_undeclared_and_the_method_refused() -> None:
    asked = Request("e-1", "elicitation/create", {"requestedSchema": schema()})
    refused = answer(asked)
    assert b'"code":-32601' in refused
    assert b"This client answers ping and no other request" in refused
    assert b'"result":{"action":"accept","content":{}}' in answer(asked, elicitation=True)
    assert b"-32601" in answer(Request("e-2", "sampling/createMessage", {}), elicitation=True)


@pytest.mark.parametrize(
    ("elicitation", "capabilities", "counted"),
    [
        (True, {"elicitation": {"form": {}}}, {"ping": 0, "refused": 0, "dropped": 0, "elicitation": 1}),
        (False, {}, {"ping": 0, "refused": 1, "dropped": 0}),
    ],
)
def test_the_capability_is_declared_where_forms_are_answered(
    elicitation: bool, capabilities: dict[str, Any], counted: dict[str, int]
) -> None:
    ask = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "elicitation/create",
        "params": {"message": "?", "requestedSchema": schema(size={"type": "integer", "default": 42})},
    }

    def act(request: HttpRequest, peer: Peer) -> None:
        peer.stream().event(ask)
        server.wait_for(lambda seen: bool(seen.seen("")))
        peer.event({"jsonrpc": "2.0", "id": request.json["id"], "result": {"content": []}}).finish()

    with opened(McpScript({"tools/call": act}), elicitation=elicitation) as (server, connection):
        assert call(connection).kind == "result"
        assert server.seen("initialize")[0].json["params"]["capabilities"] == capabilities
        assert connection.stream()["answers"] == counted
        (answered,) = server.seen("")
    assert ("result" in answered.json) is elicitation
    if elicitation:
        assert answered.json == {"jsonrpc": "2.0", "id": 7, "result": {"action": "accept", "content": {"size": 42}}}
