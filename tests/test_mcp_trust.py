"""TLS on loopback: the binding's own authority beside the system's, and what each failure of trust is called."""

import re
import socket
import ssl
import threading
from typing import Any

import pytest
import trustme

from protocol.failures import Code, Failed
from protocol.mcp.trust import tls_context
from tests.fakes.http_server import HttpServer, McpScript
from tests.fakes.mcp_connections import call, connection_at, connection_to


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def secured(script: McpScript, authority: trustme.CA, name: str = "127.0.0.1") -> HttpServer:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    return HttpServer(script, tls=context)


def pem(authority: trustme.CA) -> bytes:
    return authority.cert_pem.bytes()


def refused(server: HttpServer, authority: bytes | None, **settings: Any) -> Any:
    with connection_to(server, authority=authority, **settings) as connection:
        outcome = connection.initialize()
    assert server.requests == []
    return outcome


def test_a_server_of_the_added_authority_is_trusted(authority: trustme.CA) -> None:
    script = McpScript(sse=True)
    with secured(script, authority) as server, connection_to(server, authority=pem(authority)) as connection:
        assert connection.initialize().kind == "result"
        for _ in range(3):
            assert call(connection).kind == "result"
        large = connection.request("tools/call", {"name": "x" * 1_000_000})
        assert large.kind == "result"
        assert connection.end().value == {"delete": "confirmed"}
    assert len({request.connection for request in server.seen("tools/call")}) == 1


def test_a_name_is_checked_against_the_certificate(authority: trustme.CA) -> None:
    with secured(McpScript(), authority, "localhost") as server:
        outcome = refused(server, pem(authority))
        assert (outcome.kind, outcome.code) == ("unsent", Code.TLS_FAILED)
        assert "the certificate is not trusted" in outcome.message
        origin = f"https://localhost:{server.port}"
        with connection_at(f"{origin}/mcp", authority=pem(authority)) as connection:
            assert connection.initialize().kind == "result"


def test_without_the_authority_the_server_is_not_trusted(authority: trustme.CA) -> None:
    with secured(McpScript(), authority) as server:
        for other in (None, pem(trustme.CA())):
            outcome = refused(server, other)
            assert (outcome.kind, outcome.code, outcome.closes) == ("unsent", Code.TLS_FAILED, True)
            assert re.search(
                r"No secure connection to https://\S+:\d+: the certificate is not trusted", outcome.message
            )


@pytest.mark.requirement("field.ca-file")
def test_the_added_authority_stands_beside_the_system_s(
    authority: trustme.CA, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """OpenSSL's default file stands for the system's store; both servers are trusted by one transport."""
    system = trustme.CA()
    store = tmp_path / "system.pem"
    store.write_bytes(pem(system))
    monkeypatch.setenv("SSL_CERT_FILE", str(store))
    for issuer in (system, authority):
        with secured(McpScript(), issuer) as server, connection_to(server, authority=pem(authority)) as connection:
            assert connection.initialize().kind == "result"


def test_plain_http_behind_an_https_endpoint_is_a_tls_failure() -> None:
    def speak_plainly() -> None:
        caller, _ = listener.accept()
        with caller:
            caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            caller.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=speak_plainly)
        thread.start()
        origin = f"https://127.0.0.1:{listener.getsockname()[1]}"
        with connection_at(origin) as connection:
            outcome = connection.initialize()
        thread.join()
    assert (outcome.kind, outcome.code) == ("unsent", Code.TLS_FAILED)


@pytest.mark.parametrize("closes", [True, False])
def test_a_handshake_that_ends_or_hangs_is_told_apart(closes: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"https://127.0.0.1:{listener.getsockname()[1]}"
        if closes:
            listener.close()
        with connection_at(origin, timeout=0.5) as connection:
            outcome = connection.initialize()
    expected = Code.UNREACHABLE if closes else Code.TIMEOUT
    assert (outcome.kind, outcome.code) == ("unsent", expected)
    assert closes or "during the TLS handshake" in outcome.message


def test_several_authorities_and_comments_may_stand_in_one_file(authority: trustme.CA) -> None:
    bundle = "# Zertifikate f\u00fcr Tests\n".encode() + pem(trustme.CA()) + b"\n" + pem(authority)
    with secured(McpScript(), authority) as server, connection_to(server, authority=bundle) as connection:
        assert connection.initialize().kind == "result"


@pytest.mark.parametrize("bundle", [b"", b"no PEM", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_an_authority_that_is_no_certificate_is_an_invalid_binding(bundle: bytes) -> None:
    with pytest.raises(Failed) as caught:
        tls_context(bundle)
    assert caught.value.code is Code.INVALID_BINDING
    assert "caFile" in str(caught.value)


def test_such_an_authority_refuses_the_connection_before_anything_is_sent(authority: trustme.CA) -> None:
    with secured(McpScript(), authority) as server:
        outcome = refused(server, b"no PEM")
        assert (outcome.kind, outcome.code) == ("unsent", Code.INVALID_BINDING)
    assert server.accepted == 0


def test_a_context_verifies_certificates_and_names() -> None:
    context = tls_context(None)
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
