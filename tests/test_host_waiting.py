"""Waiting for a port: until it takes a connection, not longer than allowed, and not when the user has had enough."""

import socket
import time

import pytest

from host.waiting import await_port
from protocol.failures import Code
from tests.peers.process import free_port


def never() -> bool:
    return False


def test_a_port_that_listens_is_not_waited_for_and_gets_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert await_port(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp?x=1", 0, never) is None
        peer, _ = listener.accept()
        with peer:
            assert peer.recv(10) == b""


def test_a_port_that_listens_later_is_waited_for() -> None:
    port = free_port()
    asked: list[float] = []
    listeners: list[socket.socket] = []

    def stopped() -> bool:
        asked.append(time.monotonic())
        if len(asked) == 3:
            listeners.append(socket.create_server(("127.0.0.1", port)))
        return False

    try:
        assert await_port(f"http://127.0.0.1:{port}/mcp", 60, stopped) is None
        assert len(asked) == 3
    finally:
        for listener in listeners:
            listener.close()


def test_a_port_that_never_listens_is_given_up() -> None:
    began = time.monotonic()
    failure = await_port(f"http://127.0.0.1:{free_port()}/mcp", 0.3, never)
    assert failure is not None
    assert failure.code is Code.UNREACHABLE
    assert 0.3 <= time.monotonic() - began < 5


@pytest.mark.parametrize("host", ["nowhere.invalid", "[::1]"])
def test_a_host_that_is_not_there_is_given_up_too(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: object, **_named: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "create_connection", unknown)
    assert await_port(f"https://{host}/mcp", 0, never) is not None


def test_whoever_has_had_enough_waits_no_longer() -> None:
    answers = iter([False, True])
    assert await_port(f"http://127.0.0.1:{free_port()}/mcp", 3600, lambda: next(answers)) is None
