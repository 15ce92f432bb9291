"""The example server does what the flows and the page about it promise, in both versions."""

import subprocess
import sys
from pathlib import Path

import pytest

from examples.catalogue import NUMBERS, Desk, listed

ROOT = Path(__file__).resolve().parents[1]


def test_the_first_line_is_the_url_and_the_server_listens_by_then() -> None:
    command = [sys.executable, "-m", "examples.server", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        server.terminate()
    assert url.startswith("http://127.0.0.1:")
    assert url.endswith("/mcp")


def test_a_protected_server_without_a_token_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.server", "--protected"],
        cwd=ROOT,
        env={"PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "EXAMPLE_SERVER_TOKEN" in done.stderr


def test_a_server_to_sign_in_to_is_refused_without_a_password() -> None:
    command = [sys.executable, "-m", "examples.oauth_server"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": ""}, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "EXAMPLE_SIGN_IN_PASSWORD" in done.stderr


def test_the_two_versions_differ_by_one_tool_for_each_class_of_change() -> None:
    first, second = ({tool.name: tool for tool in listed(version)} for version in (1, 2))
    assert set(second) - set(first) == {"tag_ticket"}
    assert set(first) - set(second) == {"list_audit_events"}
    changed = {name for name in set(first) & set(second) if first[name] != second[name]}
    assert changed == {"export_report", "preview_ticket", "search_tickets", "summarize_ticket"}


def test_no_tool_claims_to_destroy_and_no_version_lists_what_the_flows_expect_to_be_refused() -> None:
    tools = listed(1) + listed(2)
    assert not any(tool.annotations and tool.annotations.destructive_hint for tool in tools)
    assert "delete_workspace" not in {tool.name for tool in tools}


@pytest.mark.parametrize("version", [1, 2])
def test_every_listed_tool_answers(version: int) -> None:
    desk = Desk(version)
    failed = []
    for tool in listed(version):
        arguments = dict.fromkeys(tool.input_schema["required"], "plain")
        if desk.call(tool.name, arguments, "Bearer x").is_error:
            failed.append(tool.name)
    assert failed == ["get_record", "restart_worker"]


def test_a_call_without_a_required_argument_is_an_answer_that_names_it() -> None:
    result = Desk(2).call("export_report", {"team": "a"}, "")
    assert result.is_error
    assert result.content[0].model_dump()["text"] == "Missing: period."


def test_the_numbers_are_spelled_as_the_flows_expect() -> None:
    assert NUMBERS.startswith('{"large":9007199254740993,"price":1.10,"tiny":1e-400,"zero":-0,"digits":1234')
    assert len(NUMBERS.partition('"digits":')[2]) == 401
