"""The one table of the fields of a binding's ``oauth`` object: what it may hold, and which of it is private.

It is on the path of ``plugin --describe``. ``oauth.settings`` reads values by this table.
"""

from typing import Any, Final

from oauth.grammar import PRINTABLE_PATTERN, SCOPE_PATTERN
from protocol.wire.fields import PRIVATE_MINIMUM, Field, Range, choice, number, object_schema, switch, table

__all__ = [
    "CALLBACK_PATH",
    "FIELDS",
    "PATH_LIMIT",
    "SCOPES_LIMIT",
    "SCOPE_LIMIT",
    "TEXT_LIMIT",
    "URL_LIMIT",
    "settings_schema",
]

#: Longest URL, in characters: as for the endpoint of a binding.
URL_LIMIT: Final = 8192
#: Longest client id, client secret and callback path, in characters: room for ids that are URLs or signed.
TEXT_LIMIT: Final = 4096
PATH_LIMIT: Final = 256
#: Scopes of one request, and characters of one scope. The largest published catalogue found has 300 scopes.
SCOPES_LIMIT: Final = 512
SCOPE_LIMIT: Final = 512
#: The callback's path where the client is not registered by hand.
CALLBACK_PATH: Final = "/callback"


def _private(name: str, meaning: str) -> Field:
    length = {"minLength": PRIVATE_MINIMUM, "maxLength": TEXT_LIMIT}
    schema = {"type": "string", **length, "pattern": f"^{PRINTABLE_PATTERN}$"}
    return Field(name, meaning, schema, private=True)


#: Every field by its name.
FIELDS: Final[dict[str, Field]] = table(
    Field(
        "issuer",
        "The trusted https issuer, exactly as the server's resource metadata lists it; `endpoint` where the"
        " server's own origin is the issuer; `listed` for the first listed one whose origin is admitted.",
        {"type": "string", "minLength": 1, "maxLength": URL_LIMIT},
        required=True,
    ),
    Field(
        "scopes",
        "Scopes to ask for. Without it, those of the server's challenge, else of its resource metadata, else none.",
        {
            "type": "array",
            "items": {"type": "string", "pattern": f"^{SCOPE_PATTERN}$", "maxLength": SCOPE_LIMIT},
            "minItems": 1,
            "maxItems": SCOPES_LIMIT,
            "uniqueItems": True,
        },
    ),
    _private("clientId", "Id of a client that is registered at the issuer. Needs `callbackPath`."),
    _private("clientSecret", "Secret of that client; implies `clientAuthentication: any`."),
    Field(
        "callbackPath",
        "Exact registered path of the loopback callback, not /done.",
        {
            "type": "string",
            "pattern": "^/[A-Za-z0-9/_-]*$",
            "not": {"const": "/done"},
            "maxLength": PATH_LIMIT,
        },
    ),
    number(
        "callbackPort",
        "Port of the callback, for servers that register one exact redirect; 0 takes a free one.",
        Range(0, 0, 65535),
    ),
    choice(
        "callbackHost",
        "Host name in the redirect URI; the listener is on 127.0.0.1 either way.",
        "127.0.0.1",
        "localhost",
    ),
    Field(
        "clientMetadataUrl",
        "Public https URL of a client metadata document, used as the client id where the issuer supports it.",
        {"type": "string", "format": "uri", "pattern": "^https://", "maxLength": URL_LIMIT},
    ),
    choice(
        "clientAuthentication",
        "How the client may authenticate at the token endpoint: `none` only, or as the issuer lists or registers.",
        "none",
        "any",
    ),
    switch("refresh", "Ask for a refresh token, and use it once before each expiry."),
    switch("stepUp", "Let a later `oauth_begin` ask for the scopes of the last challenge as well."),
    choice(
        "grant",
        "How the token is got: with consent in the browser, or with the client's secret alone.",
        "authorization_code",
        "client_credentials",
    ),
    Field(
        "compat",
        "For servers of that revision: no resource metadata, and default endpoints where there is no metadata at all.",
        {"enum": ["2025-03-26"]},
    ),
    switch("allowLoopbackHttp", "Allow http where the host is this machine's loopback."),
    number(
        "consentTimeoutMs",
        "How long consent may take once its page was opened, in milliseconds.",
        Range(120_000, 100, 3_600_000),
    ),
)


def settings_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of the object; private fields carry ``writeOnly``."""
    return object_schema(FIELDS)
