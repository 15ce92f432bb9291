"""Flows with a shell and a browser in them, by the real command line: the examples, and what is kept and hidden."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.page import PASSWORD_VARIABLE
from tests.command_line import SCRIPT, Assay, Ran
from tests.fakes.pages import read_png
from tests.fakes.processes import descendants, gone, until
from tests.peers.process import free_port, running

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PASSWORD = "pass word & 77 søn"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """The desk's folder, with the folder for run tokens as its owner makes it once."""
    folder = tmp_path / "desk"
    shutil.copytree(EXAMPLES / "desk", folder, ignore=shutil.ignore_patterns("agent-keys", ".assay-run-tokens"))
    (folder / ".assay-run-tokens").mkdir(mode=0o700)
    return folder


@pytest.fixture
def desk_server(desk: Path) -> Iterator[str]:
    """The URL of an example server that accepts the keys which are minted in the desk's folder."""
    port = free_port()
    command = [sys.executable, "-m", "examples.server", "--port", str(port), "--keys", str(desk / "agent-keys")]
    with running(command, port, {}, ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """The URL of the example page."""
    port = free_port()
    command = [sys.executable, "-m", "examples.page", "--port", str(port)]
    with running(command, port, {PASSWORD_VARIABLE: PASSWORD}, ROOT):
        yield f"http://127.0.0.1:{port}"


def shell_flow(assay: Assay, *commands: str, inputs: str = "") -> Path:
    """A flow with one section of shell commands in the folder of the command line, and its bindings."""
    bindings = {"shell": {"provider": "LocalBash", "configuration": {"cwd": str(assay.folder), "timeoutMs": 20_000}}}
    assay.write("bindings.json", json.dumps(bindings)).chmod(0o600)
    lines = "\n".join(f"shell.bash command={json.dumps(command)}" for command in commands)
    head = f"---\nname: shell\nproviders:\n  shell: LocalBash\n{inputs}---\n"
    return assay.write("flow.md", f"{head}\n# Steps\n\n```rfl\n{lines}\n```\n")


def sign_in(site: str, bindings: Path) -> list[str | Path]:
    flow = EXAMPLES / "flows" / "sign-in.md"
    return [flow, "--bindings", bindings, "--target", site, "--input", f"site={site}"]


def kept(ran: Ran) -> bytes:
    return b"".join(path.read_bytes() for path in ran.kept)


# The examples


def test_a_key_is_minted_and_inspected_with_and_is_nowhere_in_what_is_kept(
    assay: Assay, desk: Path, desk_server: str
) -> None:
    environment = {"DESK_FOLDER": str(desk), "DESK_TOKENS": str(desk / ".assay-run-tokens")}
    bindings = EXAMPLES / "mint.bindings.json"
    # What the flow forgets at its end is looked at before: the same flow, without its last command.
    flow = assay.write("mint.md", (EXAMPLES / "flows" / "mint.md").read_text().replace("rm -f", "true"))
    ran = assay.run(flow, "--bindings", bindings, "--target", desk_server, "--input", "agent=$(id); 'x'", **environment)
    assert ran.statuses == [
        "bash succeeded",
        "connect succeeded",
        "tools succeeded",
        "call succeeded",
        "disconnect succeeded",
        "bash succeeded",
    ], ran.out + ran.err
    token = desk / ".assay-run-tokens" / "agent-key"
    assert token.stat().st_mode & 0o777 == 0o600
    key = token.read_text().strip()
    assert key.startswith("desk_")
    assert (desk / "agent-keys").read_text().split(" ", 1)[1] == "$(id); 'x'\n"
    everything = kept(ran) + ran.out.encode() + ran.err.encode()
    for secret in (key, str(desk)):
        assert secret.encode() not in everything
    assert b"Minted a key for" in everything


def test_the_minting_example_runs_as_it_stands_and_forgets_its_key(assay: Assay, desk: Path, desk_server: str) -> None:
    environment = {"DESK_FOLDER": str(desk), "DESK_TOKENS": str(desk / ".assay-run-tokens")}
    words = [str(EXAMPLES / "flows" / "mint.md"), "--bindings", str(EXAMPLES / "mint.bindings.json")]
    for _ in range(2):
        ran = assay.run(*words, "--target", desk_server, **environment)
        assert ran.exit == 0, ran.out + ran.err
    assert list((desk / ".assay-run-tokens").iterdir()) == []
    assert len((desk / "agent-keys").read_text().splitlines()) == 2


def test_a_person_signs_in_by_a_browser_and_the_password_is_shown_nowhere(assay: Assay, site: str) -> None:
    ran = assay.run(*sign_in(site, EXAMPLES / "sign-in.bindings.json"), DESK_PASSWORD=PASSWORD)
    assert ran.exit == 0, ran.out + ran.err
    assert len(ran.steps) == 11
    assert PASSWORD.encode() not in kept(ran) + ran.out.encode() + ran.err.encode()
    (run,) = ran.runs
    unscanned = json.loads((run / "run.json").read_text())["unscanned"]
    assert unscanned == ["steps/05-site.screenshot/filled.png", "steps/09-site.screenshot/tickets.png"]
    filled, tickets = (read_png((run / name).read_bytes()) for name in unscanned)
    assert (filled.width, filled.height) == (tickets.width, tickets.height) == (1280, 720)
    # The field of the password is a black box in the first picture; there is none in the second.
    assert [(0, 0, 0) in {picture.pixel(x, 158) for x in range(200, 300)} for picture in (filled, tickets)] == [
        True,
        False,
    ]


def test_a_wrong_password_is_seen_in_what_the_page_says(assay: Assay, site: str) -> None:
    bindings = json.loads((EXAMPLES / "sign-in.bindings.json").read_text())
    bindings["site"]["configuration"]["timeoutMs"] = 3000
    words = sign_in(site, assay.write("b.json", json.dumps(bindings)))
    ran = assay.run(*words, "--fail-fast", DESK_PASSWORD="not-the-password")
    assert ran.statuses[6] == "expect_text failed timeout"
    assert ran.exit == 1


def test_both_examples_are_planned_without_bindings_and_without_contact(assay: Assay) -> None:
    given: dict[str, list[str]] = {"mint": [], "sign-in": ["--input", "site=http://127.0.0.1:9"]}
    for name, words in given.items():
        ran = assay("plan", EXAMPLES / "flows" / f"{name}.md", "--target", "http://127.0.0.1:9/", *words)
        assert ran.exit == 0, ran.out + ran.err
        bindings = EXAMPLES / f"{name}.bindings.json"
        ran = assay(
            "plan", EXAMPLES / "flows" / f"{name}.md", "--target", "http://127.0.0.1:9/", "--bindings", bindings, *words
        )
        assert ran.exit == 0, ran.out + ran.err


# Shells


def test_the_shell_has_none_of_the_variables_that_a_binding_names(assay: Assay) -> None:
    flow = shell_flow(assay, "env", 'test -z "$PLANTED"')
    bindings = json.loads((assay.folder / "bindings.json").read_text())
    bindings["api"] = {"provider": "MCP", "configuration": {"bearerToken": {"env": "PLANTED"}}}
    assay.write("bindings.json", json.dumps(bindings)).chmod(0o600)
    ran = assay.run(flow, PLANTED="planted-secret-value", SEEN="yes")
    assert ran.exit == 0, ran.out + ran.err
    text = ran.steps[0]["state"]["stdout"]["text"]
    assert ("SEEN=yes" in text, "PLANTED" in text) == (True, False)


def test_hostile_inputs_reach_the_shell_as_text(assay: Assay) -> None:
    value = '\'; touch pwned; $(touch pwned) `touch pwned` "${HOME}" \\ '
    flow = shell_flow(assay, 'printf "%s" "$RFL_VALUE" > value', inputs="inputs:\n  value: {}\n")
    ran = assay.run(flow, "--input", f"value={value}")
    assert ran.exit == 0, ran.out + ran.err
    assert (assay.folder / "value").read_text() == value
    assert not (assay.folder / "pwned").exists()


def test_a_failed_command_skips_its_section_and_exits_1(assay: Assay) -> None:
    ran = assay.run(shell_flow(assay, "exit 3", "true"))
    assert ran.statuses == ["bash failed expectation_failed", "bash skipped"]
    assert ran.exit == 1


def test_a_command_that_passes_its_deadline_is_unknown_and_exits_3(assay: Assay) -> None:
    flow = shell_flow(assay, "sleep 60")
    bindings = json.loads((assay.folder / "bindings.json").read_text())
    bindings["shell"]["configuration"]["timeoutMs"] = 200
    assay.write("bindings.json", json.dumps(bindings)).chmod(0o600)
    ran = assay.run(flow)
    assert (ran.statuses, ran.exit) == (["bash unknown timeout"], 3)


def test_a_secret_that_a_command_prints_before_anybody_knows_it_is_found_at_the_end(
    assay: Assay, desk: Path, desk_server: str
) -> None:
    text = (EXAMPLES / "flows" / "mint.md").read_text()
    flow = assay.write(
        "flow.md", text.replace("api.connect", 'shell.bash command="cat .assay-run-tokens/*"\napi.connect', 1)
    )
    environment = {"DESK_FOLDER": str(desk), "DESK_TOKENS": str(desk / ".assay-run-tokens")}
    ran = assay.run(flow, "--bindings", EXAMPLES / "mint.bindings.json", "--target", desk_server, **environment)
    assert ran.exit == 5
    assert b"desk_" not in kept(ran) + json.dumps(ran.document).encode()


@pytest.mark.parametrize("level", [1, 2])
def test_an_interrupted_run_leaves_no_command_behind(assay: Assay, level: int) -> None:
    flow = shell_flow(assay, "trap '' TERM INT; echo $$ > leader; sleep 60 & echo $! > child; wait; sleep 60")
    with subprocess.Popen(
        [SCRIPT, "run", flow], cwd=assay.folder, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as command:
        child = assay.folder / "child"
        until(lambda: child.exists() and child.read_text().endswith("\n"))
        started = [int(child.read_text()), int((assay.folder / "leader").read_text()), *descendants(command.pid)]
        for _ in range(level):
            command.send_signal(signal.SIGINT)
        command.communicate()
        assert command.returncode == 130
    until(lambda: all(map(gone, started)))


# The host


def test_the_plugins_are_listed_with_their_commands(assay: Assay) -> None:
    ran = assay("plugins")
    assert ran.exit == 0, ran.err
    for words in ("MCP: assay-mcp", "LocalBash: assay-shell", "Browser: assay-browser", "fill_private", "command*"):
        assert words in ran.out
    document = json.loads(assay("plugins", "--json").out)
    assert [plugin["plugin"]["provider"] for plugin in document["plugins"]] == ["MCP", "LocalBash", "Browser"]


def test_a_named_plugin_is_the_mcp_providers_and_no_other(assay: Assay) -> None:
    program = assay.write("other", "#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    ran = assay.run(shell_flow(assay, "true"), "--plugin", program, ASSAY_PLUGIN=str(program))
    assert ran.exit == 0, ran.out + ran.err


def test_without_chromium_a_run_says_what_to_install_and_exits_4(assay: Assay, site: str) -> None:
    nowhere = {"PLAYWRIGHT_BROWSERS_PATH": str(assay.folder), "ASSAY_CHROMIUM": str(assay.folder / "none")}
    ran = assay.run(*sign_in(site, EXAMPLES / "sign-in.bindings.json"), DESK_PASSWORD=PASSWORD, **nowhere)
    assert ran.statuses[0] == "open failed browser_missing"
    assert ran.exit == 4
    assert "ASSAY_CHROMIUM names no program" in ran.out
