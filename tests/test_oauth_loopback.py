"""The loopback listener: one path, one use, and nothing left of it."""

import contextlib
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oauth.loopback import Listener
from oauth.visit import HEAD_LIMIT, Answer, Door, Visit, answer, door, read_visit
from protocol.failures import Code, Failed
from tests.fakes.browser import get, listens

PATH = "/callback"


@pytest.fixture
def listener() -> Iterator[Listener]:
    listening = Listener("127.0.0.1", 0, PATH)
    yield listening
    listening.close(0)


def url(listener: Listener, path: str = PATH, query: str = "code=c-1&state=s-1") -> str:
    return f"http://127.0.0.1:{listener.port}{path}" + (f"?{query}" if query else "")


@pytest.mark.requirement("oauth.listener")
def test_a_callback_is_answered_with_a_redirect_that_takes_the_code_out_of_the_address_bar(listener: Listener) -> None:
    page = get(url(listener))
    assert (page.status, page.headers["location"], page.body) == (303, "/done", b"")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert listener.wait() == "code=c-1&state=s-1"
    done = get(url(listener, "/done", ""))
    assert done.status == 200
    assert done.headers["content-type"] == "text/html; charset=utf-8"
    # Nobody has looked at the callback by then: it may be a denial, or not ours.
    assert b"<title>Back from signing in</title>" in done.body
    assert b"can be closed" in done.body
    assert not re.search(rb"(?i)signed in|c-1", done.body)


@pytest.mark.requirement("oauth.listener")
def test_a_second_callback_is_refused_and_changes_nothing(listener: Listener) -> None:
    assert get(url(listener)).status == 303
    assert get(url(listener, query="code=other&state=other")).status == 410
    assert get(url(listener)).status == 410
    assert listener.wait() == "code=c-1&state=s-1"


@pytest.mark.requirement("oauth.listener")
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/", "code=1"),
        ("/callback/", "code=1"),
        ("/Callback", "code=1"),
        ("/callbac%6b", "code=1"),
        ("//callback", "code=1"),
        ("/callback", ""),
        ("/done", ""),
        ("/done", "code=1"),
        ("/favicon.ico", ""),
    ],
)
def test_everything_else_is_not_found_and_is_no_callback(listener: Listener, path: str, query: str) -> None:
    assert get(url(listener, path, query)).status == 404
    assert get(url(listener)).status == 303
    assert listener.wait() == "code=c-1&state=s-1"


@pytest.mark.parametrize("method", ["POST", "HEAD", "OPTIONS", "PUT", "BREW"])
def test_only_a_get_is_a_callback(listener: Listener, method: str) -> None:
    assert get(url(listener), method=method).status == 404
    assert get(url(listener)).status == 303


@pytest.mark.parametrize("host", ["evil.example", "localhost:{}", "127.0.0.1", "127.0.0.1:1", "[::1]:{}"])
def test_a_callback_under_another_host_name_is_not_found(listener: Listener, host: str) -> None:
    assert get(url(listener), host.format(listener.port)).status == 404
    assert get(url(listener)).status == 303


def test_a_redirect_uri_with_localhost_is_answered_under_that_name_only() -> None:
    listener = Listener("localhost", 0, PATH)
    try:
        assert get(url(listener)).status == 404
        assert get(url(listener), f"LocalHost:{listener.port}").status == 303
    finally:
        listener.close(0)


@pytest.mark.requirement("oauth.callback")
def test_it_listens_on_127_0_0_1_and_nowhere_else(listener: Listener) -> None:
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.2", listener.port)) != 0


def test_a_closed_listener_is_gone_and_its_wait_ends(listener: Listener) -> None:
    found: list[str | None] = ["nothing yet"]
    waiting = threading.Thread(target=lambda: found.append(listener.wait()))
    waiting.start()
    listener.close(5)  # no callback came, so nobody is waited for
    waiting.join(10)
    assert found == ["nothing yet", None]
    assert not listens(listener.port)
    listener.close(5)


@pytest.mark.requirement("oauth.listener-gone")
def test_a_listener_is_gone_by_itself_at_its_deadline() -> None:
    listener = Listener("127.0.0.1", 0, PATH)
    listener.expire(0.05)
    assert listener.wait() is None
    listener._thread.join(10)
    assert not listens(listener.port)
    listener.expire(60)
    listener.close(0)
    assert not listens(listener.port)


class Clock:
    """Tells the seconds that a test says; the listener looks at it again whenever somebody knocks."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def clocked(clock: Clock) -> Iterator[Listener]:
    listening = Listener("127.0.0.1", 0, PATH, clock)
    yield listening
    listening.close(0)


def is_gone(listener: Listener) -> bool:
    """Knock, so that it looks at its clock, and see whether it leaves."""
    with contextlib.suppress(OSError):
        get(url(listener, "/knock", ""))
    listener._thread.join(10)
    return not listener._thread.is_alive() and not listens(listener.port)


@pytest.mark.requirement("oauth.consent-time")
def test_the_time_for_a_callback_counts_from_when_the_page_is_open(clock: Clock, clocked: Listener) -> None:
    clock.now += 150  # a slow registration, and a browser that takes its time
    clocked.expire(120)
    clock.now += 119.9
    assert get(url(clocked, "/x", "")).status == 404
    assert get(url(clocked)).status == 303
    assert clocked.wait() == "code=c-1&state=s-1"


@pytest.mark.requirement("oauth.consent-time")
def test_the_time_for_a_callback_ends_at_its_end(clock: Clock, clocked: Listener) -> None:
    clocked.expire(120)
    clock.now += 119.9
    assert get(url(clocked, "/x", "")).status == 404
    clock.now += 0.2
    assert is_gone(clocked)
    assert clocked.wait() is None


@pytest.mark.requirement("oauth.listener-gone")
def test_a_listener_that_nobody_gives_a_deadline_has_three_minutes(clock: Clock, clocked: Listener) -> None:
    clock.now += 179.9
    assert get(url(clocked, "/x", "")).status == 404
    clock.now += 0.2
    assert is_gone(clocked)


def test_after_a_callback_a_closing_listener_stays_for_the_last_page_and_then_leaves(listener: Listener) -> None:
    get(url(listener))
    closing = threading.Thread(target=listener.close, args=(20,))
    closing.start()
    assert get(url(listener, "/done", "")).status == 200
    closing.join(10)
    assert not closing.is_alive()
    assert not listens(listener.port)


def test_a_browser_that_never_fetches_the_last_page_is_not_waited_for_longer_than_its_grace(listener: Listener) -> None:
    get(url(listener))
    started = time.monotonic()
    listener.close(0.05)
    assert time.monotonic() - started < 5
    assert not listens(listener.port)


def test_a_hurried_close_ends_a_patient_one(listener: Listener) -> None:
    get(url(listener))
    patient = threading.Thread(target=listener.close, args=(60,))
    patient.start()
    listener.close(0)
    patient.join(10)
    assert not patient.is_alive()


def test_a_port_that_is_taken_is_refused_with_what_to_change(listener: Listener) -> None:
    with pytest.raises(Failed) as failed:
        Listener("127.0.0.1", listener.port, PATH)
    assert failed.value.code is Code.INVALID_BINDING
    assert failed.value.failure.message == (
        f"The callback's port {listener.port} on 127.0.0.1 is not to be had: Address already in use. "
        "Choose another `callbackPort`."
    )


def test_a_port_can_be_had_again_right_after_it_was_used(listener: Listener) -> None:
    get(url(listener))
    listener.close(0)
    again = Listener("127.0.0.1", listener.port, PATH)
    try:
        assert get(url(again)).status == 303
    finally:
        again.close(0)


def test_connections_that_say_nothing_or_come_in_pieces_hold_nobody_up(listener: Listener) -> None:
    silent = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(5)]
    pieces = socket.create_connection(("127.0.0.1", listener.port))
    try:
        pieces.sendall(b"GET /callback?code=c-2 HTT")
        assert get(url(listener, "/x")).status == 404
        pieces.sendall(f"P/1.1\r\nHost: 127.0.0.1:{listener.port}\r\n\r\n".encode())
        assert pieces.recv(12) == b"HTTP/1.1 303"
        assert listener.wait() == "code=c-2"
    finally:
        for one in (*silent, pieces):
            one.close()


def test_a_connection_that_says_nothing_for_too_long_is_dropped(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oauth.loopback._VISIT", 0.05)
    with socket.create_connection(("127.0.0.1", listener.port)) as silent:
        silent.settimeout(10)
        assert silent.recv(1) == b""
    assert get(url(listener)).status == 303


def test_a_connection_that_is_reset_is_no_callback(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.port)) as visitor:
        visitor.sendall(b"GET /callback?code=c-2 HTTP/1.1\r\n")
        visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert get(url(listener)).status == 303
    assert listener.wait() == "code=c-1&state=s-1"


def test_a_head_past_the_limit_is_dropped(listener: Listener) -> None:
    with socket.create_connection(("127.0.0.1", listener.port)) as visitor:
        visitor.settimeout(10)
        try:
            visitor.sendall(b"GET /callback?code=" + b"a" * (2 * HEAD_LIMIT))
            assert visitor.recv(1) == b""
        except ConnectionError:
            pass
    assert get(url(listener)).status == 303


def test_a_crowd_of_connections_is_turned_away_without_losing_the_callback(listener: Listener) -> None:
    crowd = [socket.create_connection(("127.0.0.1", listener.port)) for _ in range(40)]
    for one in crowd:
        one.close()
    assert get(url(listener)).status == 303


# --- the reading and the answer, without a socket --------------------------------------------------------------

DOOR = Door(PATH, ("127.0.0.1:1",))
GOOD = Visit("GET", PATH, "code=1", "127.0.0.1:1")


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"GET /callback HTTP/1.1",
        b"GET /callback HTTP/2\r\nHost: a",
        b"GET http://127.0.0.1/callback HTTP/1.1\r\nHost: a",
        b"GET /call back HTTP/1.1\r\nHost: a",
        b"get /callback HTTP/1.1\r\nHost: a",
        b"GET /c\xc3\xa9 HTTP/1.1\r\nHost: a",
        b"GET /callback HTTP/1.1\r\nHost: a\r\nHOST: a",
        b"GET /callback HTTP/1.1\r\nHost: a b",
        b"GET /callback HTTP/1.1\nHost: a",
    ],
)
def test_a_head_that_no_browser_sends_is_no_visit(head: bytes) -> None:
    assert read_visit(head) is None


def test_a_visit_is_read_as_it_is_written() -> None:
    head = b"GET /callback?code=a%2Fb?x=1 HTTP/1.1\r\nAccept: */*\r\nhost:\t127.0.0.1:1 \r\nCookie: a=b"
    assert read_visit(head) == Visit("GET", "/callback", "code=a%2Fb?x=1", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("host", "port", "fits", "strange"),
    [
        ("127.0.0.1", 80, ["127.0.0.1", "127.0.0.1:80"], ["127.0.0.1:8080", "localhost", ""]),
        ("localhost", 80, ["localhost", "localhost:80"], ["127.0.0.1", "127.0.0.1:80"]),
        ("127.0.0.1", 8080, ["127.0.0.1:8080"], ["127.0.0.1", "127.0.0.1:80"]),
        ("127.0.0.1", 443, ["127.0.0.1:443"], ["127.0.0.1"]),
    ],
)
def test_the_default_port_of_http_may_be_left_out_as_browsers_do(
    host: str, port: int, fits: list[str], strange: list[str]
) -> None:
    opened = door(host, port, PATH)
    for named in fits:
        assert answer(GOOD._replace(host=named), opened, used=False).query == "code=1"
    for named in strange:
        assert answer(GOOD._replace(host=named), opened, used=False).query is None


@given(st.binary(max_size=80), st.booleans())
@settings(deadline=None, max_examples=200)
def test_every_head_gets_an_answer(head: bytes, used: bool) -> None:
    for bytes_read in (head, b"GET /callback?" + head, b"GET /callback?x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n" + head):
        given_answer = answer(read_visit(bytes_read), DOOR, used=used)
        assert given_answer.response.startswith(b"HTTP/1.1 ")


def test_an_answer_says_whether_it_took_the_callback_or_showed_the_last_page() -> None:
    assert answer(GOOD, DOOR, used=False).query == "code=1"
    assert answer(GOOD, DOOR, used=True)[1:] == (None, False)
    assert answer(GOOD._replace(path="/done", query=""), DOOR, used=True).done
    assert answer(None, DOOR, used=False)[1:] == (None, False)
    assert repr(answer(GOOD, DOOR, used=False)) + repr(GOOD) == "<Answer><Visit GET>"
    assert isinstance(answer(GOOD, DOOR, used=False), Answer)
