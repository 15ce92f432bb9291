"""The person's own browser: the page that sends it on, who else may ask that page, and a browser that is not there."""

import socket
import struct
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from host.desktop import Signpost, open_browser
from tests.fakes.browser import get

TARGET = "https://auth.example.com/authorize?state=private-state"


def test_a_signpost_sends_its_first_visitor_on_and_nobody_else() -> None:
    with Signpost(TARGET) as signpost:
        wrong = get(signpost.url + "x")
        first, second = get(signpost.url), get(signpost.url)
    assert [page.status for page in (wrong, first, second)] == [404, 303, 404]
    assert first.headers["location"] == TARGET
    assert first.headers["cache-control"] == "no-store"
    assert "private-state" not in signpost.url
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", urlsplit(signpost.url).port or 0)) != 0


@pytest.mark.parametrize("outcome", [OSError("no such program"), False])
def test_a_browser_that_does_not_open_is_told(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> None:
    def fail(_url: str) -> Any:
        if isinstance(outcome, OSError):
            raise outcome
        return outcome

    monkeypatch.setattr("webbrowser.open", fail)
    told = threading.Event()
    open_browser("http://127.0.0.1:1/x", (), told.set)
    assert told.wait(20)


def test_a_browser_that_opens_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, told = threading.Event(), threading.Event()
    monkeypatch.setattr("webbrowser.open", lambda _url: closed.wait(20))
    browser = open_browser("http://127.0.0.1:1/x", (), told.set)
    assert browser.is_alive()
    closed.set()
    browser.join(20)
    assert not told.is_set()


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        (b"HEAD / HTTP/1.1\r\n\r\n", b"HTTP/1.0 501 Not Implemented\r\nContent-Length: 0\r\n\r\n"),
        (b"GET / HTTP/99999\r\n\r\n", b""),
        (b"\x16\x03\x01 nonsense\r\n\r\n", b""),
    ],
)
def test_a_signpost_does_not_say_what_it_is(request_: bytes, answer: bytes) -> None:
    with Signpost(TARGET) as signpost, visit(signpost) as visitor:
        visitor.sendall(request_)
        assert b"".join(iter(lambda: visitor.recv(4096), b"")) == answer


def test_a_visitor_who_cannot_be_told_the_way_does_not_use_it_up() -> None:
    with Signpost(TARGET) as signpost:
        with visit(signpost) as visitor:
            visitor.sendall(f"GET {urlsplit(signpost.url).path}\r\n\r\n".encode())
            assert visitor.recv(4096) == b""
        assert (signpost.awaited, get(signpost.url).status, signpost.awaited) == (True, 303, False)


def test_a_visitor_who_hangs_up_is_nothing_to_talk_about(capfd: pytest.CaptureFixture[str]) -> None:
    with Signpost(TARGET) as signpost:
        with visit(signpost) as visitor:
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            visitor.sendall(b"GET /")
        assert get(signpost.url).status == 303
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(20)
    assert capfd.readouterr() == ("", "")


def test_a_visitor_who_says_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("host.desktop._Visit.timeout", 0.05)
    with Signpost(TARGET) as signpost, visit(signpost) as visitor:
        assert visitor.recv(4096) == b""


def visit(signpost: Signpost) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(signpost.url).port or 0), timeout=20)
