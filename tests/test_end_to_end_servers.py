"""The inspection that the first seed shows, from a Markdown file, on three servers with their own refusals."""

from typing import NamedTuple

import pytest

from tests.command_line import Assay

FLOW = r"""---
name: Inspect the support MCP server
providers:
  api: MCP
---

### Check what this identity can use

```rfl
api.connect
api.tools expect="{\"present\":[\"TOOL\"],\"absent\":[\"delete_workspace\"],\"noTrueAnnotations\":[HINTS]}"
api.call tool="TOOL" arguments="ARGUMENTS" expect="{\"isError\":false}"
api.call tool="delete_workspace" arguments="{}" expect="REFUSAL"
api.disconnect
```
"""


class Server(NamedTuple):
    """One peer: its fixture, a tool with arguments for it, the hints that no tool claims, and how it says no."""

    fixture: str
    tool: str
    arguments: str
    hints: str
    refusal: str
    other: str
    tools: int


SERVERS = [
    Server(
        "example_server",
        "search_tickets",
        r"{\"query\":\"refund\"}",
        r"\"destructive\"",
        r"{\"rpcError\":-32602}",
        r"{\"isError\":true}",
        11,
    ),
    Server(
        "everything_server",
        "echo",
        r"{\"message\":\"refund\"}",
        r"\"destructive\"",
        r"{\"isError\":true}",
        r"{\"rpcError\":-32602}",
        13,
    ),
    Server(
        "fastmcp_server",
        "read_balance",
        r"{\"account\":\"cash\"}",
        r"\"destructive\"",
        r"{\"isError\":true}",
        r"{\"rpcError\":-32602}",
        6,
    ),
    Server(
        "json_server",
        "read_balance",
        r"{\"account\":\"cash\"}",
        r"\"destructive\"",
        r"{\"rpcError\":-32602}",
        r"{\"isError\":true}",
        5,
    ),
    Server(
        "stateless_server",
        "read_balance",
        r"{\"account\":\"cash\"}",
        r"\"destructive\"",
        r"{\"rpcError\":-32602}",
        r"{\"isError\":true}",
        5,
    ),
]


def flow_for(server: Server, refusal: str) -> str:
    text = FLOW.replace("TOOL", server.tool).replace("ARGUMENTS", server.arguments)
    return text.replace("HINTS", server.hints).replace("REFUSAL", refusal)


@pytest.fixture(params=SERVERS, ids=lambda server: server.fixture)
def server(request: pytest.FixtureRequest) -> Server:
    found: Server = request.param
    return found


@pytest.fixture
def url(server: Server, request: pytest.FixtureRequest) -> str:
    address: str = request.getfixturevalue(server.fixture)
    return address


@pytest.mark.requirement(
    "inspection.whole",
    "transport.streamable-http",
    "flow.example",
    "refusal.rpc-error",
    "refusal.is-error",
    "refusal.unlisted",
)
def test_the_seeds_flow_succeeds_on_a_server_with_its_own_refusal(assay: Assay, server: Server, url: str) -> None:
    ran = assay.run(assay.write("f.md", flow_for(server, server.refusal)), "--target", url)
    assert ran.statuses == [
        "connect succeeded",
        "tools succeeded",
        "call succeeded",
        "call succeeded",
        "disconnect succeeded",
    ], ran.out + ran.err
    assert ran.exit == 0
    assert ran.document["exit"] == 0
    assert ran.steps[1]["state"]["complete"] is True
    assert ran.steps[1]["state"]["count"] == server.tools


@pytest.mark.requirement("expect.two-refusals")
def test_the_other_kind_of_refusal_does_not_pass_for_it(assay: Assay, server: Server, url: str) -> None:
    ran = assay.run(assay.write("f.md", flow_for(server, server.other)), "--target", url)
    assert ran.exit == 1
    assert ran.statuses[3] == "call failed expectation_failed"


@pytest.mark.requirement("expect.none")
def test_without_expect_a_refusal_fails_by_its_own_code(assay: Assay, server: Server, url: str) -> None:
    text = flow_for(server, server.refusal).replace(f' expect="{server.refusal}"', "")
    ran = assay.run(assay.write("f.md", text), "--target", url)
    code = "unexpected_refusal" if "rpcError" in server.refusal else "tool_error"
    assert ran.exit == 1
    assert ran.statuses[3] == f"call failed {code}"


def test_a_server_is_inspected_and_called_without_a_flow(assay: Assay, server: Server, url: str) -> None:
    inspected = assay("inspect", url)
    assert inspected.exit == 0, inspected.err
    assert server.tool in inspected.out
    called = assay("call", url, server.tool, server.arguments.replace("\\", ""))
    assert called.exit == 0, called.err
    refused = assay("call", url, "delete_workspace", "{}")
    assert refused.exit == 1
