"""Which flows a command line means: files and folders, what is passed over, how far a search goes, and tags."""

import json
import os
import time
from pathlib import Path

import pytest

from host.discovery import Found, find_flows, path_text
from protocol.failures import Failed
from tests.host_command import TARGET, Command
from tests.host_flows import text


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(tmp_path, monkeypatch, capsys)


def flow(*tags: str, name: str = "A flow") -> str:
    return text(("Look", "api.tools"), extra=f"tags: [{', '.join(tags)}]\n" if tags else "", name=name)


def files(assay: Command, *words: str) -> list[str]:
    return [entry["file"] for entry in assay.document(*words)["flows"]]


# Folders


def test_folders_of_others_are_passed_over(tmp_path: Path) -> None:
    for name in (
        "b.md",
        "a/c.md",
        ".git/x.md",
        "node_modules/p/readme.md",
        "lib/site-packages/x.md",
        "environment/pyvenv.cfg",
        "environment/share/x.md",
        "a/__pycache__/x.md",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("---\nname: x\n---\n")
    (tmp_path / "link").symlink_to(tmp_path / "a", target_is_directory=True)
    (tmp_path / "notes.md").write_text("# Notes\n")
    (tmp_path / "pipe.md").parent.mkdir(exist_ok=True)
    os.mkfifo(tmp_path / "pipe.txt")
    found = find_flows(str(tmp_path))
    assert [os.path.relpath(path, tmp_path) for path in found.paths] == ["b.md", "a/c.md"]
    assert found.looked_at == 4


def test_a_file_that_is_named_is_itself_whatever_its_name(tmp_path: Path) -> None:
    assert find_flows("x/../flow.txt") == Found(("flow.txt",), None)


@pytest.mark.parametrize(("limit", "refused"), [(5, False), (4, True)])
def test_a_folder_with_far_too_much_in_it_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, refused: bool
) -> None:
    monkeypatch.setattr("host.discovery.ENTRIES_LIMIT", limit)
    (tmp_path / "deep").mkdir()
    for name in ("a.md", "b.txt", "deep/c.txt", "deep/d.md"):
        (tmp_path / name).write_text("---\n")
    if refused:
        with pytest.raises(Failed, match="holds more than 4 files"):
            find_flows(str(tmp_path))
    else:
        assert len(find_flows(str(tmp_path)).paths) == 2


def test_the_whole_disk_is_refused_quickly(assay: Command) -> None:
    began = time.monotonic()
    done = assay("plan", "/")
    assert (done.exit, "holds more than 20000 files" in done.err) == (2, True)
    assert time.monotonic() - began < 20


def test_a_folder_without_a_flow_says_how_much_was_looked_at(assay: Command) -> None:
    assay.write("docs/a.md", "# No flow\n")
    assay.write("docs/b.txt", "x")
    done = assay.run("docs")
    assert done.exit == 2
    assert "none of the files that were looked at (2) ends in .md and begins with frontmatter" in done.err


@pytest.mark.parametrize("path", ["\udd00", "a\udcffb", "ünï.md", "plain.md"])
def test_any_path_can_be_shown(path: str) -> None:
    assert path_text(path).encode()


# Tags


@pytest.fixture
def tagged(assay: Command) -> Command:
    assay.write("flows/a.md", flow("smoke", "fast"))
    assay.write("flows/b.md", flow("smoke"))
    assay.write("flows/c.md", flow("nightly"))
    assay.write("flows/d.md", flow())
    return assay


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], ["a", "b", "c", "d"]),
        (["smoke"], ["a", "b"]),
        (["fast"], ["a"]),
        (["fast", "nightly"], ["a", "c"]),
        (["smoke", "fast"], ["a", "b"]),
    ],
)
def test_flows_that_have_a_tag_run(tagged: Command, tags: list[str], expected: list[str]) -> None:
    words = [word for tag in tags for word in ("--tag", tag)]
    assert files(tagged, "flows", *words) == [f"flows/{name}.md" for name in expected]


@pytest.mark.parametrize("tags", [["smok"], ["smoke", "smok"]])
def test_a_tag_that_no_flow_has_is_refused_with_the_one_that_was_meant(tagged: Command, tags: list[str]) -> None:
    done = tagged.run("flows", *(word for tag in tags for word in ("--tag", tag)))
    assert (done.exit, tagged.plugin.log) == (2, [])
    assert "No flow has the tag `smok`. Did you mean `smoke`? Known tags: `fast`, `nightly`, `smoke`." in done.err


def test_a_plan_takes_tags_too(tagged: Command) -> None:
    done = tagged("plan", "flows", "--tag", "nightly", "--plugin", str(tagged.plugin.path))
    assert [row for row in done.out.splitlines() if "flows/" in row] == [
        "A flow  (flows/c.md): 1 step, 0 that may change something"
    ]


def test_what_is_wrong_with_flows_that_are_not_meant_refuses_nothing(tagged: Command) -> None:
    tagged.write("flows/c.md", flow("nightly").replace("api.tools", "api.tolls"))
    assert tagged.run("flows", "--tag", "smoke").exit == 0
    assert tagged.run("flows", "--tag", "nightly").exit == 2


@pytest.mark.parametrize(
    "broken",
    ["---\nname: x\ntags: nightly\nproviders:\n  api: MCP\n---\n", "---\nname: [\n---\n", "---\nnever closed\n", "---"],
)
def test_a_flow_whose_tags_cannot_be_told_is_refused_and_not_passed_over(tagged: Command, broken: str) -> None:
    tagged.write("flows/e.md", f"{broken}\n```rfl\napi.tools\n```\n")
    assert tagged.run("flows", "--tag", "smoke").exit == 2


def test_inputs_have_to_be_taken_by_a_flow_that_is_meant(tagged: Command) -> None:
    tagged.write("flows/c.md", flow("nightly").replace("providers:", "inputs:\n  what: {default: x}\nproviders:"))
    assert tagged.run("flows", "--tag", "nightly", "--input", "what=y").exit == 0
    assert tagged.run("flows", "--tag", "smoke", "--input", "what=y").exit == 2


# Waiting


def test_a_server_that_is_not_there_yet_is_waited_for_and_no_longer_than_asked(assay: Command) -> None:
    assay.write("f.md", flow())
    done = assay.run("f.md", "--wait", "0.2", "--json", "out.json")
    assert done.exit == 4
    assert "Nothing took a connection at 127.0.0.1:9 within the 0.2 seconds of `--wait`. [unreachable]" in done.err
    assert (assay.plugin.ran, assay.runs) == ([], [])


def test_what_is_refused_is_refused_without_waiting(assay: Command) -> None:
    assay.write("f.md", flow().replace("api.tools", "api.tolls"))
    assert assay.run("f.md", "--wait", "3600").exit == 2
    assay.behave(check={"tools": {"code": -32000, "message": "No.", "data": {"code": "invalid_arguments"}}})
    assay.write("f.md", flow())
    assert assay.run("f.md", "--wait", "3600").exit == 2


def test_there_has_to_be_a_target_to_wait_for(assay: Command) -> None:
    assay.write("f.md", flow())
    bound = {"api": {"provider": "MCP", "configuration": {"endpoint": TARGET}}}
    assay.write("bindings.json", json.dumps(bound)).chmod(0o600)
    done = assay("run", "f.md", "--wait", "1", "--plugin", str(assay.plugin.path))
    assert done.exit == 2
    assert "`--wait` waits for the target, and there is none." in done.err
