"""Which scenarios of the public MCP conformance suite are run, and what binding each of them asks for."""

from collections.abc import Mapping
from typing import Any

__all__ = ["FORCED", "REVISIONS", "binding"]

#: Revisions whose client scenarios are run, every one that the suite lists for them.
REVISIONS = ("2025-11-25", "2025-03-26")

#: Scenarios of 2026-07-28 about a safe sign-in, and an extension, which hold on the wire of 2025-11-25 as well.
FORCED = (
    "auth/iss-supported",
    "auth/iss-not-advertised",
    "auth/iss-supported-missing",
    "auth/iss-wrong-issuer",
    "auth/iss-unexpected",
    "auth/iss-normalized",
    "auth/resource-mismatch",
    "auth/authorization-server-migration",
    "auth/metadata-issuer-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
    "auth/client-credentials-basic",
)

#: Scenario -> what its binding holds beside the endpoint.
BINDINGS: Mapping[str, Mapping[str, Any]] = {
    "elicitation-sep1034-client-defaults": {"elicitation": "defaults"},
    "sse-retry": {"resume": True, "sessionCleanup": "server-managed"},
}

#: The suite's issuers are http on loopback, and it judges what a client makes of whichever method they support.
OAUTH: Mapping[str, Any] = {
    "issuer": "listed",
    "allowLoopbackHttp": True,
    "clientAuthentication": "any",
    "stepUp": True,
    "consentTimeoutMs": 10_000,
}

#: The client id that the suite's document stands at.
DOCUMENT = "https://conformance-test.local/client-metadata.json"

#: Scenario -> what its `oauth` holds beside or in place of the above.
OAUTH_OF: Mapping[str, Mapping[str, Any]] = {
    "auth/basic-cimd": {"clientMetadataUrl": DOCUMENT},
    "auth/2025-03-26-oauth-metadata-backcompat": {"issuer": "endpoint", "compat": "2025-03-26"},
    "auth/2025-03-26-oauth-endpoint-fallback": {"issuer": "endpoint", "compat": "2025-03-26"},
    "auth/offline-access-scope": {"refresh": True},
    "auth/offline-access-not-supported": {"refresh": True},
}


def binding(scenario: str, context: Mapping[str, str], scopes: list[str]) -> dict[str, Any]:
    """Return the binding of a scenario: ``context`` is the suite's, ``scopes`` are what was asked for so far."""
    if not scenario.startswith("auth/"):
        return dict(BINDINGS.get(scenario, {}))
    oauth = {**OAUTH, **OAUTH_OF.get(scenario, {})}
    if scopes:
        oauth["scopes"] = scopes
    if "client_secret" in context:
        oauth |= {"clientId": context["client_id"], "clientSecret": context["client_secret"]}
        by_secret = scenario == "auth/client-credentials-basic"
        oauth |= {"grant": "client_credentials"} if by_secret else {"callbackPath": "/callback"}
    return {"oauth": oauth, "sessionCleanup": "server-managed"}
