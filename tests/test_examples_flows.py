"""The example flows succeed on the example server, as the README and the demo show them."""

from pathlib import Path

import pytest

from tests.command_line import Assay

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_inspection_succeeds_on_both_versions(assay: Assay, example_server: str, example_server_2: str) -> None:
    for url in (example_server, example_server_2):
        ran = assay.run(EXAMPLES / "flows" / "inspect.md", "--target", url)
        assert ran.statuses == [
            "connect succeeded",
            "tools succeeded",
            "call succeeded",
            "call succeeded",
            "call succeeded",
            "disconnect succeeded",
        ], ran.out + ran.err


def test_the_capture_flow_reads_back_what_it_created_and_keeps_numbers_exact(assay: Assay, example_server: str) -> None:
    ran = assay.run(EXAMPLES / "flows" / "capture.md", "--target", example_server, "--input", 'title=a "quoted" one')
    assert ran.exit == 0, ran.out + ran.err
    assert ran.captures[1:] == ["9007199254740993", "1.10"]


@pytest.mark.requirement("anonymous.refused")
def test_the_leak_flow_notices_every_form(assay: Assay, protected_server: str, token: str) -> None:
    bindings = EXAMPLES / "bindings.json"
    ran = assay.run(
        EXAMPLES / "flows" / "leaks.md", "--target", protected_server, "--bindings", bindings, DESK_TOKEN=token
    )
    assert ran.exit == 0, ran.out + ran.err
    assert len(ran.steps) == 9


def test_the_leak_flow_fails_where_nothing_is_asked_for_a_token(assay: Assay, example_server: str) -> None:
    bindings = EXAMPLES / "bindings.json"
    ran = assay.run(
        EXAMPLES / "flows" / "leaks.md", "--target", example_server, "--bindings", bindings, DESK_TOKEN="abcd-efgh"
    )
    assert ran.statuses[0].startswith("connect failed")
    assert ran.exit == 1


PIN = {"DESK_REGISTRY": str(EXAMPLES / "contract" / "desk-registry.json")}
PINNED = (EXAMPLES / "flows" / "pinned.md", "--bindings", EXAMPLES / "pinned.bindings.json")


def test_the_pinned_flow_calls_the_tool_that_was_reviewed(assay: Assay, example_server: str) -> None:
    ran = assay.run(*PINNED, "--target", example_server, **PIN)
    assert (ran.exit, ran.statuses) == (0, ["connect succeeded", "call succeeded", "disconnect succeeded"]), ran.err


def test_the_pinned_flow_refuses_to_call_the_tool_after_it_drifted(assay: Assay, example_server_2: str) -> None:
    ran = assay.run(*PINNED, "--target", example_server_2, **PIN)
    assert (ran.exit, ran.statuses) == (
        1,
        ["connect succeeded", "call failed schema_drift", "disconnect succeeded"],
    ), ran.err


def test_a_pinned_alias_connects_in_a_later_section_though_its_first_call_was_refused(
    assay: Assay, example_server: str
) -> None:
    call = 'api.call tool="search_tickets" arguments='
    sections = (f'{call}{{"query":"refund","x":1}}', f'{call}{{"query":"refund"}}', f'{call}{{"query":"refund"}}')
    text = "".join(f"\n# Part {index}\n\n```rfl\n{line}\n```\n" for index, line in enumerate(sections))
    head = "---\nname: Calls\ndescription: A refused one first.\nproviders:\n  api: MCP\n---\n"
    flow = assay.write("calls.md", head + text)
    ran = assay.run(flow, "--bindings", EXAMPLES / "pinned.bindings.json", "--target", example_server, **PIN)
    assert ran.statuses == ["call failed invalid_arguments", "call succeeded", "call succeeded"], ran.err


def test_the_registry_of_the_pinned_flow_is_what_pin_writes_with_one_bound_put_in(
    assay: Assay, example_server: str
) -> None:
    words = ["--alias", "desk.search", "--endpoint", "https://mcp.desk.example/mcp", "--server-id", "support-desk"]
    words += ["--credential", "desk-reader", "--max-request-bytes", "2048", "--max-response-bytes", "65536"]
    ran = assay("contract", "pin", example_server, "search_tickets", *words, "--timeout-ms", "10000")
    assert ran.exit == 0, ran.err
    kept = (EXAMPLES / "contract" / "desk-registry.json").read_text(encoding="utf-8")
    assert ran.out.replace('"maxLength": 4096', '"maxLength": 80') == kept


def test_the_sign_in_flow_refuses_strangers_and_gets_in_with_a_browser(
    assay: Assay, oauth_server: str, password: str
) -> None:
    words = (EXAMPLES / "flows" / "oauth.md", "--bindings", EXAMPLES / "oauth.bindings.json", "--target", oauth_server)
    ran = assay.run(*words, DESK_PASSWORD=password)
    assert ran.exit == 0, ran.out + ran.err
    assert len(ran.steps) == 9
