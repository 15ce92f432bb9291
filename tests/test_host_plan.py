"""`assay plan` and `assay plugins`: what they show, and that they need no secret and contact nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from host.executable import PROVIDERS, Executable, describe
from tests.fakes.plugin_process import description
from tests.host_command import TARGET, Command, Done
from tests.host_flows import text

FLOW = text(
    ("Look", "api.connect\napi.tools # list"),
    ("Use", 'api.call_value tool="make" select="/id" -> id # make\napi.call tool="get" arguments={"id":"${id}"}'),
)


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    command.write("f.md", FLOW)
    return command


def plan(assay: Command, *words: str) -> Done:
    return assay("plan", *words, "--plugin", str(assay.plugin.path))


def bind(assay: Command, configuration: dict[str, Any], provider: str = "MCP") -> None:
    content = json.dumps({"api": {"provider": provider, "configuration": configuration}})
    assay.write("bindings.json", content).chmod(0o600)


def test_a_plan_lists_every_step_with_its_effect(assay: Command) -> None:
    done = plan(assay, "f.md")
    assert (done.exit, done.err) == (0, "")
    assert done.out.splitlines() == [
        "A flow  (f.md): 4 steps, 2 that may change something",
        "",
        "  Look",
        "    observe  look/1.api.connect  api.connect  line 10",
        "    observe  look/list           api.tools  line 11",
        "",
        "  Use",
        "    mutate   use/make        api.call_value  line 17  -> id",
        "    mutate   use/2.api.call  api.call  line 18",
        "",
    ]


def test_a_plan_checks_with_the_plugin_and_runs_nothing(assay: Command) -> None:
    plan(assay, "f.md")
    assert len(assay.plugin.sent("check")) == 4
    assert (assay.plugin.ran, assay.plugin.sent("initialize")[0]["origins"]) == ([], [])
    assert assay.runs == []


def test_a_plan_needs_no_target_no_secret_and_no_input(assay: Command) -> None:
    bind(assay, {"bearerToken": {"env": "NOT_SET_ANYWHERE"}})
    assay.write("f.md", FLOW.replace("providers:", "inputs:\n  what: {}\nproviders:").replace('"get"', '"${what}"'))
    done = plan(assay, "f.md")
    assert done.exit == 0
    assert "NOT_SET_ANYWHERE" in done.err
    assert assay.plugin.sent("initialize")[0]["bindings"] == {"api": {"endpoint": "https://target.invalid/mcp"}}
    assert assay.plugin.sent("check")[3]["open"] == ["tool", "arguments"]


def test_bindings_that_are_whole_are_looked_at(assay: Command) -> None:
    bind(assay, {"timeoutMs": 5})
    plan(assay, "f.md", "--target", TARGET)
    assert assay.plugin.sent("initialize")[0]["bindings"] == {"api": {"timeoutMs": 5, "endpoint": TARGET}}
    bind(assay, {}, provider="Browser")
    done = plan(assay, "f.md")
    assert done.exit == 2
    assert "is MCP in the flow and bound to `Browser`" in done.err


def test_a_plan_shows_problems_with_carets_and_exits_2(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("api.tools", "api.tolls").replace("select=", "selct="))
    done = plan(assay, "f.md")
    assert done.exit == 2
    assert "f.md:11:5: error: MCP has no command `tolls`." in done.err
    assert "f.md:17:28: error:" in done.err
    assert done.err.count("^") >= 5
    assert done.out == ""


def test_a_plan_shows_what_the_plugin_refuses(assay: Command) -> None:
    refusal = {"code": -32000, "message": "`expect` can never fail.", "data": {"code": "invalid_expectation"}}
    assay.behave(check={"tools": refusal})
    done = plan(assay, "f.md")
    assert done.exit == 2
    assert "f.md:11:1: error: `expect` can never fail." in done.err


def test_a_quiet_plan_says_nothing_when_all_is_well(assay: Command) -> None:
    assert plan(assay, "f.md", "-q") == (0, "", "")


def test_the_settings_of_the_project_are_used_and_their_problems_told(assay: Command) -> None:
    assay.write("assay.toml", f'target = "{TARGET}"\n')
    plan(assay, "f.md")
    assert assay.plugin.sent("initialize")[0]["origins"] == ["http://127.0.0.1:9"]
    assay.write("assay.toml", 'targets = "x"\n')
    done = plan(assay, "f.md")
    assert done.exit == 2
    assert "assay.toml:1:1: error:" in done.err


def test_plugins_shows_each_command_from_the_plugins_own_description(assay: Command) -> None:
    done = assay("plugins", "--plugin", str(assay.plugin.path))
    assert (done.exit, done.err) == (0, "")
    rows = done.out.splitlines()
    assert rows[0] == "MCP: fake 1"
    assert rows[1].split() == ["COMMAND", "EFFECT", "ARGUMENTS", "(*", "REQUIRED)", "EXPECT", "WHAT", "IT", "DOES"]
    assert "call_value -> capture" in rows[5]
    assert "tool*, arguments, select*, expect, path, tokenFile" in rows[5]
    assert assay.plugin.log == []


def test_plugins_gives_whole_descriptions_as_a_document_and_asks_each_plugin_once(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counted(executable: Executable, environment: Mapping[str, str]) -> bytes:
        asked.append(executable.provider)
        return describe(executable, environment)

    monkeypatch.setattr("host.preparation.describe", counted)
    document = assay("plugins", "--json", "--plugin", str(assay.plugin.path)).document
    assert asked == list(PROVIDERS)
    assert document["plugins"][0] == description("MCP")
    assert document["format"] == "assay-plugins/1"
    assert document["plugins"][0]["commands"][0]["arguments"]["type"] == "object"


def test_a_plugin_that_is_not_there_is_told(assay: Command) -> None:
    done = assay("plugins", "--plugin", "nowhere")
    assert done.exit == 4
    assert "there is no such file" in done.err
    assert "help: " in done.err


SIGNING_IN = """---
name: Sign in
providers:
  api: MCP
---

```rfl
api.oauth_begin
api.oauth_finish
api.tools
```
"""


def test_a_flow_that_signs_in_is_planned_by_what_is_known_of_its_binding(assay: Command) -> None:
    assay.write("f.md", SIGNING_IN)
    unknown = plan(assay, "f.md")
    assert (unknown.exit, "A sign-in needs exactly one Browser alias" in unknown.err) == (2, True)
    bind(assay, {"oauth": {"issuer": "endpoint", "grant": "client_credentials"}})
    assert plan(assay, "f.md").exit == 0
    bind(assay, {"oauth": {"env": "OAUTH_SETTINGS"}})
    assert plan(assay, "f.md").exit == 0
    bind(assay, {"timeoutMs": 1000})
    without = plan(assay, "f.md")
    assert (without.exit, "its binding has no `oauth`" in without.err) == (2, True)


def test_a_run_refuses_a_sign_in_without_oauth_before_contact(assay: Command) -> None:
    assay.write("f.md", SIGNING_IN)
    done = assay.run("f.md")
    assert (done.exit, "f.md:8:1: error: The alias `api` cannot sign in" in done.err) == (2, True)
    assert assay.plugin.ran == []
