"""tests/requirements.toml and the marks in the tests say the same: each requirement has tests, each mark a requirement.

It also holds that every failure code is produced by some test, by a table of which one.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from protocol.failures import Code

TESTS = Path(__file__).resolve().parent
#: The seeds, and the page that promises more of signing in.
SEEDS = {"004", "000", "003", "docs/oauth.md"}
MISBEHAVIOURS = "fakes.oauth_misbehaviours::MISBEHAVIOURS"

#: Code -> a test that produces it: with the real plugin or host, and with the code in the test's own text, or in that
#: of a table whose every row a test carries out.
PRODUCED: dict[Code, str] = {
    Code.INVALID_ARGUMENTS: "test_plugin_wire::test_what_is_inadmissible_is_refused_by_check_and_by_run_alike",
    Code.INVALID_EXPECTATION: "test_plugin_wire::test_what_is_inadmissible_is_refused_by_check_and_by_run_alike",
    Code.PRIVATE_OPERAND: "test_plugin_wire::test_what_is_inadmissible_is_refused_by_check_and_by_run_alike",
    Code.INVALID_BINDING: "test_plugin_wire::test_a_wrong_binding_is_named_by_alias_and_field_and_may_be_mended",
    Code.NOT_CONNECTED: "test_hostile_wire::test_a_call_has_its_outcome_is_seen_once_and_closes_or_not",
    Code.DISCONNECTED: "test_hostile_wire::test_a_call_has_its_outcome_is_seen_once_and_closes_or_not",
    Code.BINDING_FIXED: "test_plugin_alias::test_naming_one_only_later_is_refused_and_changes_nothing",
    Code.ORIGIN_NOT_ADMITTED: "test_end_to_end_setups::test_an_origin_that_is_not_the_target_is_refused",
    Code.TOKEN_FILE_REFUSED: "test_plugin_alias::test_a_token_file_that_is_not_safe_is_refused_before_contact",
    Code.OAUTH_REQUIRED: "test_plugin_oauth::test_nothing_but_a_sign_in_runs_on_an_alias_that_has_no_token",
    Code.OAUTH_DISCOVERY_FAILED: MISBEHAVIOURS,
    Code.OAUTH_UNSUPPORTED: MISBEHAVIOURS,
    Code.OAUTH_REGISTRATION_FAILED: MISBEHAVIOURS,
    Code.OAUTH_CONSENT_DENIED: MISBEHAVIOURS,
    Code.OAUTH_CONSENT_TIMEOUT: "test_plugin_oauth_wire::test_consent_that_is_never_given_ends_at_its_deadline",
    Code.OAUTH_CALLBACK_INVALID: MISBEHAVIOURS,
    Code.OAUTH_STATE_MISMATCH: MISBEHAVIOURS,
    Code.OAUTH_ISSUER_MISMATCH: MISBEHAVIOURS,
    Code.OAUTH_EXCHANGE_FAILED: MISBEHAVIOURS,
    Code.UNREACHABLE: "test_end_to_end_setups::test_a_target_that_is_down_says_so_and_keeps_the_evidence",
    Code.TLS_FAILED: "test_plugin_connect::test_the_authorities_of_a_binding_are_added_to_the_system_s",
    Code.TIMEOUT: "test_hostile_wire::TIMEOUT",
    Code.REPLY_LOST: "test_hostile_wire::LOST",
    Code.REPLY_AMBIGUOUS: "test_hostile_wire::AMBIGUOUS",
    Code.HTTP_STATUS: "test_hostile_wire::REFUSED",
    Code.REDIRECT_REFUSED: "test_hostile_wire::REDIRECT",
    Code.PROTOCOL_ERROR: "test_hostile_wire::PROTOCOL",
    Code.RESPONSE_TOO_LARGE: "test_hostile_wire::TOO_LARGE",
    Code.VERSION_UNSUPPORTED: "test_hostile_wire::CONNECTIONS",
    Code.SESSION_LOST: "test_hostile_wire::SESSION",
    Code.INVENTORY_INCOMPLETE: "test_hostile_wire::LISTINGS",
    Code.INVENTORY_INVALID: "test_hostile_wire::LISTINGS",
    Code.SCHEMA_DRIFT: "test_plugin_pinning::test_a_tool_that_is_not_the_pinned_one_is_schema_drift_and_is_not_called",
    Code.EXPECTATION_FAILED: "test_end_to_end_servers::test_the_other_kind_of_refusal_does_not_pass_for_it",
    Code.UNEXPECTED_REFUSAL: "test_hostile_wire::CALLS",
    Code.TOOL_ERROR: "test_end_to_end_servers::test_without_expect_a_refusal_fails_by_its_own_code",
    Code.SELECTION_FAILED: "test_plugin_capture::test_a_value_that_is_not_captured_fails_and_is_not_asked_for_again",
    Code.GATEWAY_NAMES_UNAVAILABLE: "test_end_to_end_inspection::test_the_helpers_of_a_gateway_are_asked_for_names",
    Code.CLEANUP_UNCONFIRMED: "test_hostile_wire::ENDINGS",
    Code.CANCELLED: "test_plugin_wire::test_a_cancelled_observation_failed",
    Code.EVIDENCE_TOO_LARGE: "test_hostile_limits::test_a_state_that_passes_7_mib_all_the_same_is_no_evidence",
    Code.EVIDENCE_LEAK: "test_host_run::test_a_leak_of_a_learnt_value_leaves_a_tombstone_and_stops_the_flow",
    Code.PLUGIN_DIED: "test_end_to_end_setups::test_a_plugin_that_dies_is_told_apart_from_a_server_that_fails",
    Code.PROVIDER_MISSING: "test_host_run::test_a_provider_without_an_executable_could_not_be_carried_out",
    Code.BROWSER_MISSING: "test_provider_browser::test_a_browser_that_does_not_start_is_told_without_its_output",
    Code.INTERNAL: "test_plugin_wire::test_a_defect_is_a_result_without_the_text_of_the_error",
}
#: Codes of what is not there yet: the revision in which servers ask back.
LATER = {Code.INPUT_REQUIRED}


@cache
def requirements() -> list[dict[str, Any]]:
    document = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))
    listed: list[dict[str, Any]] = document["requirement"]
    return listed


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def marked() -> dict[str, set[str]]:
    """Each test that is marked, as `file::function`, with the requirements that it names."""
    found: dict[str, set[str]] = {}
    for path in sorted(TESTS.glob("test_*.py")):
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef) and (ids := set(marks(node))):
                found[f"{path.stem}::{node.name}"] = ids
    return found


def marks(node: ast.FunctionDef) -> Iterator[str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.requirement":
            yield from (ast.literal_eval(argument) for argument in decorator.args)


def test_each_requirement_is_written_down_whole_and_once() -> None:
    ids = [entry["id"] for entry in requirements()]
    assert len(ids) == len(set(ids))
    for entry in requirements():
        assert set(entry) == {"id", "seed", "section", "text", "tests"}, entry["id"]
        assert entry["seed"] in SEEDS
        assert entry["text"].endswith(".")
        assert entry["section"]
    assert len({entry["text"] for entry in requirements()}) == len(ids)


def test_what_a_page_promises_stands_in_a_section_of_it() -> None:
    page = (TESTS.parent / "docs" / "oauth.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^##? (.+)$", page, re.MULTILINE))
    assert {entry["section"] for entry in requirements() if entry["seed"] == "docs/oauth.md"} <= headings


@pytest.mark.parametrize("entry", requirements(), ids=lambda entry: entry["id"])
def test_each_requirement_has_the_tests_that_it_names_and_they_are_marked_with_it(entry: dict[str, Any]) -> None:
    proving = {test for test, ids in marked().items() if entry["id"] in ids}
    assert proving == set(entry["tests"]) != set()


def test_each_mark_names_a_requirement() -> None:
    known = {entry["id"] for entry in requirements()}
    assert {test: ids - known for test, ids in marked().items() if ids - known} == {}


def source(name: str) -> str:
    """The text of a test with its decorators, or of a table of a test file."""
    file, _, wanted = name.partition("::")
    path = TESTS / f"{file.replace('.', '/')}.py"
    text = path.read_text(encoding="utf-8")
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == wanted:
            return "\n".join(map(ast.unparse, (*node.decorator_list, node)))
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == wanted for target in targets):
            return ast.get_source_segment(text, node) or ""
    raise AssertionError(f"there is no {name}")


def test_every_code_has_a_test_that_produces_it_or_comes_later() -> None:
    assert set(PRODUCED) | LATER == set(Code)
    assert set(PRODUCED) & LATER == set()


@pytest.mark.parametrize("code", PRODUCED)
def test_the_test_of_a_code_is_there_and_names_it(code: Code) -> None:
    assert re.search(rf"\b(?:{code}|Code\.{code.name})\b", source(PRODUCED[code]))
