"""`assay inspect`, `assay call` and `assay init` with a fake plugin: what is asked, shown, written and returned."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.host_command import TARGET, Command, Done

SECRET = "environment-secret-9"
INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "serverInfo": {"name": "desk", "title": "The desk", "version": "1.2"},
    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
    "instructions": "Be kind.\n\x1b[31mAlways.",
}
READ = {
    "name": "read",
    "description": "Reads.\nWell.",
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "inputSchema": {"type": "object", "properties": {"id": {}, "more": {}}, "required": ["id"]},
}
WRITE = {"name": "write", "inputSchema": {"type": "object"}}


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    serve(command)
    return command


def serve(assay: Command, tools: list[Any] | None = None, **commands: Any) -> None:
    entries = [READ, WRITE] if tools is None else tools
    names = [entry["name"] for entry in entries]
    assay.behave(
        commands={
            "connect": [[{"result": {"display": {"result": INITIALIZED}}}]],
            "tools": [[{"result": {"tools": names, "display": {"entries": entries}}}]],
            **commands,
        }
    )


def ask(assay: Command, command: str, *words: str) -> Done:
    return assay(command, *words, "--plugin", str(assay.plugin.path))


def failed(code: str, message: str = "No.", **more: Any) -> list[Any]:
    return [[{"result": {"status": "failed", "code": code, "message": message, **more}}]]


def test_inspect_shows_the_server_and_its_tools(assay: Command) -> None:
    done = ask(assay, "inspect", TARGET)
    assert (done.exit, done.err) == (0, "")
    assert done.out.splitlines() == [
        "The desk 1.2  (protocol 2025-11-25)",
        "capabilities: tools (listChanged), logging",
        "instructions: Be kind.",
        "\\x1b[31mAlways.",
        "",
        "tools (2)",
        "NAME   HINTS                    ARGUMENTS (* REQUIRED)  DESCRIPTION",
        "read   read-only, closed world  id*, more               Reads.\\nWell.",
        "write",
    ]
    assert assay.plugin.ran == ["server.connect", "server.tools", "server.disconnect"]
    assert not (assay.folder / ".assay").exists()


def test_inspect_writes_the_entries_with_mcps_own_names(assay: Command) -> None:
    assert ask(assay, "inspect", TARGET, "--json").document == {
        "format": "assay-inspect/1",
        "protocol": "2025-11-25",
        "server": INITIALIZED["serverInfo"],
        "capabilities": INITIALIZED["capabilities"],
        "instructions": INITIALIZED["instructions"],
        "inventories": {"tools": {"declared": True, "complete": True, "code": None, "entries": [READ, WRITE]}},
    }


def test_an_incomplete_inventory_is_shown_as_far_as_it_goes_and_fails(assay: Command) -> None:
    state = {"inventory": "tools", "declared": True, "complete": False, "count": 1}
    tools = failed("inventory_incomplete", "A cursor repeats.", state=state, display={"entries": [READ]})
    serve(assay)
    assay.behave(commands={"connect": [[{"result": {"display": {"result": INITIALIZED}}}]], "tools": tools})
    done = ask(assay, "inspect", TARGET)
    assert done.exit == 1
    assert "read" in done.out
    assert "failed: A cursor repeats. [inventory_incomplete]" in done.err
    found = ask(assay, "inspect", TARGET, "--json").document["inventories"]["tools"]
    assert (found["complete"], found["code"], found["entries"]) == (False, "inventory_incomplete", [READ])


def test_a_server_that_cannot_be_reached_is_an_error_with_help(assay: Command) -> None:
    serve(assay, connect=failed("unreachable", "Connection refused.", facts={"connection": "refused"}))
    done = ask(assay, "inspect", TARGET)
    assert done.exit == 4
    assert done.err.startswith("failed: Connection refused. [unreachable]\nhelp: Check host and port")
    assert ask(assay, "inspect", TARGET, "--json").document == {
        "format": "assay-inspect/1",
        "protocol": None,
        "server": None,
        "capabilities": None,
        "inventories": {},
    }


def test_options_say_who_connects_and_secrets_come_from_the_environment(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    monkeypatch.setenv("DESK_KEY", "another-secret")
    words = ["--bearer-env", "DESK_TOKEN", "--header-env", "X-Key=DESK_KEY", "--header", "X-Region=eu=1"]
    words += ["--allow-origin", "https://auth.example.com", "--ca-file", "ca.pem", "--timeout", "75.5"]
    assert ask(assay, "inspect", TARGET, *words).exit == 0
    initialized = assay.plugin.sent("initialize")[0]
    assert initialized["origins"] == ["http://127.0.0.1:9", "https://auth.example.com:443"]
    assert initialized["bindings"]["server"] == {
        "endpoint": TARGET,
        "sessionCleanup": "server-managed",
        "bearerToken": SECRET,
        "headers": {"X-Key": "another-secret"},
        "caFile": str(assay.folder / "ca.pem"),
        "timeoutMs": 75500,
    }
    assert assay.plugin.sent("run")[0]["arguments"] == {"headers": '{"X-Region":"eu=1"}'}
    assert not {"DESK_TOKEN", "DESK_KEY"} & set(assay.plugin.log[0]["environment"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bearer-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE is not set"),
        (["--bearer-env", "a value"], "never the value itself"),
        (["--header-env", "X-Key"], "HEADER=NAME"),
        (["--header-env", "X-Key=a value"], "never the value itself"),
        (["--header", "no"], "KEY=VALUE"),
        (["--header", "A=1", "--header", "A=2"], "given twice"),
        (["--allow-origin", "auth.example.com"], "The allowed origin cannot be used"),
        (["--timeout", "0.05"], "0.1<=x<=600"),
        (["--timeout", "601"], "0.1<=x<=600"),
    ],
)
def test_wrong_options_are_refused_before_contact(assay: Command, words: list[str], told: str) -> None:
    done = ask(assay, "inspect", TARGET, *words)
    assert done.exit == 2
    assert told in done.err
    assert assay.plugin.log == []


def test_a_url_that_is_none_is_refused(assay: Command) -> None:
    done = ask(assay, "inspect", "localhost:8000")
    assert done.exit == 2
    assert "The target cannot be used" in done.err


def test_a_private_value_that_came_back_is_not_shown(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    serve(assay, tools=[{"name": "leak", "description": SECRET}])
    for words in ([], ["--json"]):
        done = ask(assay, "inspect", TARGET, "--bearer-env", "DESK_TOKEN", *words)
        assert done.exit == 5
        assert "[evidence_leak]" in done.err
        assert SECRET not in done.out + done.err


def test_a_session_whose_end_is_not_confirmed_is_a_note(assay: Command) -> None:
    serve(assay, disconnect=failed("cleanup_unconfirmed", "DELETE was refused."))
    done = ask(assay, "inspect", TARGET)
    assert (done.exit, done.err) == (0, "note: DELETE was refused.\n")


# assay call


REPLY = '{"content":[{"type":"text","text":"n"}],"isError":false,"n":1}'


def replies(assay: Command, **result: Any) -> None:
    serve(assay, call=[[{"result": result}]])


def test_call_prints_the_exact_reply_and_calls_once(assay: Command) -> None:
    replies(assay, display={"result": json.loads(REPLY)}, state={"kind": "result"})
    done = ask(assay, "call", TARGET, "read", '{"id": 1.10}')
    assert (done.exit, json.loads(done.out), done.err) == (0, json.loads(REPLY), "")
    assert assay.plugin.sent("run")[1] == {
        "alias": "server",
        "command": "call",
        "arguments": {"tool": "read", "arguments": '{"id": 1.10}'},
    }
    assert assay.plugin.ran == ["server.connect", "server.call", "server.disconnect"]


def test_arguments_come_from_a_file_too(assay: Command) -> None:
    assay.write("arguments.json", '{"id":2}')
    ask(assay, "call", TARGET, "read", "@arguments.json")
    assert assay.plugin.sent("run")[1]["arguments"]["arguments"] == '{"id":2}'
    done = ask(assay, "call", TARGET, "read", "@none.json")
    assert done.exit == 2
    assert "none.json cannot be read" in done.err


def test_arguments_without_an_end_are_refused_and_not_read_to_it(
    assay: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("host.commands.call.standard_input", lambda limit: b" " * (limit + 1))
    for argument in ("@/dev/zero", "-"):
        done = ask(assay, "call", TARGET, "read", argument)
        assert (done.exit, assay.plugin.log) == (2, [])
        assert "The arguments have more than 8388608 bytes." in done.err


def test_arguments_come_from_standard_input_too(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.commands.call.standard_input", lambda _limit: b'{"id":3}')
    ask(assay, "call", TARGET, "read", "-")
    assert assay.plugin.sent("run")[1]["arguments"]["arguments"] == '{"id":3}'


@pytest.mark.parametrize(
    ("result", "exit_status", "kind", "told"),
    [
        ({"state": {"kind": "result"}, "display": {"result": {"isError": False}}}, 0, "result", ""),
        (
            {
                "status": "failed",
                "code": "tool_error",
                "message": "Busy.",
                "state": {"kind": "result"},
                "display": {"result": {"isError": True}},
            },
            1,
            "result",
            "failed: Busy. [tool_error]",
        ),
        (
            {
                "status": "failed",
                "code": "unexpected_refusal",
                "message": "No.",
                "state": {"kind": "rpc-error"},
                "display": {"error": {"code": -32602, "message": "No."}},
            },
            1,
            "rpc-error",
            "failed: No. [unexpected_refusal]",
        ),
        (
            {"status": "unknown", "code": "reply_lost", "message": "Cut.", "state": {"kind": "unknown"}},
            3,
            "unknown",
            "unknown: Cut. [reply_lost]",
        ),
        ({"status": "failed", "code": "unreachable", "message": "Down."}, 4, None, "failed: Down. [unreachable]"),
    ],
)
def test_a_call_says_how_it_came_out(
    assay: Command, result: dict[str, Any], exit_status: int, kind: str | None, told: str
) -> None:
    replies(assay, **result)
    done = ask(assay, "call", TARGET, "read", "--json")
    reply = result.get("display", {})
    assert (done.exit, done.err.partition("\n")[0]) == (exit_status, told)
    assert done.document == {
        "format": "assay-call/1",
        "kind": kind,
        "code": result.get("code"),
        **reply,
        "facts": {"connection": "open"},
    }
    plain = ask(assay, "call", TARGET, "read")
    assert plain.exit == exit_status
    assert (json.loads(plain.out) if plain.out else None) == next(iter(reply.values()), None)


def test_a_connection_that_is_refused_calls_nothing(assay: Command) -> None:
    serve(assay, connect=failed("http_status", "HTTP 401.", facts={"connection": "refused", "http": {"status": 401}}))
    done = ask(assay, "call", TARGET, "read", "--json")
    assert (done.exit, done.document["code"], done.document["kind"]) == (1, "http_status", None)
    assert assay.plugin.ran == ["server.connect"]


@pytest.mark.parametrize(
    ("dying", "rows"),
    [
        ([{"exit": 3}], []),
        ([{"stderr": "It was\ntoo much."}, {"exit": 3}], ["its last words:", "| It was", "| too much."]),
    ],
)
def test_a_call_over_which_the_plugin_dies_is_unknown(assay: Command, dying: list[Any], rows: list[str]) -> None:
    serve(assay, call=[dying])
    done = ask(assay, "call", TARGET, "write", "--json")
    assert (done.exit, done.document["code"]) == (3, "plugin_died")
    told, *others = done.err.splitlines()
    assert told.startswith("unknown: The MCP plugin ")  # how it ended is known a moment later only
    assert told.endswith(". [plugin_died]")
    assert others == [*rows, "help: Its last words stand beside the message, if it left any; report it."]


def test_a_plugin_that_dies_over_a_look_is_an_error(assay: Command) -> None:
    serve(assay, connect=[[{"exit": 3}]])
    done = ask(assay, "call", TARGET, "write")
    assert (done.exit, "[plugin_died]" in done.err) == (4, True)


def test_arguments_that_the_plugin_refuses_are_refused_before_the_call(assay: Command) -> None:
    refusal = {"code": -32000, "message": "`arguments` must be a JSON object.", "data": {"code": "invalid_arguments"}}
    assay.behave(check={"call": refusal})
    done = ask(assay, "call", TARGET, "read", "[]")
    assert done.exit == 2
    assert "must be a JSON object" in done.err
    assert "server.call" not in assay.plugin.ran


# assay init


def test_init_writes_four_files_and_the_next_command(assay: Command) -> None:
    done = ask(assay, "init", TARGET)
    assert (done.exit, done.err) == (0, "")
    assert done.out.splitlines() == [
        "wrote  assay.toml",
        "wrote  flows/example.md",
        "wrote  bindings.json",
        "wrote  .gitignore",
        "next   assay run flows",
    ]
    assert stat.S_IMODE((assay.folder / "bindings.json").stat().st_mode) == 0o600
    assert f'target = "{TARGET}"' in (assay.folder / "assay.toml").read_text()
    assert ".assay/" in (assay.folder / ".gitignore").read_text().splitlines()


def test_the_first_flow_reads_only_and_runs(assay: Command) -> None:
    ask(assay, "init", TARGET)
    assert assay.plugin.ran == ["server.connect", "server.tools", "server.disconnect"]
    flow = (assay.folder / "flows" / "example.md").read_text()
    assert 'api.tools expect={"present":["read","write"]} # inventory' in flow
    assert 'api.call tool="read" arguments={"id":"…"} expect={"isError":false}' in flow
    assert 'tool="write"' not in flow
    done = ask(assay, "run", "flows")
    assert done.exit == 0, done.err
    assert "A call is written" in flow
    assert "A call is written" not in done.out
    assert "How a tool is called" not in done.out
    assert assay.plugin.ran[3:] == ["api.connect", "api.tools", "api.disconnect"]


def test_init_without_a_server_writes_an_example_that_plans(assay: Command) -> None:
    done = ask(assay, "init")
    assert "put your server's URL into assay.toml" in done.out
    assert assay.plugin.log == []
    assert ask(assay, "plan", "flows").exit == 0


def test_init_never_overwrites(assay: Command) -> None:
    assay.write("assay.toml", "# mine\n")
    (assay.folder / ".gitignore").symlink_to(assay.folder / "elsewhere")
    done = ask(assay, "init")
    assert "kept   assay.toml (it was there)" in done.out
    assert "kept   .gitignore (it was there)" in done.out
    assert (assay.folder / "assay.toml").read_text() == "# mine\n"
    assert not (assay.folder / "elsewhere").exists()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            'target = "http://localhost:1/mcp"\n',
            "`assay run` goes to another server: the target of ASSAY_TARGET or assay.toml is not this URL.",
        ),
        ("# mine\n", "`assay run` has no server: the assay.toml that was kept has no `target`."),
    ],
)
def test_init_says_that_settings_which_were_kept_lead_elsewhere(assay: Command, settings: str, told: str) -> None:
    assay.write("assay.toml", settings)
    done = ask(assay, "init", TARGET)
    assert done.exit == 0
    assert done.out.splitlines()[-2:] == [
        f"note   {told} Change it, or give `--target`.",
        f"next   assay run flows --target {TARGET}",
    ]


@pytest.mark.parametrize("settings", [f'target = "{TARGET}"\n', "target = 5\n"])
def test_init_has_no_note_where_settings_lead_to_the_server_or_cannot_be_read(assay: Command, settings: str) -> None:
    assay.write("assay.toml", settings)
    assert ask(assay, "init", TARGET).out.splitlines()[-2:] == [
        "wrote  .gitignore",
        "next   assay run flows",
    ]


def test_init_says_what_files_that_were_kept_need_for_a_private_url(assay: Command) -> None:
    assay.write("assay.toml", "# mine\n")
    assay.write("bindings.json", "{}")
    done = ask(assay, "init", f"{TARGET}?key=c0ffee-secret")
    assert done.out.splitlines()[-3:] == [
        f"note   assay.toml was kept: add {TARGET.removesuffix('/mcp')} to its `allow_origins`",
        "note   bindings.json was kept: write the URL as `endpoint` of the alias `api` into it",
        "next   do so, then: assay run flows",
    ]
    assert "c0ffee" not in done.out + done.err


def test_init_writes_nothing_for_a_server_that_does_not_answer(assay: Command) -> None:
    serve(assay, connect=failed("unreachable", "Connection refused."))
    done = ask(assay, "init", TARGET)
    assert done.exit == 4
    assert "Connection refused. [unreachable]" in done.err
    assert sorted(path.name for path in assay.folder.iterdir()) == ["plugins"]


def test_what_init_was_told_is_in_what_it_writes(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKEN", SECRET)
    assert ask(assay, "init", TARGET, "--bearer-env", "DESK_TOKEN", "--header", "X-Region=eu").exit == 0
    configuration = json.loads((assay.folder / "bindings.json").read_text())["api"]["configuration"]
    assert configuration == {"timeoutMs": 15000, "bearerToken": {"env": "DESK_TOKEN"}}
    assert 'api.connect headers={"X-Region":"eu"}' in (assay.folder / "flows" / "example.md").read_text()
    assert ask(assay, "run", "flows").exit == 0


@pytest.mark.parametrize(
    "name", ['"quoted"', "${reference}", "new\nline", "ünïcode 😀", "tab\tand\u2028", "\\", "x" * 300]
)
def test_hostile_names_of_tools_and_servers_make_a_flow_that_runs(
    assay: Command, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    hostile = {**INITIALIZED, "serverInfo": {"name": name, "version": "1"}}
    tool = {**READ, "name": name, "inputSchema": {"type": "object", "required": [name]}}
    serve(assay, tools=[tool], connect=[[{"result": {"display": {"result": hostile}}}]])
    assert ask(assay, "init", TARGET).exit == 0
    done = ask(assay, "run", "flows")
    assert done.exit == 0, done.err
    assert json.loads(assay.plugin.sent("run")[-2]["arguments"]["expect"]) == {"present": [name]}


@pytest.mark.parametrize("rest", ["?key=c0ffee-secret", "/a-capability-in-a-path"])
def test_init_keeps_a_private_url_out_of_the_settings(assay: Command, rest: str) -> None:
    url = TARGET + rest
    done = ask(assay, "init", url)
    assert done.exit == 0, done.err
    assert "note   the URL is private: its place is `endpoint` in bindings.json" in done.out
    written = {path.name: path.read_text() for path in assay.folder.rglob("*") if path.suffix in (".toml", ".md")}
    assert [name for name, text in written.items() if rest in text] == []
    path = assay.folder / "bindings.json"
    assert json.loads(path.read_text())["api"]["configuration"]["endpoint"] == url
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    done = ask(assay, "run", "flows")
    assert done.exit == 0, done.err
