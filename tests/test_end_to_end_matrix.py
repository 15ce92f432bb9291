"""A refusal matrix: two identities and ten tools in one flow, every cell shown, also after wrong ones."""

import json
from pathlib import Path

import pytest

from tests.command_line import Assay, Ran

FLOW = Path(__file__).resolve().parents[1] / "examples" / "flows" / "matrix.md"
BOTH = ["search_tickets", "preview_ticket", "summarize_ticket", "export_report", "list_audit_events", "restart_worker"]
OWNER = ["delete_workspace", "rotate_signing_key", "invite_member", "read_invoices"]


@pytest.fixture
def bindings(assay: Assay) -> Path:
    aliases = {"agent": "AGENT_TOKEN", "owner": "OWNER_TOKEN"}
    made = {
        alias: {"provider": "MCP", "configuration": {"bearerToken": {"env": name}}} for alias, name in aliases.items()
    }
    return assay.write("bindings.json", json.dumps(made))


def run(assay: Assay, text: str, url: str, bindings: Path, token: str, owner_token: str) -> Ran:
    flow = assay.write("matrix.md", text)
    return assay.run(flow, "--target", url, "--bindings", bindings, AGENT_TOKEN=token, OWNER_TOKEN=owner_token)


def cells(ran: Ran) -> dict[tuple[str, str], str]:
    """What each cell came to: identity and tool -> status."""
    return {(step["alias"], step["facts"]["tool"]): step["status"] for step in ran.steps if step["command"] == "call"}


@pytest.mark.requirement("refusal.unlisted", "refusal.matrix")
def test_every_cell_of_the_matrix_is_shown(
    assay: Assay, protected_server: str, bindings: Path, token: str, owner_token: str
) -> None:
    ran = run(assay, FLOW.read_text(), protected_server, bindings, token, owner_token)
    assert ran.exit == 0, ran.out + ran.err
    everyone = [(who, tool) for who in ("agent", "owner") for tool in [*BOTH, *OWNER]]
    assert cells(ran) == dict.fromkeys(everyone, "succeeded")
    assert len(ran.steps) == 26


@pytest.mark.requirement("refusal.matrix")
def test_cells_after_wrong_ones_are_shown_all_the_same(
    assay: Assay, protected_server: str, bindings: Path, token: str, owner_token: str
) -> None:
    """Three cells are wrong: a refusal that is none, one of the other kind, and one for the owner."""
    text = FLOW.read_text()
    wrong = {
        ("agent", "preview_ticket"): ('{"isError":false}', '{"rpcError":-32602}'),
        ("agent", "delete_workspace"): ('{"rpcError":-32602}', '{"isError":true}'),
        ("owner", "read_invoices"): ('{"isError":false}', '{"rpcError":-32602}'),
    }
    for (who, tool), (right, other) in wrong.items():
        head, found, rest = text.partition(f'{who}.call tool="{tool}"')
        assert right in rest.partition("\n")[0]
        text = head + found + rest.replace(right, other, 1)
    ran = run(assay, text, protected_server, bindings, token, owner_token)
    seen = cells(ran)
    assert len(seen) == 20
    assert {cell for cell, status in seen.items() if status == "failed"} == set(wrong)
    assert {status for cell, status in seen.items() if cell not in wrong} == {"succeeded"}
    assert {step["code"] for step in ran.steps} == {None, "expectation_failed"}
    assert ran.exit == 1
    assert [step["status"] for step in ran.steps[-2:]] == ["succeeded", "succeeded"]
    for who, tool in wrong:
        assert f"{who}: {tool}" in ran.out + ran.err


def test_an_identity_that_does_not_get_in_leaves_the_other_ones_cells(
    assay: Assay, protected_server: str, bindings: Path, owner_token: str
) -> None:
    ran = run(assay, FLOW.read_text(), protected_server, bindings, "not-a-token-of-it", owner_token)
    statuses = {
        who: {step["status"] for step in ran.steps if (step["alias"], step["command"]) == (who, "call")}
        for who in ("agent", "owner")
    }
    assert statuses == {"agent": {"skipped"}, "owner": {"succeeded"}}
    assert ran.exit == 1
