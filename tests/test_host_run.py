"""`assay run` with a fake plugin: what is run, kept, printed and returned, and what is refused before contact."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.plugins import FakePlugin
from tests.host_command import TARGET, Command
from tests.host_flows import text

SECRET = "bound-secret-value-1"
FLOW = text(
    ("Look", "api.connect\napi.tools # list"),
    ("Use", 'api.call_value tool="make" select="/id" -> id # make\napi.call tool="get" arguments={"id":"${id}"} # get'),
    ("Cleanup", "api.disconnect"),
)
STEPS = ["look/1.api.connect", "look/list", "use/make", "use/get", "cleanup/1.api.disconnect"]


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    command.write("f.md", FLOW)
    return command


def statuses(document: Any) -> dict[str, str]:
    return {step["id"]: step["status"] for flow in document["flows"] for step in flow["steps"]}


def bind(assay: Command, configuration: dict[str, Any], mode: int = 0o600, alias: str = "api") -> None:
    path = assay.write("bindings.json", json.dumps({alias: {"provider": "MCP", "configuration": configuration}}))
    path.chmod(mode)


@pytest.mark.requirement("capture.public")
def test_a_flow_runs_its_steps_in_order_with_its_captures(assay: Command) -> None:
    assay.behave(commands={"call_value": [[{"result": {"capture": 'a "quoted" value'}}]]})
    done = assay.run("f.md")
    assert (done.exit, done.err) == (0, "")
    assert assay.plugin.ran == ["api.connect", "api.tools", "api.call_value", "api.call", "api.disconnect"]
    assert assay.plugin.sent("run")[3]["arguments"] == {"tool": "get", "arguments": '{"id":"a \\"quoted\\" value"}'}
    for words in (*STEPS, 'id = a "quoted" value', "succeeded: A flow (5 succeeded)", str(Path(".assay/runs"))):
        assert words in done.out


def test_every_step_is_checked_before_the_first_one_runs(assay: Command) -> None:
    assay.run("f.md")
    methods = [entry["method"] for entry in assay.plugin.log if "method" in entry]
    assert methods == ["initialize", *["check"] * 5, *["run"] * 5, "shutdown"]
    assert assay.plugin.sent("check")[3] == {
        "alias": "api",
        "command": "call",
        "arguments": {"tool": "get", "arguments": '{"id":"${id}"}'},
        "open": ["arguments"],
    }
    assert assay.plugin.sent("initialize")[0]["origins"] == ["http://127.0.0.1:9"]


def test_the_document_tells_every_step_exactly(assay: Command) -> None:
    assay.behave(commands={"call_value": [[{"result": {"capture": "7"}}]]})
    document = assay.document("f.md")
    (flow,) = document["flows"]
    assert {name: value for name, value in flow.items() if name not in ("steps", "run")} == {
        "flow": "A flow",
        "file": "f.md",
        "status": "succeeded",
        "code": None,
        "message": "5 steps succeeded.",
        "problems": [],
    }
    assert (document["format"], document["exit"], flow["run"]) == ("assay-run/1", 0, assay.runs[0].name)
    assert flow["steps"][2].pop("milliseconds") >= 0
    assert flow["steps"][2] == {
        "id": "use/make",
        "alias": "api",
        "command": "call_value",
        "effect": "mutate",
        "status": "succeeded",
        "code": None,
        "message": "Did call_value.",
        "capture": "7",
        "line": 17,
        "state": None,
        "facts": {"connection": "open"},
    }


def test_standard_output_holds_the_document_alone(assay: Command) -> None:
    done = assay.run("f.md", "--json", "-")
    assert done.document["exit"] == 0
    assert "look/list" in done.err


def test_a_document_goes_to_a_file_and_the_steps_are_printed_all_the_same(assay: Command) -> None:
    done = assay.run("f.md", "--json", "out.json")
    assert "look/list" in done.out
    assert json.loads((assay.folder / "out.json").read_text())["exit"] == 0
    assert [path.name for path in assay.folder.glob("*out.json*")] == ["out.json"]


@pytest.mark.parametrize(("place", "reason"), [("none/out.json", "does not exist"), (".", "it is a folder")])
def test_a_document_that_cannot_be_written_is_found_out_before_contact(assay: Command, place: str, reason: str) -> None:
    done = assay.run("f.md", "--json", place)
    assert done.exit == 2
    assert reason in done.err
    assert assay.plugin.log == []


@pytest.mark.requirement("evidence.step", "capture.evidence")
def test_evidence_is_kept_for_each_step(assay: Command) -> None:
    numbers = {"entries": [{"name": "a", "description": None}]}
    assay.behave(
        commands={
            "tools": [[{"result": {"tools": ["a"], "artifacts": [{"name": "catalog.json", "json": numbers}]}}]],
            "call_value": [[{"result": {"capture": "7"}}]],
        }
    )
    assay.run("f.md")
    kept = assay.kept()
    assert sorted(kept) == [
        "run.json",
        *(
            f"steps/0{number}-api.{name}"
            for number, name in [(1, "connect/observation.json"), (1, "connect/snapshot.json")]
        ),
        "steps/02-api.tools/catalog.json",
        "steps/02-api.tools/observation.json",
        "steps/02-api.tools/snapshot.json",
        "steps/03-api.call_value/observation.json",
        "steps/03-api.call_value/snapshot.json",
        "steps/04-api.call/observation.json",
        "steps/04-api.call/snapshot.json",
        "steps/05-api.disconnect/observation.json",
        "steps/05-api.disconnect/snapshot.json",
    ]
    state = {"inventory": "tools", "declared": True, "complete": True, "count": 1, "entries": numbers["entries"]}
    assert kept["steps/02-api.tools/snapshot.json"] == {
        "format": "assay-snapshot/1",
        "status": "succeeded",
        "state": state,
    }
    observation = kept["steps/04-api.call/observation.json"]
    assert (observation.pop("started") < "9", observation.pop("milliseconds") >= 0) == (True, True)
    assert observation == {
        "format": "assay-observation/1",
        "step": "use/get",
        "alias": "api",
        "command": "call",
        "arguments": {"tool": "get", "arguments": '{"id":"7"}'},
        "effect": "mutate",
        "status": "succeeded",
        "code": None,
        "message": "Did call.",
        "capture": None,
        "state": None,
        "facts": {"connection": "open"},
    }
    assert (assay.runs[0] / "flow.md").read_text() == FLOW
    assert [(step["id"], step["status"]) for step in kept["run.json"]["steps"]] == [
        (step, "succeeded") for step in STEPS
    ]
    assert kept["run.json"]["providers"] == {"api": "MCP"}
    assert kept["run.json"]["plugins"] == {"MCP": {"name": "fake", "version": "1"}}


def test_what_is_for_the_terminal_only_is_never_kept(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"result": {"display": {"entries": ["for-eyes-only"]}}}]]})
    done = assay.run("f.md", "--json", "out.json")
    everything = b"".join(path.read_bytes() for path in assay.folder.rglob("*.json") if "plugins" not in path.parts)
    assert b"for-eyes-only" not in everything
    assert "for-eyes-only" not in done.out


def test_a_failed_step_is_told_with_its_code_and_what_it_skips_with_the_reason(assay: Command) -> None:
    failed = {"status": "failed", "code": "expectation_failed", "message": "`present` lacks x."}
    assay.behave(commands={"tools": [[{"result": failed}]], "call_value": [[{"result": failed}]]})
    done = assay.run("f.md")
    assert done.exit == 1
    assert "FAILED  look/list" in done.out
    assert "[expectation_failed]" in done.out
    assert "`present` lacks x." in done.out
    assert "skipped use/get" in done.out
    assert "`use/make` did not succeed" in done.out or "which `use/make` did not give" in done.out
    assert "failed: A flow (2 succeeded, 2 failed, 1 skipped)" in done.out
    assert assay.plugin.ran == ["api.connect", "api.tools", "api.call_value", "api.disconnect"]


def test_a_quiet_run_that_succeeds_says_nothing(assay: Command) -> None:
    assert assay.run("f.md", "-q") == (0, "", "")


def test_a_quiet_run_tells_what_failed(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"result": {"status": "failed", "code": "timeout", "message": "Late."}}]]})
    done = assay.run("f.md", "--quiet")
    assert "look/list" in done.out
    assert "look/1.api.connect" not in done.out
    assert "failed: A flow" in done.out


@pytest.mark.parametrize(
    ("command", "result", "exit_status", "status"),
    [
        ("tools", {"status": "failed", "code": "timeout"}, 1, "failed"),
        ("tools", {"status": "failed", "code": "unreachable", "facts": {"connection": "refused"}}, 4, "error"),
        ("tools", {"status": "failed", "code": "private_operand"}, 2, "failed"),
        ("call", {"status": "unknown", "code": "reply_lost"}, 3, "unknown"),
        ("call", {"status": "unknown", "code": "timeout"}, 3, "unknown"),
        ("call", {"status": "failed", "code": "made_up"}, 1, "failed"),
    ],
)
def test_the_exit_status_says_whose_fault_it_is(
    assay: Command, command: str, result: dict[str, Any], exit_status: int, status: str
) -> None:
    assay.behave(commands={command: [[{"result": result}]]})
    document = assay.document("f.md")
    assert (document["exit"], document["flows"][0]["status"]) == (exit_status, status)
    assert document["flows"][0]["code"] == result["code"]


def test_fail_fast_stops_at_the_first_failure_and_cleans_up(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"result": {"status": "failed", "code": "timeout"}}]]})
    assay.run("f.md", "--fail-fast")
    assert assay.plugin.ran == ["api.connect", "api.tools", "api.disconnect"]


@pytest.mark.requirement("deadline.flow")
def test_a_budget_that_is_used_up_cancels_what_runs_and_cleans_up(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("providers:", "budgets:\n  minutes: 0.005\nproviders:"))
    assay.behave(commands={"tools": [[{"wait_for_cancel": None}]]})
    document = assay.document("f.md")
    assert statuses(document) == dict(
        zip(STEPS, ["succeeded", "failed", "skipped", "skipped", "succeeded"], strict=True)
    )
    assert (document["exit"], document["flows"][0]["code"]) == (1, "timeout")
    assert "0.005 minutes" in document["flows"][0]["message"]
    assert "0.005 minutes" in document["flows"][0]["steps"][2]["message"]


def test_a_budget_that_is_used_up_in_a_mutation_leaves_its_outcome_unknown(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("providers:", "budgets:\n  minutes: 0.005\nproviders:"))
    assay.behave(commands={"call": [[{"wait_for_cancel": None}]]})
    assert assay.document("f.md")["exit"] == 3


def test_a_number_that_is_none_fails_its_step_before_anything_is_sent(assay: Command) -> None:
    assay.write("f.md", FLOW.replace('"${id}"', '"${id:number}"'))
    assay.behave(commands={"call_value": [[{"result": {"capture": "no number"}}]]})
    document = assay.document("f.md")
    assert (document["flows"][0]["steps"][3]["code"], document["exit"]) == ("expectation_failed", 1)
    assert assay.plugin.ran == ["api.connect", "api.tools", "api.call_value", "api.disconnect"]


def test_a_plugin_that_captures_nothing_where_it_should_has_failed(assay: Command) -> None:
    assay.behave(commands={"call_value": [[{"result": {"capture": None}}]]})
    document = assay.document("f.md")
    assert (document["flows"][0]["steps"][2]["code"], document["exit"]) == ("plugin_died", 4)


def test_evidence_that_is_too_large_is_not_kept(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"result": {"state": {"text": "x" * 7_400_000}}}]]})
    document = assay.document("f.md")
    step = document["flows"][0]["steps"][1]
    assert (step["status"], step["code"], step["state"]) == ("failed", "evidence_too_large", None)
    assert max(path.stat().st_size for path in assay.runs[0].rglob("*.json")) < 100_000


# Refused before contact


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("api.tools", "api.tolls", "f.md:11:5: error: MCP has no command `tolls`."),
        ("name: A flow", "nam: A flow", "f.md:2:1: error:"),
        ('tool="get"', 'tol="get"', "f.md:18:10: error:"),
    ],
)
def test_a_malformed_flow_is_refused_with_its_place_and_no_plugin_runs(
    assay: Command, old: str, new: str, told: str
) -> None:
    assay.write("f.md", FLOW.replace(old, new))
    done = assay.run("f.md", "--json", "out.json")
    assert done.exit == 2
    assert told in done.err
    assert "^" in done.err
    assert (assay.plugin.log, assay.runs) == ([], [])
    (flow,) = json.loads((assay.folder / "out.json").read_text())["flows"]
    assert (flow["status"], flow["run"], flow["steps"]) == ("refused", None, [])
    assert set(flow["problems"][0]) == {"line", "column", "message", "help"}


def test_what_the_plugin_refuses_is_shown_at_the_argument_that_it_names(assay: Command) -> None:
    refusal = {
        "code": -32000,
        "message": "`arguments` is not usable.",
        "data": {"code": "invalid_arguments", "where": "arguments.id"},
    }
    assay.behave(check={"call": refusal, "disconnect": {**refusal, "data": {"code": "invalid_binding"}}})
    done = assay.run("f.md")
    assert done.exit == 2
    assert "f.md:18:21: error: `arguments` is not usable." in done.err
    assert "f.md:24:1: error:" in done.err
    assert (assay.plugin.ran, assay.runs) == ([], [])


def test_one_refused_flow_refuses_all(assay: Command) -> None:
    assay.write("g.md", FLOW.replace("api.tools", "api.tolls"))
    done = assay.run("f.md", "g.md", "--json", "out.json")
    assert done.exit == 2
    rows = done.err.splitlines()
    assert rows.index("  1 problem; nothing was contacted.") < rows.index("  Not run: another flow was refused.")
    flows = json.loads((assay.folder / "out.json").read_text())["flows"]
    assert {flow["file"]: flow["status"] for flow in flows} == {"f.md": "refused", "g.md": "refused"}
    assert (assay.plugin.log, assay.runs) == ([], [])


def test_one_flow_that_the_plugin_refuses_refuses_all(assay: Command) -> None:
    assay.write("g.md", FLOW.replace('tool="get"', 'tool="bad"'))
    refusal = {"code": -32000, "message": "No.", "data": {"code": "invalid_arguments"}}
    assay.behave(check={"connect": refusal})
    assert assay.run("f.md", "g.md").exit == 2
    assert (assay.plugin.ran, assay.runs) == ([], [])


def test_every_flow_of_a_folder_runs_and_other_files_are_left_alone(assay: Command) -> None:
    for name in ("flows/b.md", "flows/a.md", "flows/deep/c.md"):
        assay.write(name, FLOW)
    assay.write("flows/README.md", "# No flow\n")
    assay.write("flows/.hidden/d.md", FLOW)
    document = assay.document("flows")
    assert [flow["file"] for flow in document["flows"]] == ["flows/a.md", "flows/b.md", "flows/deep/c.md"]
    assert len(assay.runs) == 3
    started = [entry for entry in assay.plugin.log if "pid" in entry]
    assert len(started) == 4  # one that checks all of them, and one for each


def test_a_flow_that_is_named_twice_runs_once(assay: Command) -> None:
    assert len(assay.document("f.md", "./f.md", ".")["flows"]) == 1


@pytest.mark.parametrize(("named", "told"), [("none.md", "cannot be read"), ("empty", "holds no flow")])
def test_a_flow_that_is_not_there_is_refused(assay: Command, named: str, told: str) -> None:
    (assay.folder / "empty").mkdir()
    done = assay.run(named)
    assert done.exit == 2
    assert told in done.err


def test_inputs_are_given_by_name(assay: Command) -> None:
    assay.write(
        "f.md",
        FLOW.replace("providers:", "inputs:\n  what:\n    default: old\nproviders:").replace('"get"', '"${what}"'),
    )
    assay.run("f.md", "--input", "what=new=er")
    assert assay.plugin.sent("run")[3]["arguments"]["tool"] == "new=er"
    assert assay.kept()["run.json"]["inputs"] == {"what": "new=er"}
    done = assay.run("f.md", "--input", "wat=x")
    assert done.exit == 2
    assert "Did you mean `what`?" in done.err


def test_a_private_value_in_the_flow_refuses_it_and_is_not_shown(assay: Command) -> None:
    bind(assay, {"bearerToken": SECRET})
    assay.write("f.md", FLOW.replace('tool="get"', f'tool="{SECRET}"'))
    done = assay.run("f.md", "--json", "out.json")
    assert done.exit == 2
    assert "f.md:18:1: error:" in done.err
    assert SECRET not in done.out + done.err + (assay.folder / "out.json").read_text()
    assert (assay.plugin.log, assay.runs) == ([], [])


def test_a_flow_whose_name_is_private_is_refused_without_its_name(assay: Command) -> None:
    bind(assay, {"bearerToken": SECRET})
    assay.write(f"{SECRET}.md", FLOW.replace("name: ", f"name: {SECRET} "))
    done = assay.run(f"{SECRET}.md", "--json", "out.json")
    assert done.exit == 2
    assert "[redacted].md:" in done.err
    assert SECRET not in done.out + done.err + (assay.folder / "out.json").read_text()


def test_a_private_value_of_an_alias_that_the_flow_does_not_use_refuses_it_as_well(assay: Command) -> None:
    bind(assay, {"bearerToken": SECRET}, alias="other")
    assay.write("f.md", FLOW.replace('tool="get"', f'tool="{SECRET}"'))
    done = assay.run("f.md")
    assert (done.exit, assay.plugin.log, assay.runs) == (2, [], [])
    assert SECRET not in done.out + done.err


def test_bindings_go_to_the_plugin_and_their_variables_to_no_child(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    monkeypatch.setenv("OTHER_TOKEN", "not-for-children")
    monkeypatch.setenv("HARMLESS", "1")
    assay.write(
        "bindings.json",
        json.dumps(
            {
                "api": {"provider": "MCP", "configuration": {"bearerToken": {"env": "DESK_TOKEN"}}},
                "unused": {"provider": "MCP", "configuration": {"bearerToken": {"env": "OTHER_TOKEN"}}},
            }
        ),
    )
    assert assay.run("f.md").exit == 0
    assert assay.plugin.sent("initialize")[0]["bindings"] == {"api": {"bearerToken": SECRET, "endpoint": TARGET}}
    environment = assay.plugin.log[0]["environment"]
    assert "HARMLESS" in environment
    assert not {"DESK_TOKEN", "OTHER_TOKEN"} & set(environment)
    kept = b"".join(path.read_bytes() for path in (assay.folder / ".assay").rglob("*") if path.is_file())
    assert SECRET.encode() not in kept
    assert b"bindings.json" not in kept


def test_bindings_that_others_may_read_are_refused_without_their_path(assay: Command) -> None:
    bind(assay, {"bearerToken": SECRET}, mode=0o644)
    done = assay.run("f.md")
    assert done.exit == 2
    assert "0600" in done.err
    assert str(assay.folder) not in done.err
    assert assay.plugin.log == []


def test_how_an_alias_signs_in_is_not_guessed_at_where_its_bindings_are_refused(assay: Command) -> None:
    assay.write("f.md", text(("Sign in", "api.oauth_begin\napi.oauth_finish"), ("Look", "api.tools")))
    bind(assay, {"oauth": {"issuer": "https://auth.example.com", "clientSecret": SECRET}}, mode=0o644)
    done = assay.run("f.md")
    assert (done.exit, done.out) == (2, "")
    assert done.err.splitlines()[0] == "refused: A flow"
    assert "chmod 600" in done.err
    assert "sign in" not in done.err
    assert "Browser" not in done.err


def test_bindings_that_the_plugin_refuses_refuse_the_flow(assay: Command) -> None:
    refusal = {"code": -32000, "message": "`timeoutMs` is wrong.", "data": {"code": "invalid_binding"}}
    assay.behave(initialize=[{"error": refusal}])
    done = assay.run("f.md", "--json", "out.json")
    assert done.exit == 2
    assert "`timeoutMs` is wrong. [invalid_binding]" in done.err
    assert json.loads((assay.folder / "out.json").read_text())["flows"][0]["code"] == "invalid_binding"
    assert assay.runs == []


def test_without_a_target_the_flow_is_refused_with_what_to_do(assay: Command) -> None:
    done = assay("run", "f.md", "--plugin", str(assay.plugin.path))
    assert done.exit == 2
    assert "--target URL" in done.err


def test_a_provider_without_an_executable_could_not_be_carried_out(assay: Command) -> None:
    assay.write("f.md", FLOW)
    done = assay("run", "f.md", "--target", TARGET, "--plugin", "no-such-plugin", "--json", "out.json")
    assert done.exit == 4
    assert "[provider_missing]" in done.err
    assert json.loads((assay.folder / "out.json").read_text())["flows"][0]["status"] == "error"


def test_a_provider_that_nobody_knows_is_a_problem_of_the_flow(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("api: MCP", "api: Mcp"))
    done = assay.run("f.md")
    assert done.exit == 2
    assert "Did you mean `MCP`?" in done.err
    assert "--plugin" not in done.err


def test_a_plugin_for_another_provider_is_refused(assay: Command) -> None:
    assay.behave(provider="LocalBash")
    done = assay.run("f.md")
    assert done.exit == 4
    assert "is for the provider `LocalBash`" in done.err


@pytest.mark.parametrize("words", [("--fail-on", "worst"), ("--fail-on", "none,risk"), ("--fail-on", ""), ("--nope",)])
def test_a_wrong_option_is_refused_by_name(assay: Command, words: tuple[str, ...]) -> None:
    done = assay.run("f.md", *words)
    assert done.exit == 2
    assert words[0] in done.err
    assert "Traceback" not in done.err


def test_apply_is_run(assay: Command) -> None:
    assert assay("apply", "f.md", "--target", TARGET, "--plugin", str(assay.plugin.path)).exit == 0


def test_a_warning_is_told_and_refuses_nothing(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("api: MCP", "api: MCP\n  unused: MCP"))
    done = assay.run("f.md")
    assert done.exit == 0
    assert "f.md:5:3: warning: The alias `unused` is not used." in done.err


def test_nothing_that_comes_back_acts_on_the_terminal(assay: Command) -> None:
    hostile = "\x1b]0;owned\x07\u202e\u200b\r\nok      forged/step"
    assay.behave(
        commands={
            "tools": [[{"result": {"status": "failed", "code": "tool_error", "message": hostile}}]],
            "call_value": [[{"result": {"capture": hostile}}]],
        }
    )
    done = assay.run("f.md")
    assert not [line for line in (done.out + done.err).splitlines() if not line.isprintable()]
    # terminal controls are taken out like private values, and what only hides or breaks the line is spelled out
    assert "]0;owned\\u202e\\u200b\\r\\nok      forged/step" in done.out


# Leaks


LEAKED = "learnt-session-id-42"


@pytest.mark.parametrize(
    "result",
    [
        {"message": f"see {LEAKED}"},
        {"state": {LEAKED: 1}},
        {"facts": {"connection": "open", "x": [LEAKED]}},
        {"capture": LEAKED},
        {"artifacts": [{"name": "catalog.json", "json": {"x": LEAKED}}]},
    ],
)
def test_a_leak_of_a_learnt_value_leaves_a_tombstone_and_stops_the_flow(assay: Command, result: dict[str, Any]) -> None:
    assay.behave(commands={"call_value": [[{"learn": [LEAKED]}, {"result": {"capture": "7", **result}}]]})
    done = assay.run("f.md", "--json", "out.json")
    document = json.loads((assay.folder / "out.json").read_text())
    (flow,) = document["flows"]
    assert (document["exit"], flow["status"], flow["code"]) == (5, "error", "evidence_leak")
    assert flow["steps"][2]["code"] == "evidence_leak"
    assert flow["steps"][2]["capture"] is None
    assert statuses(document)["use/get"] == "skipped"
    assert assay.plugin.ran[-1] == "api.disconnect"
    seen = [path.read_bytes() for path in (assay.folder / ".assay").rglob("*") if path.is_file()]
    seen += [done.out.encode(), done.err.encode(), json.dumps(document).encode()]
    assert not [content for content in seen if LEAKED.encode() in content]
    tombstones = [name for name, content in assay.kept().items() if content.get("format") == "assay-tombstone/1"]
    assert len(tombstones) >= 1
    assert assay.kept()["run.json"]["withheld"] == tombstones
    assert assay.kept()["run.json"]["code"] == "evidence_leak"


def test_a_value_that_is_learnt_after_it_was_kept_is_found_by_the_last_scan(assay: Command) -> None:
    assay.behave(
        commands={
            "tools": [[{"result": {"message": f"early {LEAKED}"}}]],
            "call": [[{"learn": [LEAKED]}, {"result": {}}]],
            "call_value": [[{"result": {"capture": "7"}}]],
        }
    )
    document = json.loads((assay.run("f.md", "--json", "out.json"), (assay.folder / "out.json").read_text())[1])
    assert (document["exit"], document["flows"][0]["steps"][1]["code"]) == (5, "evidence_leak")
    kept = b"".join(path.read_bytes() for path in (assay.folder / ".assay").rglob("*") if path.is_file())
    assert LEAKED.encode() not in kept
    assert assay.kept()["steps/02-api.tools/observation.json"]["format"] == "assay-tombstone/1"
    assert assay.kept()["run.json"]["steps"][1]["status"] == "failed"


def test_an_unknown_step_that_leaks_stays_unknown(assay: Command) -> None:
    lost = {"status": "unknown", "code": "reply_lost", "message": LEAKED}
    assay.behave(commands={"call": [[{"learn": [LEAKED]}, {"result": lost}]]})
    document = assay.document("f.md")
    assert (document["flows"][0]["steps"][3]["status"], document["exit"]) == ("unknown", 5)


def test_a_bound_value_that_the_plugin_lets_through_is_a_leak(assay: Command) -> None:
    bind(assay, {"bearerToken": SECRET})
    assay.behave(commands={"tools": [[{"result": {"state": {"seen": SECRET}}}]]})
    assert assay.document("f.md")["exit"] == 5


def test_a_value_of_an_identity_that_the_flow_does_not_use_is_taken_out_and_never_kept(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, shell = "token-of-another", "/a/folder/of/another/provider"
    monkeypatch.delenv("UNSET_TOKEN", raising=False)
    entries = {
        "other": ("MCP", {"bearerToken": other, "timeoutMs": 15000}),
        "unset": ("MCP", {"bearerToken": {"env": "UNSET_TOKEN"}}),
        "shell": ("LocalBash", {"cwd": shell, "mode": "delete"}),
    }
    bindings = {alias: {"provider": name, "configuration": fields} for alias, (name, fields) in entries.items()}
    assay.write("bindings.json", json.dumps(bindings)).chmod(0o600)
    seen = f"{other} {shell} delete 15000"
    assay.behave(commands={"tools": [[{"result": {"message": seen, "state": {"seen": seen}}}]]})
    document = assay.document("f.md")
    assert document["exit"] == 0
    kept = b"".join(path.read_bytes() for path in (assay.folder / ".assay").rglob("*") if path.is_file())
    assert b"[redacted] [redacted] delete 15000" in kept
    assert other.encode() not in kept


def test_a_value_that_only_the_record_holds_leaves_a_tombstone_in_its_place(assay: Command) -> None:
    # a server that names its session like a format of ours gains nothing but this
    assay.behave(commands={"disconnect": [[{"learn": ["assay-evidence/1"]}, {"result": {}}]]})
    document = assay.document("f.md")
    assert (document["exit"], document["flows"][0]["code"]) == (5, "evidence_leak")
    assert {step["code"] for step in document["flows"][0]["steps"]} == {"evidence_leak"}
    assert assay.kept()["run.json"]["format"] == "assay-tombstone/1"
    assert assay("diff", "latest", "latest").exit == 2


# A plugin's own codes

_OWN = {"code": -32000, "message": "Not today.", "data": {"code": "closed_today"}}


@pytest.mark.parametrize(("status", "exit_status"), [(1, 1), (3, 3), (4, 4)])
def test_a_step_refused_with_a_code_of_the_plugins_own_has_its_exit_status(
    assay: Command, status: int, exit_status: int
) -> None:
    codes = [{"code": "closed_today", "meaning": "It is closed.", "remedy": "Wait.", "exit": status}]
    assay.behave(commands={"tools": [[{"error": _OWN}]]}, describe={"codes": codes})
    document = assay.document("f.md")
    assert (document["exit"], document["flows"][0]["code"]) == (exit_status, "closed_today")
    assert document["flows"][0]["steps"][1]["code"] == "closed_today"


@pytest.mark.parametrize(("status", "exit_status"), [(1, 2), (4, 4)])
def test_a_check_refused_with_a_code_of_the_plugins_own_has_its_exit_status(
    assay: Command, status: int, exit_status: int
) -> None:
    codes = [{"code": "closed_today", "meaning": "It is closed.", "remedy": "Wait.", "exit": status}]
    assay.behave(check={"tools": _OWN}, describe={"codes": codes})
    document = assay.document("f.md")
    assert (document["exit"], document["flows"][0]["code"]) == (exit_status, "closed_today")


def test_a_code_that_nobody_describes_is_a_defect(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"error": _OWN}]]})
    document = assay.document("f.md")
    assert (document["exit"], document["flows"][0]["code"]) == (4, "internal")


# The plugin's death


def test_a_plugin_that_dies_in_an_observation_fails_it_and_ends_its_aliases(assay: Command) -> None:
    assay.behave(commands={"tools": [[{"stderr": "went wrong"}, {"exit": 9}]]})
    done = assay.run("f.md", "--json", "out.json")
    document = json.loads((assay.folder / "out.json").read_text())
    assert (document["exit"], document["flows"][0]["code"]) == (4, "plugin_died")
    assert list(statuses(document).values()) == ["succeeded", "failed", "skipped", "skipped", "skipped"]
    assert document["flows"][0]["steps"][1]["facts"] == {"plugin": {"exit": 9, "diagnostics": "went wrong"}}
    assert "| went wrong" in done.out
    assert assay.kept()["run.json"]["status"] == "error"


def test_a_plugin_that_dies_in_a_mutation_leaves_its_outcome_unknown(assay: Command) -> None:
    assay.behave(commands={"call": [[{"kill": True}]], "call_value": [[{"result": {"capture": "7"}}]]})
    document = assay.document("f.md")
    step = document["flows"][0]["steps"][3]
    assert (step["status"], step["code"], document["exit"]) == ("unknown", "plugin_died", 3)
    assert "SIGKILL" in step["message"]


def test_a_plugin_that_dies_while_it_checks_is_told_with_its_last_words(assay: Command) -> None:
    path = FakePlugin(assay.folder / "dying", check={}, initialize=[{"stderr": "no disk"}, {"exit": 2}]).path
    done = assay("run", "f.md", "--target", TARGET, "--plugin", str(path))
    assert done.exit == 4
    assert "ended with exit status 2" in done.err
    assert "no disk" in done.err


def test_an_evidence_folder_that_is_refused_refuses_the_flow_before_contact(assay: Command) -> None:
    (assay.folder / "elsewhere").mkdir()
    (assay.folder / ".assay").symlink_to(assay.folder / "elsewhere")
    done = assay.run("f.md")
    assert done.exit == 2
    assert "--evidence DIR" in done.err
    assert assay.plugin.ran == []
    assert assay.run("f.md", "--evidence", "own").exit == 0
    assert len(list((assay.folder / "own" / "runs").iterdir())) == 1


def test_evidence_that_can_no_longer_be_written_ends_the_flow_with_what_is_kept(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    rename, count = os.rename, iter(range(1000))

    def fill(*arguments: Any, **named: Any) -> None:
        if next(count) > 4:
            raise OSError(28, "No space left on device")
        rename(*arguments, **named)

    monkeypatch.setattr("os.rename", fill)
    done = assay.run("f.md")
    assert done.exit == 4
    assert "No space left on device" in done.out + done.err
    assert "steps/01-api.connect/observation.json" in assay.kept()


def test_the_reply_to_a_failed_step_is_shown_bounded_and_kept_nowhere(assay: Command) -> None:
    reply = {"result": {"rows": [{"row": f"seen-{number}"} for number in range(30)], "long": "x" * 500}}
    failed = {"status": "failed", "code": "expectation_failed", "message": "No.", "display": reply}
    assay.behave(commands={"tools": [[{"result": failed}]]})
    done = assay.run("f.md", "--json", "out.json")
    shown = [row.strip() for row in done.out.splitlines() if row.strip().startswith("|")]
    assert "its result:" in done.out
    assert (len(shown), shown[0], shown[-1]) == (21, "| {", "| …")
    assert '"row": "seen-0"' in done.out
    everything = b"".join(path.read_bytes() for path in assay.folder.rglob("*.json") if "plugins" not in path.parts)
    assert b"seen-0" not in everything


def test_the_summary_counts_what_did_not_succeed_and_names_the_first(assay: Command) -> None:
    failed = {"status": "failed", "code": "expectation_failed", "message": "No."}
    graver = {"status": "failed", "code": "unreachable", "message": "Down."}
    assay.behave(commands={"tools": [[{"result": failed}]], "call_value": [[{"result": graver}]]})
    done = assay.run("f.md")
    assert "  use/make: Down. [unreachable]" in done.out
    assert "  2 steps did not succeed; the first is look/list" in done.out


def test_a_bindings_file_that_is_not_there_is_named(assay: Command) -> None:
    done = assay.run("f.md", "--bindings", "none.json")
    assert done.exit == 2
    assert "none.json does not exist" in done.err


@pytest.mark.parametrize(("named", "warned"), [("apii", True), ("api", False)])
def test_an_alias_without_a_binding_beside_a_stranger_is_warned_of(assay: Command, named: str, warned: bool) -> None:
    bind(assay, {}, alias=named)
    done = assay.run("f.md")
    assert done.exit == 0
    told = f"The alias `api` has no binding and is anonymous; the bindings file names `{named}`, which no flow has."
    assert (told in done.out + done.err) is warned
