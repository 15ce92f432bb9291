"""`discover`: where a token would come from, without a client and without consent."""

import pytest

from tests.fakes.authorization_server import (
    RESOURCE_PATH,
    SERVER_PATH,
    AuthorizationServer,
)
from tests.fakes.plugin_bench import bench


@pytest.mark.requirement("oauth.look-first")
def test_discovery_tells_where_a_token_would_come_from_and_changes_nothing() -> None:
    with AuthorizationServer() as server, bench(server, bearerToken="token-of-the-binding") as plugin:
        found = plugin.discover()
        assert (found["status"], found["effect"], found["state"]) == ("succeeded", "observe", None)
        assert found["message"] == f"A sign-in can begin at the issuer {server.origin}."
        assert found["facts"]["demand"] == {
            "metadata": f"{server.origin}{RESOURCE_PATH}",
            "scopes": ["tools.read"],
            "error": None,
        }
        assert found["facts"]["found"] == {
            "issuer": server.origin,
            "resource": "[redacted]",
            "resourceScopes": None,
            "scopes": None,
            "grants": ["authorization_code", "refresh_token", "client_credentials"],
            "tokenMethods": ["none"],
            "registration": True,
            "metadataDocuments": False,
            "issuerInCallback": True,
        }
        assert [entry["document"] for entry in found["facts"]["signIn"]] == [
            "challenge",
            "protected resource metadata",
            "authorization server metadata",
        ]
        assert server.asked == ["POST /mcp", f"GET {RESOURCE_PATH}", f"GET {SERVER_PATH}"]
        assert not any("authorization" in request.headers for request in server.requests)


@pytest.mark.requirement("oauth.record")
def test_discovery_that_fails_keeps_its_record() -> None:
    with AuthorizationServer() as server, bench(server) as plugin:
        server.metadata["issuer"] = "https://elsewhere.example"
        found = plugin.discover()
        assert (found["status"], found["code"]) == ("failed", "oauth_issuer_mismatch")
        assert found["facts"]["signIn"][-1]["taken"] is False
        assert "found" not in found["facts"]
        assert plugin.outcome("connect", expect={"status": 401}) == ("succeeded", None, "refused")


@pytest.mark.requirement("oauth.request-time")
def test_each_request_of_a_discovery_has_the_time_of_the_binding() -> None:
    with AuthorizationServer() as server, bench(server, timeoutMs=1_000) as plugin:
        server.routes[f"GET {RESOURCE_PATH}"] = lambda _, peer: peer.hold()
        record = plugin.discover()["facts"]["signIn"]
        reasons = [entry["reason"] for entry in record if entry["status"] is None]
        assert reasons[0].startswith("no usable reply: The deadline of 1 s passed")
