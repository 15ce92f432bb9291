"""How a connection was made, or how far that came: addresses, TLS, and why a certificate was refused."""

import socket
import ssl
import threading
from typing import Any

import pytest
import trustme

from tests.fakes.http_server import HttpServer, McpScript
from tests.fakes.mcp_connections import call, connection_at, connection_to
from tests.peers.process import free_port


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA(organization_name="Desk Authority")


def secured(authority: trustme.CA, name: str = "127.0.0.1") -> HttpServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return HttpServer(McpScript(), tls=context)


def network(server: HttpServer, authority: trustme.CA | None) -> dict[str, Any]:
    pem = authority.cert_pem.bytes() if authority else None
    with connection_to(server, authority=pem) as connection:
        assert connection.network == {}
        connection.initialize()
        return connection.network


def test_a_plain_connection_tells_its_address() -> None:
    with HttpServer(McpScript()) as server:
        assert network(server, None) == {"addresses": ["127.0.0.1"], "address": "127.0.0.1"}


def test_a_secure_connection_tells_version_cipher_and_certificate(authority: trustme.CA) -> None:
    with secured(authority) as server:
        found = network(server, authority)["tls"]
    assert found.pop("cipher")
    certificate = found.pop("certificate")
    assert found == {"version": "TLSv1.3"}
    assert (certificate["issuer"], certificate["names"]) == ("Desk Authority", ["127.0.0.1"])
    assert certificate["notBefore"] < certificate["notAfter"]


def test_a_certificate_of_an_unknown_authority_is_told_by_its_reason(authority: trustme.CA) -> None:
    with secured(authority) as server:
        found = network(server, None)
    assert found["address"] == "127.0.0.1"
    assert found["tls"]["verifyCode"] in (18, 19, 20, 21)
    assert "certificate" in found["tls"]["reason"]


def test_a_certificate_for_another_name_is_told_by_its_reason(authority: trustme.CA) -> None:
    with secured(authority, "desk.example.com") as server:
        assert network(server, authority)["tls"]["verifyCode"] == 64


def test_a_port_that_speaks_no_tls_is_told_without_a_code() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(65536)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with connection_at(f"https://127.0.0.1:{listener.getsockname()[1]}/mcp") as connection:
            connection.initialize()
            found = connection.network["tls"]
        thread.join(10)
    assert found["verifyCode"] is None
    assert found["reason"]


def test_a_closed_port_leaves_the_addresses() -> None:
    with connection_at(f"http://127.0.0.1:{free_port()}/mcp") as connection:
        connection.initialize()
        assert connection.network == {"addresses": ["127.0.0.1"]}


def test_a_name_that_is_not_found_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_arguments: Any, **_named: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with connection_at("http://desk.invalid/mcp") as connection:
        connection.initialize()
        assert connection.network == {}


def test_every_address_of_a_host_is_told_but_not_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with HttpServer(McpScript()) as server:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", server.port))]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_arguments, **_named: found * 40)
        with connection_at(server.url.replace("127.0.0.1", "desk.test")) as connection:
            connection.initialize()
            assert connection.network == {"addresses": ["127.0.0.1"] * 16, "address": "127.0.0.1"}


def test_it_is_the_first_connection_that_is_told_of() -> None:
    def close(_: Any, peer: Any) -> None:
        peer.reply(401, b"", ("Connection", "close"))

    with HttpServer(McpScript({"tools/call": close})) as server, connection_to(server) as connection:
        connection.initialize()
        first = connection.network
        call(connection)
        call(connection)
        assert connection.network is first
