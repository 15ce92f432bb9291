"""LocalBash on its wire with a real bash: outcomes, output, values as environment, and nothing left behind."""

import hashlib
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.providers.shell.binding import read_binding
from host.providers.shell.commands import COMMAND_LIMIT
from host.providers.shell.environment import command_environment
from host.providers.shell.execution import KEPT_LIMIT
from host.providers.shell.report import TEXT_LIMIT
from protocol.failures import Failed
from tests.fakes.plugin_driver import PluginDriver, step
from tests.fakes.processes import gone, until

MODULE = "host.providers.shell"
#: Found in a text, it would mean that a value was run as program text.
PWNED = "pwned"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("working")


@pytest.fixture(scope="module")
def shell(folder: Path) -> Iterator[PluginDriver]:
    environment = {"SHELL_TEST_INHERITED": "yes", "RFL_STRAY": "from outside", "OLDPWD": "/elsewhere"}
    with PluginDriver(module=MODULE, environment=environment) as plugin:
        bindings = {"shell": {"cwd": str(folder)}, "quick": {"cwd": str(folder), "timeoutMs": 300}}
        assert "result" in plugin.initialize([], **bindings)
        yield plugin
        assert bytes(plugin.diagnostics) == b""


def run(plugin: PluginDriver, command: str, alias: str = "shell", **values: str) -> dict[str, Any]:
    return plugin.run(alias, "bash", command=command, environment=values)


def pid(folder: Path, name: str) -> int:
    path = folder / name
    until(lambda: path.exists() and path.read_text().endswith("\n"))
    return int(path.read_text())


def assert_gone(*processes: int) -> None:
    """Hold that processes have ended: one that is killed closes its files a moment before it is gone."""
    until(lambda: all(map(gone, processes)))


# Outcomes


def test_exit_status_zero_succeeds_with_its_output(shell: PluginDriver) -> None:
    result = run(shell, "echo out; echo err >&2")
    record = {"truncated": False, "redacted": False}
    assert result == {
        "status": "succeeded",
        "code": None,
        "message": "The command exited with status 0.",
        "effect": "mutate",
        "state": {
            "kind": "exited",
            "exit": 0,
            "signal": None,
            "stdout": {"text": "out\n", **record, "sha256": hashlib.sha256(b"out\n").hexdigest()},
            "stderr": {"text": "err\n", **record, "sha256": hashlib.sha256(b"err\n").hexdigest()},
        },
        "facts": {"bytes": {"stdout": 4, "stderr": 4}},
        "capture": None,
        "artifacts": [],
        "display": None,
    }


@pytest.mark.parametrize(
    ("command", "message", "status", "signalled"),
    [
        ("exit 3", "The command exited with status 3.", 3, None),
        ("echo first >&2; echo ' the reason ' >&2; false", "The command exited with status 1: the reason", 1, None),
        ("if", "The command exited with status 2: bash: -c: line", 2, None),
        ("no-such-program-here", "The command exited with status 127: bash: line", 127, None),
        ("kill -KILL $$", "The command was ended by SIGKILL.", None, "SIGKILL"),
        ("kill -TERM $$", "The command was ended by SIGTERM.", None, "SIGTERM"),
    ],
)
def test_any_other_end_fails_with_the_last_line_of_stderr(
    shell: PluginDriver, command: str, message: str, status: int | None, signalled: str | None
) -> None:
    result = run(shell, command)
    assert (result["status"], result["code"]) == ("failed", "expectation_failed")
    assert result["message"].startswith(message)
    assert (result["state"]["exit"], result["state"]["signal"]) == (status, signalled)


def test_two_runs_of_a_command_have_equal_states(shell: PluginDriver) -> None:
    states = [run(shell, "pwd; echo $RFL_A; cat /etc/hostname", a="x")["state"] for _ in range(2)]
    assert states[0] == states[1]


def test_standard_input_is_empty(shell: PluginDriver) -> None:
    assert run(shell, "cat; read -r line || echo none")["state"]["stdout"]["text"] == "none\n"


# Output


def test_the_working_directory_is_redacted_by_either_of_its_names(tmp_path: Path) -> None:
    real = tmp_path / "real-folder"
    real.mkdir()
    link = tmp_path / "link-folder"
    link.symlink_to(real)
    with PluginDriver(module=MODULE) as plugin:
        plugin.initialize([], shell={"cwd": f"{link}/"})
        result = run(plugin, "pwd; pwd -P; cd /; echo oops-$OLDPWD >&2; exit 1")
        assert result["state"]["stdout"]["text"] == "[redacted]\n[redacted]\n"
        assert result["message"] == "The command exited with status 1: oops-[redacted]"
        assert plugin.notifications[0]["params"] == {"values": [str(real)]}
        assert str(link).encode() not in plugin.seen


def test_what_other_plugins_learnt_is_redacted_before_output_is_hashed_and_cut(shell: PluginDriver) -> None:
    shell.notify("secrets/learnt", {"values": ["minted-key-7f3a9cd"]})
    plain = run(shell, "echo key: $RFL_HALF-7f3a9cd, $(printf $RFL_HALF-7f3a9cd | base64)", half="minted-key")["state"]
    assert plain["stdout"]["redacted"] is True
    assert plain["stdout"]["text"] == "key: [redacted], [redacted]\n"
    assert plain["stdout"]["sha256"] == hashlib.sha256(plain["stdout"]["text"].encode()).hexdigest()


def test_terminal_controls_and_broken_text_are_kept_out(shell: PluginDriver) -> None:
    text = run(shell, r"printf 'a\033[31mb\377c\n'")["state"]["stdout"]
    assert (text["text"], text["redacted"]) == ("a[31mb\ufffdc\n", True)


@pytest.mark.parametrize(("length", "truncated"), [(TEXT_LIMIT, False), (TEXT_LIMIT + 1, True)])
def test_a_text_is_kept_up_to_its_limit_and_then_its_beginning_and_end(
    shell: PluginDriver, length: int, truncated: bool
) -> None:
    result = run(shell, f"printf a; head -c {length - 2} /dev/zero | tr '\\0' m; printf z")
    kept = result["state"]["stdout"]
    assert len(kept["text"]) <= TEXT_LIMIT
    assert (kept["text"][0], kept["text"][-1], kept["truncated"]) == ("a", "z", truncated)
    assert kept["sha256"] == hashlib.sha256(f"a{'m' * (length - 2)}z".encode()).hexdigest()
    assert result["facts"]["bytes"]["stdout"] == length


@pytest.mark.parametrize(("size", "hashed"), [(KEPT_LIMIT, True), (KEPT_LIMIT + 1, False)])
def test_output_past_what_is_held_is_counted_and_not_hashed(shell: PluginDriver, size: int, hashed: bool) -> None:
    result = run(shell, f"head -c {size} /dev/zero | tr '\\0' x")
    assert result["status"] == "succeeded"
    assert result["facts"]["bytes"]["stdout"] == size
    assert (result["state"]["stdout"]["sha256"] is not None) is hashed
    assert result["state"]["stdout"]["truncated"] is True


def test_a_private_value_that_the_limit_cuts_in_two_is_not_shown(shell: PluginDriver) -> None:
    shell.notify("secrets/learnt", {"values": ["cut-secret-7f3a9cd-0123456789"]})
    command = f"head -c {KEPT_LIMIT - 20} /dev/zero | tr '\\0' x; printf $RFL_HALF-0123456789; echo more"
    kept = run(shell, command, half="cut-secret-7f3a9cd")["state"]["stdout"]
    assert (kept["truncated"], kept["sha256"], "cut-sec" in kept["text"]) == (True, None, False)
    assert kept["text"].endswith("x")


# Values


HOSTILE = [
    f"$(touch {PWNED})",
    f"`touch {PWNED}`",
    f"'; touch {PWNED}; '",
    f'"; touch {PWNED}; "',
    f"line\ntouch {PWNED}\n",
    "${HOME} $HOME \\ * ? ~ !",
    "grüße\t漢字 \U0001f511",
    "",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_value_reaches_the_command_whole_and_is_never_run(shell: PluginDriver, folder: Path, value: str) -> None:
    result = run(shell, 'printf "%s" "$RFL_VALUE" > value; echo "$RFL_VALUE"', value=value)
    assert result["status"] == "succeeded"
    assert (folder / "value").read_text(encoding="utf-8") == value
    assert not (folder / PWNED).exists()


def test_a_reference_in_the_command_is_the_shells_own(shell: PluginDriver) -> None:
    assert run(shell, "x=1; echo ${x} ${name-unset} $${x}", name="value")["state"]["stdout"]["text"].startswith(
        "1 unset "
    )


def test_the_environment_is_the_users_and_the_values_and_nothing_of_the_plugin(shell: PluginDriver) -> None:
    text = run(shell, "env", id="42", long_name="n")["state"]["stdout"]["text"]
    seen = dict(line.partition("=")[::2] for line in text.splitlines())
    assert seen["SHELL_TEST_INHERITED"] == "yes"
    assert {name: value for name, value in seen.items() if name.startswith("RFL_")} == {
        "RFL_ID": "42",
        "RFL_LONG_NAME": "n",
    }
    assert seen["PWD"] == "[redacted]"
    assert "OLDPWD" not in seen


@pytest.mark.parametrize(
    ("inherited", "expected"),
    [("/ours", None), ("/ours:/theirs", "/theirs"), ("/theirs:/ours", "/theirs:/ours"), ("/theirs", "/theirs")],
)
def test_the_path_that_the_plugin_itself_was_found_by_is_not_handed_on(inherited: str, expected: str | None) -> None:
    made = command_environment({"PYTHONPATH": inherited}, {}, "/somewhere", "/ours")
    assert made.get("PYTHONPATH") == expected


@pytest.mark.linux
def test_a_command_has_no_descriptor_of_the_wire(shell: PluginDriver) -> None:
    text = run(shell, 'for fd in /proc/$$/fd/*; do readlink "$fd"; done; true')["state"]["stdout"]["text"]
    pipes = [line for line in text.splitlines() if line.startswith("pipe:")]
    # its two outputs, and the one that tells when nothing is left of it
    assert len(set(pipes)) == 3


# Deadline, cancel, and what is left


def test_a_deadline_ends_the_command_with_all_that_it_started(shell: PluginDriver, folder: Path) -> None:
    command = "echo begun; (trap '' TERM; echo $BASHPID > stubborn; sleep 60) & sleep 60 & echo $! > asleep; wait"
    result = run(shell, command, "quick")
    assert (result["status"], result["code"]) == ("unknown", "timeout")
    assert result["state"] == {"kind": "unknown", "code": "timeout"}
    assert result["facts"]["output"]["stdout"]["text"] == "begun\n"
    assert_gone(pid(folder, "stubborn"), pid(folder, "asleep"))


def test_a_command_may_clean_up_after_itself_when_its_time_is_over(shell: PluginDriver, folder: Path) -> None:
    result = run(shell, "trap 'echo tidy > tidied; exit 0' TERM; sleep 60 & wait", "quick")
    assert result["status"] == "unknown"
    assert (folder / "tidied").read_text() == "tidy\n"


def test_a_cancelled_command_is_unknown_and_nothing_of_it_is_left(shell: PluginDriver, folder: Path) -> None:
    arguments = {"command": "echo $$ > cancelled; sleep 60 & echo $! > sleeper; wait"}
    identity = shell.send("run", {"alias": "shell", "command": "bash", "arguments": arguments})
    running = [pid(folder, "cancelled"), pid(folder, "sleeper")]
    # While a command runs, what is asked meanwhile is answered.
    check = shell.send("check", step("shell", "bash", command="true"))
    assert shell.reply() == {"jsonrpc": "2.0", "id": check, "result": {"effect": "mutate"}}
    shell.notify("cancel", {"id": identity})
    result = shell.reply()["result"]
    assert (result["status"], result["code"], result["message"]) == (
        "unknown",
        "cancelled",
        "The command was cancelled; it was ended with all that it had started. What it did before is not known.",
    )
    assert_gone(*running)


def test_what_is_left_in_the_background_ends_with_its_step(shell: PluginDriver, folder: Path) -> None:
    result = run(shell, "sleep 60 >/dev/null 2>&1 & echo $! > background; echo done")
    assert (result["status"], result["state"]["stdout"]["text"]) == ("succeeded", "done\n")
    assert_gone(pid(folder, "background"))


def test_the_far_end_of_a_pipe_finishes_what_it_is_at(shell: PluginDriver, folder: Path) -> None:
    assert run(shell, "seq 20000 > >(sort -n | tail -1 > last)")["status"] == "succeeded"
    assert (folder / "last").read_text() == "20000\n"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None])
def test_no_command_outlives_the_plugin(tmp_path: Path, how: signal.Signals | None) -> None:
    with PluginDriver(module=MODULE) as plugin:
        plugin.initialize([], shell={"cwd": str(tmp_path)})
        command = "trap '' TERM HUP INT; echo $$ > leader; sleep 60 & echo $! > child; wait; sleep 60"
        plugin.send("run", step("shell", "bash", command=command))
        running = [pid(tmp_path, "leader"), pid(tmp_path, "child")]
        if how is None:
            assert plugin.end() == 0
        else:
            plugin.process.send_signal(how)
            assert plugin.process.wait(timeout=20) == (-how if how == signal.SIGKILL else 0)
        assert_gone(*running)


def test_a_command_that_ends_with_the_plugin_gets_its_reply(tmp_path: Path) -> None:
    with PluginDriver(module=MODULE) as plugin:
        plugin.initialize([], shell={"cwd": str(tmp_path)})
        first = plugin.send("run", step("shell", "bash", command="echo $$ > leader; sleep 60"))
        second = plugin.send("run", step("shell", "bash", command="true"))
        pid(tmp_path, "leader")
        third = plugin.send("shutdown")
        replies = {reply["id"]: reply for reply in (plugin.reply(), plugin.reply(), plugin.reply())}
        assert replies[third]["result"] == {}
        assert (replies[first]["result"]["status"], replies[first]["result"]["code"]) == ("unknown", "cancelled")
        assert (replies[second]["result"]["status"], replies[second]["result"]["code"]) == ("failed", "cancelled")
        assert plugin.end() == 0


# What is refused


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ({}, "invalid_arguments", "`command` is required"),
        ({"command": " \n"}, "invalid_arguments", f"1 to {COMMAND_LIMIT} bytes"),
        ({"command": "é" * (COMMAND_LIMIT // 2) + "x"}, "invalid_arguments", f"1 to {COMMAND_LIMIT} bytes"),
        ({"command": "a\0b"}, "invalid_arguments", "NUL"),
        ({"command": "true", "expect": "{}"}, "invalid_arguments", "takes no argument `expect`"),
        ({"command": "true", "environment": "no json"}, "invalid_arguments", "not strict JSON"),
        ({"command": "true", "environment": "[]"}, "invalid_arguments", "one JSON object"),
        ({"command": "true", "environment": '{"a":"1","a":"2"}'}, "invalid_arguments", "no member twice"),
        ({"command": "true", "environment": {"Path": "x"}}, "invalid_arguments", "no string"),
        ({"command": "true", "environment": {"a": 1}}, "invalid_arguments", "no string"),
        ({"command": "true", "environment": {"a": "b\0c"}}, "invalid_arguments", "NUL"),
    ],
)
def test_arguments_that_make_no_command_are_refused_by_check_and_by_run(
    shell: PluginDriver, arguments: dict[str, Any], code: str, words: str
) -> None:
    for method in ("check", "run"):
        refused = shell.refused(method, "shell", "bash", **arguments)
        assert (refused[0], words in refused[1]) == (code, True), refused


def test_a_command_that_holds_a_private_value_is_refused(shell: PluginDriver, folder: Path) -> None:
    code, message = shell.refused("check", "shell", "bash", command=f"ls {folder}/x")
    assert (code, str(folder) in message) == ("private_operand", False)
    assert shell.refused("check", "shell", "bash", command="ls", environment={"a": str(folder)})[0] == code


def test_of_what_still_holds_references_only_name_and_json_are_looked_at(shell: PluginDriver) -> None:
    params = step("shell", "bash", command=" ", environment={"a": 1})
    assert shell.ask("check", {**params, "open": ["command", "environment"]})["result"] == {"effect": "mutate"}


def test_a_command_of_the_limit_runs(shell: PluginDriver) -> None:
    assert run(shell, "true #" + "x" * (COMMAND_LIMIT - 6))["status"] == "succeeded"


def test_values_that_do_not_fit_an_environment_fail_before_anything_happens(shell: PluginDriver) -> None:
    result = run(shell, "true", value="x" * 3_000_000)
    assert (result["status"], result["code"]) == ("failed", "invalid_arguments")
    assert "could not be started" in result["message"]
    assert run(shell, "true")["status"] == "succeeded"


def test_a_directory_that_went_away_fails_before_anything_happens(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with PluginDriver(module=MODULE) as plugin:
        plugin.initialize([], shell={"cwd": str(tmp_path / "there")})
        (tmp_path / "there").rmdir()
        result = run(plugin, "true")
        assert (result["status"], result["code"]) == ("failed", "invalid_arguments")
        assert str(tmp_path) not in json.dumps(result)


def test_without_bash_on_path_a_step_says_so(tmp_path: Path) -> None:
    with PluginDriver(module=MODULE, environment={"PATH": str(tmp_path)}) as plugin:
        plugin.initialize([], shell={"cwd": str(tmp_path)})
        result = run(plugin, "true")
        assert (result["status"], result["code"]) == ("failed", "provider_missing")
        assert "Install bash" in result["message"]


def test_unknown_commands_aliases_and_methods_are_refused(shell: PluginDriver) -> None:
    assert "There is no command `sh`" in shell.refused("check", "shell", "sh")[1]
    assert "there are `quick`, `shell`" in shell.refused("check", "other", "bash", command="true")[1]
    compare = shell.ask("compare", {"inventory": "tools", "before": {}, "after": {}})
    assert compare["error"]["code"] == -32602
    show = shell.ask("consent/show", {"alias": "shell", "url": "http://127.0.0.1/"})
    assert show["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ([], "`b` is not an object"),
        ({}, "`cwd` of the binding `b` is required"),
        ({"cwd": 1}, "must be a path of 4 to 4096 characters"),
        ({"cwd": "/a"}, "must be a path of 4 to 4096 characters"),
        ({"cwd": "usr/bin"}, "must be an absolute path"),
        ({"cwd": "~/work"}, "must be an absolute path"),
        ({"cwd": "/usr/no-such-directory"}, "must name a directory that exists"),
        ({"cwd": "/etc/hostname"}, "must name a directory that exists"),
        ({"cwd": "/usr/bin", "shell": "sh"}, "holds an unknown field `shell`; there are cwd, timeoutMs"),
        ({"cwd": "/usr/bin", "timeoutMs": 99}, "must be an integer from 100 to 600000"),
        ({"cwd": "/usr/bin", "timeoutMs": 600_001}, "must be an integer from 100 to 600000"),
        ({"cwd": "/usr/bin", "timeoutMs": "1e3"}, "must be an integer from 100 to 600000"),
        ({"cwd": "/usr/bin", "timeoutMs": True}, "must be an integer from 100 to 600000"),
    ],
)
def test_a_wrong_binding_is_refused_and_quoted_nowhere(configuration: Any, words: str) -> None:
    with pytest.raises(Failed) as raised:
        read_binding("b", configuration)
    assert raised.value.failure.code == "invalid_binding"
    assert words in raised.value.failure.message
    assert "no-such-directory" not in raised.value.failure.message


@pytest.mark.parametrize(("given", "seconds"), [(100, 0.1), (600_000, 600), ("2500", 2.5), (None, 60)])
def test_a_deadline_is_read_from_numbers_and_decimal_strings(given: Any, seconds: float) -> None:
    configuration = {"cwd": "/usr/bin"} | ({} if given is None else {"timeoutMs": given})
    assert read_binding("b", configuration).timeout == seconds


def test_a_binding_shows_nothing_of_itself() -> None:
    assert repr(read_binding("b", {"cwd": "/usr/bin"})) == "<Binding>"


def test_initialize_with_one_wrong_binding_takes_none_and_may_be_mended(tmp_path: Path) -> None:
    with PluginDriver(module=MODULE) as plugin:
        refused = plugin.initialize([], good={"cwd": str(tmp_path)}, bad={"cwd": str(tmp_path / "nowhere")})
        assert refused["error"]["data"] == {"code": "invalid_binding", "where": "bad.cwd"}
        assert str(tmp_path) not in json.dumps(refused)
        assert "result" in plugin.initialize([], good={"cwd": str(tmp_path)})
        assert os.path.realpath(tmp_path) == str(tmp_path)
