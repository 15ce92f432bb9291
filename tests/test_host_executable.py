"""Which program is a provider's, and what it may see of the environment."""

import json
import os
import sys
from pathlib import Path

import pytest

import host.executable
from host.executable import Executable, describe, find, without
from protocol.failures import Code, Failed
from tests.fakes.plugins import FakePlugin


def refused(provider: str, named: str | None, **environment: str) -> str:
    with pytest.raises(Failed) as caught:
        find(provider, named, environment)
    assert caught.value.code == Code.PROVIDER_MISSING
    return str(caught.value)


def test_without_a_name_the_package_that_came_along_is_run_and_no_folder_can_stand_in_for_it() -> None:
    found = find("MCP", None, {})
    assert found.argv == (sys.executable, "-P", "-m", "plugin")


def test_a_source_folder_that_is_not_installed_is_found_by_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    root = str(Path(host.executable.__file__).resolve().parent.parent)
    assert find("MCP", None, {}).environment == {"PYTHONPATH": f"{root}{os.pathsep}/elsewhere"}


def test_an_installed_host_needs_no_search_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    (packages / "host").mkdir(parents=True)
    monkeypatch.setattr(host.executable, "__file__", str(packages / "host" / "executable.py"))
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    assert find("MCP", None, {}).environment == {}


def test_the_option_wins_over_the_variable(tmp_path: Path) -> None:
    first, second = FakePlugin(tmp_path, "first"), FakePlugin(tmp_path, "second")
    variable = {"ASSAY_PLUGIN": str(second.path)}
    assert find("MCP", str(first.path), variable) == Executable("MCP", (str(first.path),), {})
    assert find("MCP", None, variable).argv == (str(second.path),)


def test_a_name_is_looked_for_on_the_path_and_then_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = FakePlugin(tmp_path, "some-plugin")
    assert find("MCP", "some-plugin", {"PATH": str(tmp_path)}).argv == (str(plugin.path),)
    monkeypatch.chdir(tmp_path)
    assert find("MCP", "some-plugin", {"PATH": "/nowhere"}).argv == (str(plugin.path),)


def test_an_executable_that_cannot_be_run_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("x")
    assert "there is no such file" in refused("MCP", str(tmp_path / "none"))
    assert "it is a folder" in refused("MCP", str(tmp_path))
    assert "chmod +x" in refused("MCP", str(tmp_path / "text"))
    assert "from ASSAY_PLUGIN" in refused("MCP", None, ASSAY_PLUGIN=str(tmp_path / "none"))


def test_a_provider_that_nothing_is_known_for_is_missing() -> None:
    assert "`Mailbox`" in refused("Mailbox", None)
    assert "brings: MCP, LocalBash, Browser." in refused("Mailbox", None)


def test_children_get_the_environment_without_the_names_that_bindings_hold() -> None:
    executable = Executable("MCP", ("x",), {"PYTHONPATH": "/root"})
    environment = {"HOME": "/home", "TOKEN": "secret", "PYTHONPATH": "/own"}
    assert without(environment, frozenset({"TOKEN"}), executable) == {"HOME": "/home", "PYTHONPATH": "/root"}


def test_a_description_is_what_the_program_prints(tmp_path: Path) -> None:
    plugin = FakePlugin(tmp_path)
    found = json.loads(describe(Executable("MCP", (str(plugin.path),), {}), {"PATH": os.environ["PATH"]}))
    assert found["plugin"] == {"name": "fake", "version": "1", "provider": "MCP"}


@pytest.mark.parametrize("script", ["exit 3", "echo oops >&2; exit 0", "kill -9 $$"])
def test_a_program_that_does_not_describe_itself_is_no_plugin(tmp_path: Path, script: str) -> None:
    path = tmp_path / "plugin"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    with pytest.raises(Failed, match="is no plugin of Assay") as caught:
        describe(Executable("MCP", (str(path),), {}), {"PATH": os.environ["PATH"]})
    assert caught.value.code == Code.PLUGIN_DIED


def test_a_program_that_never_answers_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host.executable, "DESCRIBE_SECONDS", 0.2)
    path = tmp_path / "plugin"
    path.write_text("#!/bin/sh\nsleep 600\n")
    path.chmod(0o755)
    with pytest.raises(Failed, match="gave no answer"):
        describe(Executable("MCP", (str(path),), {}), {"PATH": os.environ["PATH"]})
