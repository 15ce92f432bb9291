"""`connect`: what is negotiated, which refusals can be expected, and what is never contacted."""

import json
import ssl
from pathlib import Path

import pytest
import trustme

from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import SUCCEEDED_OPEN, answer, cut


@pytest.mark.requirement("command.connect")
def test_connect_reports_what_was_negotiated() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("connect")
        assert (seen["status"], seen["code"], seen["message"]) == (
            "succeeded",
            None,
            "Connected with protocol 2025-11-25.",
        )
        assert seen["state"] == {
            "kind": "initialized",
            "protocol": "2025-11-25",
            "server": {"name": "scripted", "version": "1"},
            "capabilities": {"tools": {}},
            "headers": [],
        }
        assert seen["facts"]["session"]["protocol"] == "2025-11-25"
        assert seen["facts"]["http"]["status"] == 200
        assert plugin.learnt == ["session-0123456789"]
        assert server.seen("initialize")[0].json["params"]["clientInfo"]["name"] == "assay-mcp"


@pytest.mark.requirement("limits.revisions")
@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"])
def test_connect_accepts_every_revision_of_the_seed(revision: str) -> None:
    with HttpServer(McpScript(revision=revision)) as server, bench(server) as plugin:
        assert plugin.run("connect")["state"]["protocol"] == revision


@pytest.mark.requirement("limits.revisions")
def test_another_revision_is_not_supported_and_refuses_the_alias() -> None:
    with HttpServer(McpScript(revision="2030-01-01")) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", "version_unsupported", "refused")
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert len(server.seen("initialize")) == 1


@pytest.mark.requirement(
    "identity.kinds", "public-headers.object", "public-headers.every-request", "public-headers.evidence"
)
def test_public_headers_go_on_every_request_and_their_sorted_names_are_recorded() -> None:
    with HttpServer(McpScript()) as server, bench(server, headers={"X-Key": "key-12345"}) as plugin:
        seen = plugin.run("connect", headers={"x_tenant": "test-tenant", "X-Region": "eu"})
        plugin.run("tools")
        plugin.run("disconnect")
        assert seen["state"]["headers"] == ["X-Region", "X_tenant"]
        assert "test-tenant" not in json.dumps(seen)
        server.wait_for(lambda server: bool(server.seen("GET")))
        for request in server.requests:
            assert (request.headers["x_tenant"], request.headers["x-region"]) == ("test-tenant", "eu")
            assert request.headers["x-key"] == "key-12345"


@pytest.mark.requirement("identity.kinds", "field.bearer-token")
def test_a_bearer_token_goes_on_every_request() -> None:
    with HttpServer(McpScript()) as server, bench(server, bearerToken="token-12345") as plugin:
        plugin.run("connect")
        plugin.run("disconnect")
        assert {request.headers.get("authorization") for request in server.requests} == {"Bearer token-12345"}


@pytest.mark.requirement(
    "anonymous.refused", "refused.later-commands", "command.connect", "expect.status", "limits.no-old-transport"
)
@pytest.mark.parametrize("status", [301, 401, 403, 404, 405, 408, 429, 500, 503])
def test_an_expected_status_of_a_refused_initialization_succeeds(status: int) -> None:
    script = McpScript(on={"initialize": answer(status, b"no", kind="text/plain")})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": status})
        assert (seen["status"], seen["code"], seen["facts"]["connection"]) == ("succeeded", None, "refused")
        assert seen["state"] == {"kind": "refused", "status": status, "headers": []}
        assert plugin.outcome("tools") == ("failed", "not_connected", "refused")
        assert len(server.requests) == 1


@pytest.mark.parametrize("status", [200, 400])
def test_a_json_rpc_refusal_of_initialize_has_its_http_status(status: int) -> None:
    script = McpScript(on={"initialize": Refusal(-32000, "no", {"why": "x"}, status=status)})
    with HttpServer(script) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": status})
        assert seen["status"] == "succeeded"
        assert seen["facts"]["refusal"] == {"code": -32000, "message": "no", "data": {"why": "x"}}


@pytest.mark.parametrize(("status", "code"), [(200, "unexpected_refusal"), (400, "http_status"), (500, "http_status")])
def test_without_expect_a_json_rpc_refusal_of_initialize_fails_by_its_status(status: int, code: str) -> None:
    script = McpScript(on={"initialize": Refusal(-32000, "no", status=status)})
    with HttpServer(script) as server, bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", code, "refused")


@pytest.mark.requirement("expect.status")
def test_another_status_than_expected_fails() -> None:
    with HttpServer(McpScript(on={"initialize": answer(403)})) as server, bench(server) as plugin:
        seen = plugin.run("connect", expect={"status": 401})
        assert (seen["status"], seen["code"]) == ("failed", "expectation_failed")
        assert seen["message"] == "Expected HTTP 401 to refuse the session; it was refused with HTTP 403."


@pytest.mark.requirement("command.connect")
def test_an_expected_status_fails_on_a_session_that_is_initialized() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        assert plugin.outcome("connect", expect={"status": 401}) == ("failed", "expectation_failed", "open")


def test_an_expected_status_does_not_stand_in_for_a_lost_reply() -> None:
    with HttpServer(McpScript(on={"initialize": cut})) as server, bench(server) as plugin:
        assert plugin.outcome("connect", expect={"status": 200}) == ("failed", "reply_lost", "refused")


def test_a_refusal_keeps_its_challenge_and_512_characters_of_its_body() -> None:
    token = "token-12345"
    body = ("x" * 500 + token + "y" * 600).encode()
    challenge = ("WWW-Authenticate", 'Bearer realm="mcp", error="invalid_token"')
    script = McpScript(on={"initialize": answer(401, body, challenge, kind="text/plain")})
    with HttpServer(script) as server, bench(server, bearerToken=token) as plugin:
        seen = plugin.run("connect")
        assert (seen["status"], seen["code"]) == ("failed", "http_status")
        assert seen["facts"]["http"]["body"] == "x" * 500 + "[redacted]" + "yy"
        assert seen["facts"]["http"]["challenge"][0]["scheme"].lower() == "bearer"


@pytest.mark.requirement("public-headers.first")
def test_connecting_again_is_refused() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run("tools")
        again = plugin.run("connect")
        assert (again["status"], again["code"], again["facts"]["connection"]) == ("failed", "binding_fixed", "open")
        assert again["message"].endswith(
            "it is connected already, and an alias is one session. Take this `connect` out."
        )
        assert len(server.seen("initialize")) == 1


def test_nothing_listens_there() -> None:
    with HttpServer(McpScript()) as server:
        pass
    with bench(server) as plugin:
        assert plugin.outcome("connect") == ("failed", "unreachable", "refused")
        assert plugin.outcome("disconnect") == ("succeeded", None, "disconnected")


@pytest.mark.requirement("origins.admitted")
def test_an_origin_that_is_not_admitted_is_not_contacted() -> None:
    with HttpServer(McpScript()) as server, bench(server, origins=["http://127.0.0.1:1"]) as plugin:
        seen = plugin.run("connect")
        assert (seen["code"], seen["facts"]["connection"]) == ("origin_not_admitted", "refused")
        assert f"http://127.0.0.1:{server.port}" in seen["message"]
        assert server.requests == []


def test_a_missing_certificate_file_is_a_wrong_binding_and_nothing_is_contacted(tmp_path: Path) -> None:
    with HttpServer(McpScript()) as server, bench(server, caFile=str(tmp_path / "ca.pem")) as plugin:
        seen = plugin.run("connect")
        assert (seen["code"], seen["facts"]["connection"]) == ("invalid_binding", "refused")
        assert str(tmp_path) not in json.dumps(seen)
        assert server.requests == []


@pytest.mark.requirement("transport.streamable-http", "field.ca-file")
def test_the_authorities_of_a_binding_are_added_to_the_system_s(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path / "ca.pem"
    file.write_bytes(authority.cert_pem.bytes())
    with HttpServer(McpScript(), tls=context) as server:
        with bench(server) as plugin:
            assert plugin.outcome("connect") == ("failed", "tls_failed", "refused")
        with bench(server, caFile=str(file)) as plugin:
            assert plugin.outcome("connect") == SUCCEEDED_OPEN
