"""Files that a user asks for: written whole, where they are meant to be, and never in place of what is no file."""

import os
import threading
from pathlib import Path

import pytest

from host.documents import check_place, replace_file
from protocol.failures import Failed


def test_a_file_is_replaced_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    for content in (b"first", b"second"):
        replace_file(path, content)
        assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_may_have_the_longest_name_there_is(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    replace_file(path, b"x")
    assert path.read_bytes() == b"x"


def test_what_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "there" / "out.json", tmp_path / "link.json"
    target.parent.mkdir()
    link.symlink_to("there/out.json")
    for content in (b"new", b"newer"):
        check_place(str(link))
        replace_file(link, content)
        assert (link.is_symlink(), target.read_bytes()) == (True, content)


def test_a_link_into_a_folder_that_does_not_exist_is_found_out_before(tmp_path: Path) -> None:
    link = tmp_path / "link.json"
    link.symlink_to("none/out.json")
    with pytest.raises(Failed, match="its folder does not exist"):
        check_place(str(link))


def test_a_pipe_is_written_into_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe, link, read = tmp_path / "pipe", tmp_path / "link", list[bytes]()
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    for name in (pipe, link):
        reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
        reader.start()
        check_place(str(name))
        replace_file(name, b"document")
        reader.join(10)
    assert read == [b"document", b"document"]
    assert pipe.is_fifo()


def test_a_failure_leaves_the_old_file_and_no_half_of_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out.json"
    path.write_bytes(b"old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("host.documents.os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        replace_file(path, b"new")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])


@pytest.mark.parametrize("name", ["x" * 300, "none/" + "x" * 300])
def test_a_name_that_is_too_long_for_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(Failed, match="too long" if "/" not in name else "its folder does not exist"):
        check_place(str(tmp_path / name))
