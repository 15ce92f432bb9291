"""The command line as a whole: help, versions, unknown words, defects without tracebacks, and what is imported when."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from host.main import COMMANDS, cli, main
from protocol.failures import Code, Failed
from protocol.version import VERSION
from tests.host_command import Command
from tests.host_flows import text

ROOT = Path(__file__).resolve().parents[1]
TOKEN = "text-of-an-exception"


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def imported(*words: str) -> set[str]:
    """Return the top-level modules that a command line imports."""
    code = "import sys; from host.main import main; main(sys.argv[1:]); print('\\n', *sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    return {name.partition(".")[0] for name in done.stderr.splitlines()[-1].split()}


def test_the_version_is_the_projects(assay: Command) -> None:
    assert assay("--version") == (0, f"assay, version {VERSION}\n", "")


def test_help_lists_every_command_in_the_order_of_their_use(assay: Command) -> None:
    done = assay("--help")
    assert done.exit == 0
    listed = done.out.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_each_of_its_options(assay: Command, name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.help
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []
    done = assay(name, "--help")
    assert done.exit == 0
    assert done.out.startswith(f"Usage: assay {name} ")


def test_help_imports_nothing_that_takes_time() -> None:
    slow = {"rich", "httpx", "markdown_it", "ruamel", "msgspec", "plugin", "asyncio"}
    assert imported("--help") & slow == set()


def test_a_run_without_a_terminal_and_reports_imports_nothing_for_them() -> None:
    heavy = {"rich", "jinja2", "concurrent", "httpx", "plugin", "asyncio", "playwright"}
    assert imported("run", "examples/flows/inspect.md", "--quiet") & heavy == set()


def test_a_plan_imports_no_http_stack_and_no_tables() -> None:
    assert imported("plan", "examples/flows/inspect.md") & {"rich", "httpx", "plugin", "asyncio", "ssl"} == set()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rum"], "Did you mean `run`?"),
        (["aply"], "Did you mean `apply`?"),
        (["\x1b[31m"], "There is no command '\\\\x1b[31m'"),
        (["run"], "Missing argument"),
        (["run", "f.md", "--target"], "requires an argument"),
        (["--nope"], "No such option"),
        ([], "Usage: assay"),
    ],
)
def test_a_wrong_command_line_is_refused_with_what_would_be_right(assay: Command, words: list[str], told: str) -> None:
    done = assay(*words)
    assert done.exit == 2
    assert told in done.err


def test_a_defect_is_told_by_its_place_and_never_by_its_text(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_arguments: Any, **_named: Any) -> None:
        raise KeyError(TOKEN)

    monkeypatch.setattr("host.commands.plan.prepare", break_down)
    done = assay("plan", "f.md")
    assert done.exit == 4
    assert "A defect in Assay: KeyError at test_host_main.py:" in done.err
    assert "called from plan.py:" in done.err
    assert TOKEN not in done.out + done.err
    assert "Traceback" not in done.err


def test_a_defect_on_a_reading_thread_is_told_the_same_way(assay: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_arguments: Any) -> None:
        raise KeyError(TOKEN)

    monkeypatch.setattr("host.inbox.decode", break_down)
    before = threading.excepthook
    assay.write("f.md", text(("A", "api.tools")))
    done = assay.run("f.md")
    assert done.exit == 4
    assert "error: A defect in Assay: KeyError at test_host_main.py:" in done.err
    assert TOKEN not in done.out + done.err
    assert "Traceback" not in done.err
    assert threading.excepthook is before


@pytest.mark.parametrize("noticed", [KeyboardInterrupt(), Failed(Code.CANCELLED, "Interrupted before contact.")])
def test_ctrl_c_anywhere_exits_130(assay: Command, monkeypatch: pytest.MonkeyPatch, noticed: BaseException) -> None:
    def interrupt(*_arguments: Any, **_named: Any) -> None:
        raise noticed

    monkeypatch.setattr("host.commands.plan.prepare", interrupt)
    done = assay("plan", "f.md")
    assert (done.exit, done.out, done.err.strip()) == (130, "", "Interrupted.")


def test_python_m_host_is_assay() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "host", "--version"], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, f"assay, version {VERSION}\n")


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    script = f"{sys.executable} -m host plan examples/flows/inspect.md examples/flows/capture.md | true"
    done = subprocess.run(["/bin/sh", "-c", script], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `assay` by a shell, which can start a program with a stream closed or full."""
    words = command.replace("assay", f"{sys.executable} -m host")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["/bin/sh", "-c", words], cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("assay plugins >&-", 0),
        ("assay plugins --json >&-", 0),
        ("assay init >&-", 0),
        ("assay plan f.md 2>&-", 2),
        ("assay plan --nope 2>&-", 2),
        ("assay plan f.md <&- >&- 2>&-", 2),
        ("assay --help | true", 0),
        ("assay plan --nope 2>/dev/full", 2),
        ("assay run f.md --bindings - <&-", 2),
        ("assay call http://127.0.0.1:9/ tool - --header nothing <&-", 2),
    ],
)
def test_streams_that_are_closed_change_no_status(tmp_path: Path, command: str, status: int) -> None:
    done = shell(command, tmp_path)
    assert (done.returncode, "defect" in done.stderr, "Traceback" in done.stderr) == (status, False, False)


def test_nothing_that_is_printed_ends_up_in_a_file_that_was_opened_meanwhile(tmp_path: Path) -> None:
    assert shell("assay init >&- 2>&-", tmp_path).returncode == 0
    kept = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(kept) == 4
    assert [text for text in kept if "wrote  " in text] == []


@pytest.mark.parametrize("command", ["plugins", "plugins --json", "init"])
def test_a_full_disk_under_standard_output_is_told_and_is_no_success(tmp_path: Path, command: str) -> None:
    done = shell(f"assay {command} >/dev/full", tmp_path)
    assert done.returncode == 4
    assert done.stderr == (
        "error: Standard output cannot be written to: No space left on device. Not all of it was written.\n"
        "help: Make room where it goes, or send it elsewhere. What the command did is done.\n"
    )


def test_help_that_cannot_be_written_is_told_by_the_reason_of_the_system(tmp_path: Path) -> None:
    done = shell("assay --help >/dev/full", tmp_path)
    assert done.returncode == 4
    assert "(No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


def test_standard_input_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    done = shell("assay call http://127.0.0.1:9/ tool - 0>written", tmp_path)
    assert (done.returncode, done.stderr) == (
        2,
        "error: Standard input cannot be read: Bad file descriptor. [invalid_arguments]\n",
    )


#: No path that leads out of the folder: a whole file system of flows takes a while to plan.
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="/."), max_size=12)


@given(st.lists(WORDS, max_size=4))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_command_line_gets_a_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["plan", *words]) in (0, 2)
    assert main(words) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err
