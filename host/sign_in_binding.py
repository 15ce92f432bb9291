"""What a binding has to say to sign in as `assay login` just did. Holds no secret: those stay `{"env": NAME}`."""

import json
from collections.abc import Mapping
from typing import Any, Final

from host.sign_in_words import PUBLIC_METHOD

__all__ = ["oauth_binding"]

#: Stands for the issuer that the server lists.
LISTED: Final = "listed"
#: Settings of a login that no flow takes over: it has its own time for consent.
_OWN: Final = frozenset({"consentTimeoutMs", "clientAuthentication", "allowLoopbackHttp"})


def oauth_binding(url: str, asked: Mapping[str, Any], grant: Mapping[str, Any]) -> str:
    """Return the member `oauth` of a binding as JSON text on one line.

    ``asked`` is what the login was bound to, ``grant`` the facts of what it got. What has its default is left out.
    """
    issuer = grant.get("issuer")
    # A server of 2025-03-26 lists none, and may have no metadata that a named issuer would need.
    named = isinstance(issuer, str) and asked["issuer"] == LISTED and "compat" not in asked
    oauth = {"issuer": issuer if named else asked["issuer"]}
    oauth |= {name: value for name, value in asked.items() if name not in _OWN and name != "issuer"}
    if "clientSecret" not in asked and _needs_any(grant):
        oauth["clientAuthentication"] = "any"
    if any(place.lower().startswith("http:") for place in (url, str(issuer))):
        oauth["allowLoopbackHttp"] = True
    return json.dumps({"oauth": oauth}, ensure_ascii=False)


def _needs_any(grant: Mapping[str, Any]) -> bool:
    """Tell whether the default, a public client of an issuer that lists such, would not have come this far."""
    return grant.get("tokenMethod") != PUBLIC_METHOD or grant.get("publicListed") is False
