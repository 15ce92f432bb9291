"""The two files that the plugin reads: a per-run token, and certificate authorities."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from plugin.certificates import read_authorities
from plugin.tokenfile import read_token
from protocol.failures import Code, Failed

TOKEN = b"run-token-0123456789"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "private-tokens"
    made.mkdir(mode=0o700)
    return made


def put(folder: Path, content: bytes = TOKEN, name: str = "key", mode: int = 0o600) -> Path:
    file = folder / name
    file.write_bytes(content)
    file.chmod(mode)
    return file


def refusal(folder: Path | str, name: str = "key") -> str:
    with pytest.raises(Failed) as caught:
        read_token(str(folder), name)
    assert caught.value.code is Code.TOKEN_FILE_REFUSED
    message = caught.value.failure.message
    assert "private-tokens" not in message
    assert TOKEN.decode() not in message
    return message


@pytest.mark.parametrize("around", [b"", b"\n", b"\r\n", b" \t\n"])
@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_token_is_read_without_the_white_space_around_it(folder: Path, around: bytes, mode: int) -> None:
    put(folder, around + TOKEN + around, mode=mode)
    assert read_token(str(folder), "key") == TOKEN.decode()


@pytest.mark.requirement("token.content")
@pytest.mark.parametrize("content", [b"12345678", b"!" * 16_384])
def test_tokens_are_admitted_at_their_limits(folder: Path, content: bytes) -> None:
    put(folder, content)
    assert read_token(str(folder), "key") == content.decode()


@pytest.mark.requirement("token.content")
@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"1234567", b"two tokens", b"token\0null", "tökentöken".encode(), b"\xff" * 8, b"line-one\nline-two"],
)
def test_what_is_no_printable_token_is_refused(folder: Path, content: bytes) -> None:
    put(folder, content)
    assert "one printable token of 8 or more characters" in refusal(folder)


@pytest.mark.requirement("token.content")
def test_a_file_of_one_byte_too_many_is_refused(folder: Path) -> None:
    put(folder, b"!" * 16_384 + b"\n")
    assert "more than 16384 bytes" in refusal(folder)


@pytest.mark.requirement("token.file")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o700, 0o622, 0o4600])
def test_a_file_that_more_than_its_owner_may_use_is_refused(folder: Path, mode: int) -> None:
    put(folder, mode=mode)
    assert "wider mode than 0600" in refusal(folder)


@pytest.mark.requirement("token.directory")
@pytest.mark.parametrize("mode", [0o750, 0o705, 0o701, 0o720])
def test_a_directory_that_others_may_use_is_refused(folder: Path, mode: int) -> None:
    put(folder)
    folder.chmod(mode)
    assert "mode 0700" in refusal(folder)


@pytest.mark.requirement("token.directory")
def test_a_stricter_directory_is_admitted(folder: Path) -> None:
    put(folder)
    folder.chmod(0o500)
    assert read_token(str(folder), "key") == TOKEN.decode()
    folder.chmod(0o700)


@pytest.mark.requirement("token.file")
def test_a_file_with_a_second_link_is_refused(folder: Path) -> None:
    os.link(put(folder), folder / "other")
    assert "more than one link" in refusal(folder)


@pytest.mark.requirement("token.file")
def test_a_link_in_place_of_the_file_is_refused(folder: Path) -> None:
    (folder / "link").symlink_to(put(folder))
    assert "cannot be read" in refusal(folder, "link")


def test_a_link_in_place_of_the_directory_is_refused(folder: Path, tmp_path: Path) -> None:
    put(folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert "cannot be opened as a directory" in refusal(link)


@pytest.mark.requirement("token.file")
@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path, 0o600), lambda path: os.mkdir(path, 0o600)])
def test_what_is_no_regular_file_is_refused_without_blocking(folder: Path, make: Callable[[Path], None]) -> None:
    make(folder / "key")
    assert "not a regular file" in refusal(folder)


def test_a_socket_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir(mode=0o700)
    listener = socket.socket(socket.AF_UNIX)
    try:
        listener.bind(str(folder / "key"))
        assert "cannot be read" in refusal(folder)
    finally:
        listener.close()


def test_a_missing_file_and_a_missing_directory_are_told_apart(folder: Path) -> None:
    assert refusal(folder) == "The token file `key` cannot be read (No such file or directory)."
    assert (
        refusal(folder / "none") == "The token directory cannot be opened as a directory (No such file or directory)."
    )
    put(folder)
    assert "Not a directory" in refusal(folder / "key")


@pytest.mark.requirement("token.directory", "token.file")
@pytest.mark.parametrize("whose", ["directory", "file"])
def test_what_belongs_to_another_user_is_refused(folder: Path, whose: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put(folder)
    user = os.geteuid()
    answers = iter([user + 1] if whose == "directory" else [user, user + 1])
    monkeypatch.setattr(os, "geteuid", lambda: next(answers))
    assert "belongs to another user" in refusal(folder)


PEM = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"


def authorities_refusal(path: Path) -> str:
    with pytest.raises(Failed) as caught:
        read_authorities(str(path))
    assert caught.value.code is Code.INVALID_BINDING
    assert str(path) not in caught.value.failure.message
    return caught.value.failure.message


def test_authorities_are_read_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(PEM)
    (tmp_path / "link.pem").symlink_to(tmp_path / "ca.pem")
    assert read_authorities(str(tmp_path / "link.pem")) == PEM


@pytest.mark.requirement("field.ca-file.limit")
def test_authorities_have_at_most_256_kib(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_bytes(PEM.ljust(256 * 1024))
    assert len(read_authorities(str(file))) == 256 * 1024
    file.write_bytes(PEM.ljust(256 * 1024 + 1))
    assert "more than 262144 bytes" in authorities_refusal(file)


def test_other_files_are_refused_as_authorities(tmp_path: Path) -> None:
    assert "No such file" in authorities_refusal(tmp_path / "none")
    assert "not a regular file" in authorities_refusal(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in authorities_refusal(tmp_path / "pipe")
    (tmp_path / "text").write_text("no certificate")
    assert "no certificate in PEM form" in authorities_refusal(tmp_path / "text")
