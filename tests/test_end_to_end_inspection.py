"""Every inventory, reading and prompt by Markdown flows and the real command line, on four servers by other people."""

import json
from typing import NamedTuple

import pytest

from tests.command_line import Assay

FLOW = """---
name: Inspect everything
providers:
  api: MCP
---

# What the server offers

```rfl
api.connect
api.resources expect=RESOURCES
api.resource_templates expect=TEMPLATES
api.prompts expect=PROMPTS
```

# What can be read

```rfl
api.read_resource uri="READ" expect=READING
api.read_resource uri="ledger://nowhere" expect=NOWHERE
api.get_prompt name="PROMPT" arguments=ARGUMENTS expect=RENDERED
api.get_prompt name="no_such_prompt" expect={"rpcError":-32602}
```

# Cleanup

```rfl
api.disconnect
```
"""


class Peer(NamedTuple):
    """A server, and what is true of it."""

    fixture: str
    resources: str
    templates: str
    prompts: str
    read: str
    reading: str
    nowhere: str
    prompt: str
    arguments: str
    rendered: str
    cleanup: str = "confirmed"


LEDGER = {
    "resources": '{"only":["ledger://rates","ledger://logo","ledger://notes"],"count":3}',
    "templates": '{"only":["ledger://accounts/{name}"]}',
    "prompts": '{"only":["greet","summarize","close"],"absent":["open"]}',
    "read": "ledger://rates",
    "reading": '{"count":1,"redacted":false,"json":[{"pointer":"/EUR","equals":1.1},{"pointer":"/JPY","equals":160}]}',
    "prompt": "summarize",
    "arguments": '{"account":"cash"}',
    "rendered": '{"count":1,"textIncludes":["cash"],"json":[{"pointer":"/messages/0/role","equals":"user"}]}',
}
PEERS = [
    Peer(
        "everything_server",
        '{"count":7,"present":["demo://resource/static/document/features.md"]}',
        '{"count":2,"present":["demo://resource/dynamic/text/{resourceId}"]}',
        '{"present":["simple-prompt","args-prompt"],"absent":["no_such_prompt"]}',
        "demo://resource/static/document/features.md",
        '{"count":1,"textIncludes":["Everything"],"textExcludes":["no such text"]}',
        '{"rpcError":-32602}',
        "args-prompt",
        '{"city":"Bern","state":"BE"}',
        '{"count":1,"textIncludes":["Bern"],"json":[{"pointer":"/messages","count":1}]}',
    ),
    Peer("fastmcp_server", nowhere='{"rpcError":-32602}', **LEDGER),
    Peer("json_server", nowhere='{"rpcError":-32002}', **LEDGER),
    Peer("stateless_server", nowhere='{"rpcError":-32002}', cleanup="not-needed", **LEDGER),
]


def written(peer: Peer) -> str:
    text = FLOW
    for word in ("RESOURCES", "TEMPLATES", "PROMPTS", "READING", "NOWHERE", "ARGUMENTS", "RENDERED"):
        text = text.replace(f"={word}", f"={getattr(peer, word.lower())}")
    return text.replace('"READ"', f'"{peer.read}"').replace('"PROMPT"', f'"{peer.prompt}"')


@pytest.fixture(params=PEERS, ids=lambda peer: peer.fixture)
def peer(request: pytest.FixtureRequest) -> Peer:
    found: Peer = request.param
    return found


@pytest.fixture
def url(peer: Peer, request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue(peer.fixture)
    return address


@pytest.mark.requirement("inspection.whole")
def test_inventories_are_listed_and_resources_and_prompts_read(assay: Assay, peer: Peer, url: str) -> None:
    ran = assay.run(assay.write("f.md", written(peer)), "--target", url)
    assert [status for status in ran.statuses if not status.endswith("succeeded")] == [], ran.out + ran.err
    assert (ran.exit, len(ran.statuses)) == (0, 9)
    assert ran.steps[-1]["state"] == {"kind": "disconnected", "cleanup": peer.cleanup}


@pytest.mark.requirement("diff.artifact")
def test_a_second_run_differs_in_nothing(assay: Assay, peer: Peer, url: str) -> None:
    flow = assay.write("f.md", written(peer))
    assay.run(flow, "--target", url)
    second = assay.run(flow, "--target", url)
    diffs = {path.name: json.loads(path.read_bytes()) for path in second.kept if path.name.endswith("-diff.json")}
    assert sorted(diffs) == ["prompts-diff.json", "resource_templates-diff.json", "resources-diff.json"]
    for diff in diffs.values():
        assert (diff["added"], diff["removed"], diff["changed"]) == ([], [], [])


def test_inspect_shows_every_inventory(assay: Assay, json_server: str) -> None:
    done = assay("inspect", json_server)
    assert done.exit == 0, done.err
    headings = ("tools (5)", "resources (3)", "resource templates (1)", "prompts (3)")
    assert [heading for heading in headings if heading not in done.out] == []
    assert "ledger://accounts/{name}" in done.out
    assert "account*" in done.out
    document = json.loads(assay("inspect", json_server, "--json").out)
    assert {name: len(found["entries"]) for name, found in document["inventories"].items()} == {
        "tools": 5,
        "resources": 3,
        "resource_templates": 1,
        "prompts": 3,
    }
    assert document["inventories"]["resources"]["entries"][0]["mimeType"] == "application/json"


GATEWAY = """---
name: Ask a gateway
providers:
  api: MCP
---

# Its members

```rfl
api.servers expect={"only":["billing","support"],"isError":false}
api.describe_server arguments={"server":"billing"} expect={"only":["charge","refund"],"absent":["search_tickets"]}
api.describe_server arguments={"server":"nobody"} expect={"only":[]}
api.describe_tools expect={"only":["charge","refund","search_tickets"],"json":[{"pointer":"/tools","count":3}]}
api.describe_tools tool="list_accounts" expect={"isError":false} # no names, and none are looked at
```

# A list that cannot be read proves no absence

```rfl
api.describe_tools tool="read_balance" expect={"absent":["charge"]}
```
"""


@pytest.mark.requirement("command.servers", "command.describe-server", "command.describe-tools", "gateway.member")
@pytest.mark.parametrize("fixture", ["json_server", "stateless_server"])
def test_the_helpers_of_a_gateway_are_asked_for_names(
    assay: Assay, fixture: str, request: pytest.FixtureRequest
) -> None:
    ran = assay.run(assay.write("f.md", GATEWAY), "--target", request.getfixturevalue(fixture))
    assert ran.statuses == [
        "servers succeeded",
        "describe_server succeeded",
        "describe_server succeeded",
        "describe_tools succeeded",
        "describe_tools succeeded",
        "describe_tools failed gateway_names_unavailable",
    ], ran.out + ran.err
    assert ran.exit == 1
