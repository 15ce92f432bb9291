"""A run's folder: who may read it, that it is never half written, and that no private value stays in it."""

import base64
import json
import os
import stat
import threading
from pathlib import Path
from urllib.parse import quote

import pytest

from host.evidence import RUN_ID, Evidence
from host.private import Private
from host.runs import list_runs, read_run
from protocol.failures import Code, Failed

SECRET = "s3cret/Value+with=signs"


def kept(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def nothing(_buffer: bytes) -> bool:
    return False


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / ".assay" / "runs"


@pytest.fixture
def private() -> Private:
    return Private({"MCP": [SECRET]})


def test_files_and_folders_are_for_their_owner_whatever_the_umask(root: Path) -> None:
    before = os.umask(0)
    try:
        evidence = Evidence(root, nothing)
        evidence.write("flow.md", b"# A flow\n")
        evidence.write_json("steps/01-api.tools/observation.json", {"a": 1})
    finally:
        os.umask(before)
    evidence.close()
    modes = {path.relative_to(root): stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    assert {mode for path, mode in modes.items() if (root / path).is_file()} == {0o600}
    assert {mode for path, mode in modes.items() if (root / path).is_dir()} == {0o700}
    assert stat.S_IMODE(root.parent.stat().st_mode) == 0o700


def test_json_is_indented_and_exact(root: Path) -> None:
    evidence = Evidence(root, nothing)
    evidence.write_json("run.json", {"text": "ü\u001b"})
    evidence.close()
    assert kept(evidence.folder)["run.json"] == b'{\n  "text": "\xc3\xbc\\u001b"\n}\n'


def test_run_ids_sort_by_time_and_are_unique_when_runs_start_together(root: Path) -> None:
    made: list[Evidence] = []

    def start() -> None:
        made.extend(Evidence(root, nothing) for _ in range(20))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = Evidence(root, nothing)
    for evidence in [*made, last]:
        evidence.close()
    ids = [evidence.run for evidence in made]
    assert len(set(ids)) == 80
    assert all(RUN_ID.fullmatch(run) for run in ids)
    assert max(ids) < last.run
    assert list_runs(root)[0].name == last.run


@pytest.mark.parametrize("name", ["../x", "/etc/x", "steps/../x", "a/b", "steps/01-api.tools/../x", ".hidden", "", "A"])
def test_a_name_that_leads_elsewhere_is_refused(root: Path, name: str) -> None:
    evidence = Evidence(root, nothing)
    with pytest.raises(ValueError, match="is no name"):
        evidence.write(name, b"")
    evidence.close()


FORMS = [
    SECRET,
    json.dumps(json.dumps(SECRET + '"')),
    quote(SECRET, safe=""),
    "".join(f"%{byte:02x}" for byte in SECRET.encode()),
    base64.b64encode(SECRET.encode()).decode(),
    base64.urlsafe_b64encode(b"xy" + SECRET.encode() + b"z").decode(),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_private_value_in_any_form_leaves_a_tombstone(root: Path, private: Private, form: str) -> None:
    evidence = Evidence(root, private.leaks)
    name = "steps/01-api.call/observation.json"
    assert not evidence.write_json(name, {"before": f"…{form}…"})
    assert evidence.write_json("run.json", {})
    evidence.close()
    assert evidence.leaked == [name]
    assert json.loads(kept(evidence.folder)[name])["code"] == "evidence_leak"
    assert not any(private.leaks(content) for content in kept(evidence.folder).values())


def test_a_text_that_is_no_json_gets_a_tombstone_of_its_own(root: Path, private: Private) -> None:
    evidence = Evidence(root, private.leaks)
    evidence.write("flow.md", SECRET.encode())
    evidence.close()
    assert b"evidence_leak" in kept(evidence.folder)["flow.md"]
    assert SECRET.encode() not in kept(evidence.folder)["flow.md"]


def test_a_file_whose_name_is_private_is_not_written(root: Path) -> None:
    private = Private({"MCP": ["token-in-a-name"]})
    evidence = Evidence(root, private.leaks)
    assert not evidence.write_json("steps/01-api.call/token-in-a-name.json", {})
    evidence.close()
    assert kept(evidence.folder) == {}
    assert "token" not in str(evidence.leaked)


def test_what_is_learnt_later_is_found_at_the_end_in_every_byte(root: Path) -> None:
    private = Private({"MCP": [], "Other": []})
    evidence = Evidence(root, private.leaks)
    evidence.write("flow.md", b"text learnt-later text")
    evidence.write_json("steps/01-api.call/clean.json", {"fine": True})
    evidence.write_json("steps/02-api.call/named-learnt-later.json", {"fine": True})
    (evidence.folder / "steps" / "left-behind.writing").write_bytes(b"learnt-later")
    private.learn("MCP", ["learnt-later"])
    assert not evidence.rescan()
    evidence.close()
    found = kept(evidence.folder)
    assert sorted(found) == ["flow.md", "steps/01-api.call/clean.json", "steps/left-behind.writing"]
    assert not any(b"learnt-later" in content for content in found.values())
    assert json.loads(found["steps/01-api.call/clean.json"]) == {"fine": True}
    assert len(evidence.leaked) == 3


def test_a_second_scan_of_clean_evidence_changes_nothing(root: Path, private: Private) -> None:
    evidence = Evidence(root, private.leaks)
    evidence.write_json("run.json", {"a": "b"})
    before = kept(evidence.folder)
    assert evidence.rescan()
    evidence.close()
    assert kept(evidence.folder) == before


def test_a_failed_write_leaves_what_was_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = Evidence(root, nothing)
    evidence.write_json("run.json", {"version": 1})

    def refuse(*_arguments: object, **_named: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.rename", refuse)
    with pytest.raises(Failed, match="No space left") as caught:
        evidence.write_json("run.json", {"version": 2})
    evidence.close()
    assert caught.value.code == Code.INTERNAL
    assert json.loads(kept(evidence.folder)["run.json"]) == {"version": 1}


def test_the_same_file_can_be_written_again_after_a_kill_left_its_temporary(root: Path) -> None:
    evidence = Evidence(root, nothing)
    (evidence.folder / "run.json.writing").write_bytes(b"half")
    evidence.write_json("run.json", {"version": 2})
    evidence.close()
    assert list(kept(evidence.folder)) == ["run.json"]


def refusal(root: Path) -> str:
    with pytest.raises(Failed) as caught:
        Evidence(root, nothing)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    return str(caught.value)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".assay").symlink_to(tmp_path / "elsewhere")
    assert "is a link or a file" in refusal(tmp_path / ".assay" / "runs")
    (tmp_path / "own").mkdir(mode=0o700)
    (tmp_path / "own" / "runs").symlink_to(tmp_path / "elsewhere")
    assert "is a link or a file" in refusal(tmp_path / "own" / "runs")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_folder_that_others_may_write_to_is_refused(root: Path) -> None:
    root.mkdir(parents=True)
    root.chmod(0o777)
    assert "may be written to by other users" in refusal(root)


def test_a_folder_of_another_user_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root.mkdir(parents=True)
    owner = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: owner + 1)
    assert "belongs to another user" in refusal(root)


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / ".assay").write_text("")
    assert "--evidence DIR" in refusal(tmp_path / ".assay" / "runs")


def test_an_existing_folder_that_others_may_only_read_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "artifacts").mkdir(mode=0o755)
    evidence = Evidence(tmp_path / "artifacts" / "runs", nothing)
    evidence.close()
    assert stat.S_IMODE(evidence.folder.stat().st_mode) == 0o700


def test_a_run_shows_as_running_while_its_process_holds_it_and_as_interrupted_after(root: Path) -> None:
    evidence = Evidence(root, nothing)
    evidence.write_json("run.json", {"format": "assay-evidence/1", "status": "running"})
    assert read_run(evidence.folder).status == "running"
    evidence.close()
    assert read_run(evidence.folder).status == "interrupted"
