"""The files of the offline verbs: nothing but a regular file is read, within its bound, and nobody is waited for."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from contract.core.document import CALL, CATALOG, REGISTRY, Document
from contract.core.refusal import Refusal
from contract.files import read_file
from protocol.files import Content, IrregularFile, read_regular
from tests.contract_documents import refusal

KINDS = pytest.mark.parametrize("kind", [REGISTRY, CATALOG, CALL], ids=lambda kind: kind.name)


def refused(kind: Document, path: Path | str) -> Refusal | None:
    return refusal(read_file, kind, str(path))


@KINDS
def test_a_file_is_read_up_to_its_bound(kind: Document, tmp_path: Path) -> None:
    file = tmp_path / "file"
    for size, wanted in ((0, None), (1, None), (kind.limit, None), (kind.limit + 1, kind.too_large)):
        file.write_bytes(b"x" * size)
        assert refused(kind, file) is wanted
    file.write_bytes(b"x" * kind.limit)
    assert read_file(kind, str(file)) == b"x" * kind.limit


@KINDS
def test_a_link_is_refused_and_a_linked_folder_is_not(kind: Document, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"{}")
    (tmp_path / "link").symlink_to(tmp_path / "folder" / "file")
    (tmp_path / "way").symlink_to(tmp_path / "folder")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert refused(kind, tmp_path / "link") is kind.unreadable
    assert refused(kind, tmp_path / "loop") is kind.unreadable
    assert read_file(kind, str(tmp_path / "way" / "file")) == b"{}"


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        # A socket's whole path is short; one below the folder itself is.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{folder}/{path.name}" if os.path.isdir("/proc/self/fd") else str(path))
        finally:
            os.close(folder)


@KINDS
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, bound], ids=["pipe", "directory", "socket"])
def test_a_pipe_a_directory_and_a_socket_are_refused_without_waiting(
    kind: Document, make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "odd")
    assert refused(kind, tmp_path / "odd") is kind.unreadable


@KINDS
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/tty"])
def test_a_device_is_refused(kind: Document, device: str) -> None:
    assert refused(kind, device) is kind.unreadable


@KINDS
@pytest.mark.parametrize("name", ["none", "none/file", "", "\0", "\ud800", "x" * 5000])
def test_what_is_not_there_is_refused_alike(kind: Document, name: str, tmp_path: Path) -> None:
    assert refused(kind, f"{tmp_path}/{name}" if name else "") is kind.unreadable


@KINDS
def test_a_file_that_may_not_be_read_is_refused(
    kind: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> int:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "file").write_bytes(b"{}")
    monkeypatch.setattr(os, "open", refuse)
    assert refused(kind, tmp_path / "file") is kind.unreadable


def disturb(monkeypatch: pytest.MonkeyPatch, deed: Callable[[], object], *, count: int = 1) -> None:
    """Have something happen right after each of the first reads of a descriptor."""
    read, left = os.read, [count]

    def disturbed(descriptor: int, size: int) -> bytes:
        part = read(descriptor, size)
        if left[0]:
            left[0] -= 1
            deed()
        return part

    monkeypatch.setattr(os, "read", disturbed)


@KINDS
@pytest.mark.parametrize(("step", "count", "endless"), [(1, 1, False), (10_000, 10**6, True)])
def test_a_file_that_grows_while_it_is_read_is_refused_and_left_at_its_bound(
    kind: Document, step: int, count: int, endless: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"{}")

    def grow() -> None:
        with file.open("ab") as more:
            more.write(b" " * step)

    disturb(monkeypatch, grow, count=count)
    assert refused(kind, file) is (kind.too_large if endless else kind.changed)
    assert file.stat().st_size < kind.limit + 3 * step


@pytest.mark.parametrize("change", ["shrinks", "is written to"])
def test_a_file_that_changes_otherwise_is_refused(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"{ }")

    def rewrite() -> None:
        if change == "shrinks":
            os.truncate(file, 1)
        else:
            os.utime(file, ns=(1, 1))

    disturb(monkeypatch, rewrite)
    assert refused(REGISTRY, file) is Refusal.REGISTRY_CHANGED


def test_a_file_that_does_not_say_how_long_it_is_counts_as_changed() -> None:
    if os.path.exists("/proc/self/status"):
        assert refused(REGISTRY, "/proc/self/status") is Refusal.REGISTRY_CHANGED


def test_what_is_read_tells_nothing_of_itself() -> None:
    content = read_regular(__file__, 10)
    assert isinstance(content, Content)
    assert (len(content.data), repr(content), content.changed) == (11, "<Content of 11 bytes>", False)


def test_a_link_is_followed_where_that_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"whole")
    (tmp_path / "link").symlink_to("file")
    assert read_regular(str(tmp_path / "link"), 9, follow=True).data == b"whole"
    folder = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_regular("file", 9, folder=folder).data == b"whole"
    finally:
        os.close(folder)
    with pytest.raises(OSError, match="symbolic"):
        read_regular(str(tmp_path / "link"), 9)
    with pytest.raises(IrregularFile):
        read_regular(str(tmp_path), 9, follow=True)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"{}")
    before = os.dup(0)
    os.close(before)
    for path in (tmp_path / "file", tmp_path, tmp_path / "none"):
        refused(REGISTRY, path)
    after = os.dup(0)
    os.close(after)
    assert after == before
