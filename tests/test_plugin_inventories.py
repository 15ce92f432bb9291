"""Resources, resource templates and prompts: read to the end, recorded without texts, compared with `expect`."""

import json
from typing import Any

import pytest

from protocol.values.hashes import digest, text_digest
from tests.fakes.http_server import HttpServer, McpScript, Peer, Refusal, Request
from tests.fakes.plugin_bench import bench

RESOURCE = {
    "uri": "file:///b",
    "name": "b",
    "title": "B",
    "description": "The second.",
    "mimeType": "text/plain",
    "size": 5,
    "annotations": {"audience": ["user"], "lastModified": "2026-01-01T00:00:00Z"},
    "_meta": {"k": 1},
}
TEMPLATE = {"uriTemplate": "file:///{name}", "name": "files", "mimeType": "text/plain"}
PROMPT = {
    "name": "summarize",
    "title": "Summarize",
    "description": "Summarizes a ticket.",
    "arguments": [
        {"name": "ticket", "description": "Its id.", "required": True},
        {"name": "length"},
    ],
}

#: Command -> method, member of the page, key, and an entry with its record.
KINDS: dict[str, tuple[str, str, str, dict[str, Any], dict[str, Any]]] = {
    "resources": (
        "resources/list",
        "resources",
        "uri",
        RESOURCE,
        {
            "sha256": {
                "name": text_digest("b"),
                "title": text_digest("B"),
                "description": text_digest("The second."),
                "mimeType": text_digest("text/plain"),
                "_meta": digest({"k": 1}),
                "annotations": digest({"audience": ["user"]}),
            }
        },
    ),
    "resource_templates": (
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
        TEMPLATE,
        {
            "sha256": {
                "name": text_digest("files"),
                "title": None,
                "description": None,
                "mimeType": text_digest("text/plain"),
                "_meta": None,
                "annotations": None,
            }
        },
    ),
    "prompts": (
        "prompts/list",
        "prompts",
        "name",
        PROMPT,
        {
            "arguments": [
                {"name": "length", "required": False, "sha256": {"title": None, "description": None}},
                {"name": "ticket", "required": True, "sha256": {"title": None, "description": text_digest("Its id.")}},
            ],
            "sha256": {
                "title": text_digest("Summarize"),
                "description": text_digest("Summarizes a ticket."),
                "_meta": None,
            },
        },
    ),
}
CAPABILITIES: dict[str, Any] = {"resources": {}, "prompts": {}}


def serving(command: str, *entries: Any) -> McpScript:
    method, member, *_ = KINDS[command]
    return McpScript(on={method: {member: list(entries)}}, capabilities=CAPABILITIES)


def listed(command: str, *keys: str) -> list[dict[str, Any]]:
    _, _, key, entry, _ = KINDS[command]
    return [{**entry, key: name} for name in keys]


@pytest.mark.requirement("command.resources", "command.resource-templates", "command.prompts", "evidence.sorted")
@pytest.mark.parametrize("command", KINDS)
def test_entries_are_sorted_and_recorded_without_their_texts(command: str) -> None:
    _, _, key, entry, kept = KINDS[command]
    with HttpServer(serving(command, entry, {**entry, key: "a:first"})) as server, bench(server) as plugin:
        seen = plugin.run(command)
        assert (seen["status"], seen["code"], seen["effect"]) == ("succeeded", None, "observe")
        assert seen["state"] == {
            "inventory": command,
            "declared": True,
            "complete": True,
            "count": 2,
            "entries": [{key: name, **kept, "redacted": False} for name in ("a:first", entry[key])],
        }
        assert seen["display"]["entries"][0] == entry
        assert seen["message"] == f"2 {command.replace('_', ' ')} listed."
        state = json.dumps(seen["state"])
        assert [word for word in ("The second", "text/plain", "Its id", "Summarizes") if word in state] == []


@pytest.mark.requirement("command.resources", "command.resource-templates", "expect.inventories")
@pytest.mark.parametrize("command", KINDS)
@pytest.mark.parametrize(
    ("expect", "status"),
    [
        ({"present": ["a"]}, "succeeded"),
        ({"present": ["a", "z"]}, "failed"),
        ({"absent": ["z"]}, "succeeded"),
        ({"absent": ["b"]}, "failed"),
        ({"only": ["b", "a"]}, "succeeded"),
        ({"only": ["a"]}, "failed"),
        ({"only": ["a", "b", "z"]}, "failed"),
        ({"count": 2}, "succeeded"),
        ({"count": 3}, "failed"),
    ],
)
def test_each_key_is_compared_with_the_whole_set(command: str, expect: Any, status: str) -> None:
    with HttpServer(serving(command, *listed(command, "b", "a"))) as server, bench(server) as plugin:
        seen = plugin.run(command, expect=expect)
        assert (seen["status"], seen["code"]) == (status, None if status == "succeeded" else "expectation_failed")


@pytest.mark.parametrize("command", KINDS)
def test_pages_are_read_to_the_end(command: str) -> None:
    method, member, *_ = KINDS[command]

    def reply(request: Request, peer: Peer) -> None:
        place = int(request.json["params"].get("cursor", 0))
        page = {member: listed(command, f"n{place}")} | ({"nextCursor": str(place + 1)} if place < 2 else {})
        peer.json({"jsonrpc": "2.0", "id": request.json["id"], "result": page})

    with HttpServer(McpScript(on={method: reply}, capabilities=CAPABILITIES)) as server, bench(server) as plugin:
        seen = plugin.run(command, expect={"only": ["n0", "n1", "n2"], "count": 3})
        assert (seen["status"], seen["facts"]["pages"]) == ("succeeded", 3)


@pytest.mark.parametrize("command", KINDS)
def test_an_undeclared_inventory_is_asked_for_all_the_same(command: str) -> None:
    method, member, *_ = KINDS[command]
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run(command, expect={"only": []})
        assert (seen["status"], seen["state"]["declared"], seen["state"]["count"]) == ("succeeded", False, 0)
        assert len(server.seen(method)) == 1
    script = McpScript(on={method: {member: listed(command, "a")}})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run(command)
        assert (seen["status"], seen["state"]["declared"], seen["state"]["count"]) == ("succeeded", False, 1)


@pytest.mark.parametrize("command", KINDS)
def test_a_refusal_of_a_declared_inventory_satisfies_nothing(command: str) -> None:
    method, *_ = KINDS[command]
    script = McpScript(on={method: Refusal(-32601, "no")}, capabilities=CAPABILITIES)
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run(command, expect={"absent": ["x"]})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", "inventory_incomplete", "open")
        assert seen["facts"]["refusal"] == {"code": -32601, "message": "no"}
        assert seen["state"] == {"inventory": command, "declared": True, "complete": False, "count": 0}


@pytest.mark.parametrize(
    ("command", "entry", "reason"),
    [
        ("resources", 5, "entry-not-an-object"),
        ("resources", {"name": "x"}, "uri-not-a-string"),
        ("resources", {"uri": 5, "name": "x"}, "uri-not-a-string"),
        ("resource_templates", {"uri": "file:///x"}, "uri-template-not-a-string"),
        ("prompts", {"title": "x"}, "name-not-a-string"),
        ("prompts", {"name": "x", "arguments": {}}, "arguments-not-an-array"),
        ("prompts", {"name": "x", "arguments": ["a"]}, "argument-without-a-name"),
        ("prompts", {"name": "x", "arguments": [{"required": True}]}, "argument-without-a-name"),
        ("prompts", {"name": "x", "arguments": [{"name": "a"}, {"name": "a"}]}, "argument-repeated"),
    ],
)
def test_a_malformed_entry_is_named_and_closes_the_connection(command: str, entry: Any, reason: str) -> None:
    with HttpServer(serving(command, *listed(command, "a"), entry)) as server, bench(server) as plugin:
        seen = plugin.run(command)
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("failed", "inventory_invalid", "closed")
        assert f"Entry 1 of {command} (page 1) is malformed: {reason}." in seen["message"]
        assert "entries" not in seen["state"]


@pytest.mark.parametrize("command", KINDS)
def test_a_repeated_entry_is_named_and_closes_the_connection(command: str) -> None:
    _, _, key, *_ = KINDS[command]
    with HttpServer(serving(command, *listed(command, "a", "b", "a"))) as server, bench(server) as plugin:
        seen = plugin.run(command)
        assert (seen["code"], seen["facts"]["connection"]) == ("inventory_invalid", "closed")
        assert f"Entry 2 of {command} (page 1) repeats a {key}: a." in seen["message"]


@pytest.mark.parametrize(
    ("command", "entry"),
    [
        ("resources", {"uri": "file:///a"}),
        ("resource_templates", {"uriTemplate": "{a}", "annotations": [], "mimeType": None}),
        ("prompts", {"name": "a", "arguments": None}),
        ("prompts", {"name": "a", "arguments": []}),
    ],
)
def test_what_an_entry_may_leave_out_is_null_in_its_record(command: str, entry: Any) -> None:
    with HttpServer(serving(command, entry)) as server, bench(server) as plugin:
        (kept,) = plugin.run(command)["state"]["entries"]
        assert {name for name, value in kept["sha256"].items() if value is not None} <= {"annotations"}
        assert kept.get("arguments", []) == []


@pytest.mark.requirement("private.before-hashing")
@pytest.mark.parametrize("command", KINDS)
def test_private_values_are_redacted_before_they_are_hashed(command: str) -> None:
    _, _, key, entry, _ = KINDS[command]
    private = {**entry, key: "x:token-12345", "description": "for token-12345"}
    if command == "prompts":
        private["arguments"] = [{"name": "token-12345", "description": "token-12345"}]
    configuration: dict[str, Any] = {"bearerToken": "token-12345", "keepText": True}
    with HttpServer(serving(command, private)) as server, bench(server, **configuration) as plugin:
        seen = plugin.run(command)
        (kept,) = seen["state"]["entries"]
        assert (kept[key], kept["redacted"]) == ("x:[redacted]", True)
        assert kept["sha256"]["description"] == text_digest("for [redacted]")
        assert seen["artifacts"][0]["json"]["inventory"] == command
        assert seen["artifacts"][0]["json"]["entries"][0][key] == "x:[redacted]"
        assert "token-12345" not in json.dumps(seen)


@pytest.mark.parametrize(
    ("command", "name"), [("tools", "inputSchema"), ("prompts", "arguments"), ("resources", "uri")]
)
def test_a_private_value_that_is_a_member_name_of_mcp_breaks_nothing(command: str, name: str) -> None:
    token = name if len(name) > 3 else "uri"
    entry = {"tools": {"name": "a", "inputSchema": {"type": "object"}}, "prompts": PROMPT, "resources": RESOURCE}[
        command
    ]
    method = KINDS[command][0] if command in KINDS else "tools/list"
    script = McpScript(on={method: {command: [entry]}}, capabilities=CAPABILITIES)
    with HttpServer(script) as server, bench(server) as plugin:
        plugin.learn(token, "name")
        seen = plugin.run(command)
        assert seen["status"] == "succeeded"
        assert seen["state"]["entries"][0]["redacted"] is True
