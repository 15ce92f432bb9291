"""The one table of binding fields: what a binding's configuration may hold, and which of it is private.

It is on the path of ``plugin --describe``. ``plugin.binding`` reads values by this table.
"""

from typing import Any, Final

from oauth.fields import settings_schema
from protocol.wire.fields import PRIVATE_MINIMUM, Field, Range, number, object_schema, switch, table

__all__ = [
    "CA_FILE_LIMIT",
    "CONTRACT_FIELDS",
    "FIELDS",
    "FILE_NAME_LIMIT",
    "HEADERS_LIMIT",
    "HEADER_VALUE_LIMIT",
    "TOKEN_LIMIT",
    "URL_LIMIT",
    "configuration_schema",
]

#: Header names in one binding, and characters in one header value.
HEADERS_LIMIT: Final = 32
HEADER_VALUE_LIMIT: Final = 16_384
#: Longest URL, path and token, in characters: what common servers and file systems accept.
URL_LIMIT: Final = 8_192
FILE_NAME_LIMIT: Final = 4_096
TOKEN_LIMIT: Final = 16_384
#: Largest certificate file, in bytes (seed).
CA_FILE_LIMIT: Final = 256 * 1024


def _text(limit: int, least: int = PRIVATE_MINIMUM) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": limit}


#: The members of `contract`, both required. The path is not private: it is no way in, and a file that people review.
CONTRACT_FIELDS: Final[dict[str, Field]] = table(
    Field(
        "registry",
        "Absolute path of a registry: a regular file, and no link. It is read once, when the alias opens.",
        {"type": "string", "maxLength": FILE_NAME_LIMIT, "pattern": "^/"},
        required=True,
    ),
    Field(
        "route",
        "Alias of the route in it that names the tool.",
        {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$"},
        required=True,
    ),
)

#: Every field by its name.
FIELDS: Final[dict[str, Field]] = table(
    Field(
        "endpoint",
        "Absolute http or https URL of the Streamable HTTP endpoint, without user information or fragment.",
        _text(URL_LIMIT) | {"format": "uri"},
        private=True,
        required=True,
    ),
    Field("bearerToken", "Sent as `Authorization: Bearer`.", _text(TOKEN_LIMIT), private=True),
    Field(
        "headers",
        "Private request headers: an object, or a JSON object as a string. Authorization uses the Bearer scheme.",
        {
            "type": ["object", "string"],
            "additionalProperties": _text(HEADER_VALUE_LIMIT),
            "maxProperties": HEADERS_LIMIT,
            "contentMediaType": "application/json",
        },
        private=True,
    ),
    # Of its members some are private, and say so themselves: an issuer or a scope that is redacted explains nothing.
    Field(
        "oauth",
        "OAuth settings for `oauth_begin`: an object, or a JSON object as a string. Stands alone: without bearerToken,"
        " tokenDirectory or an Authorization header.",
        settings_schema() | {"type": ["object", "string"], "contentMediaType": "application/json"},
    ),
    Field(
        "tokenDirectory",
        "Absolute path of the private directory that `tokenFile` names a file in: yours, mode 0700 or stricter.",
        _text(FILE_NAME_LIMIT),
        private=True,
    ),
    Field(
        "caFile",
        "Absolute path of a PEM file with certificate authorities added to system trust, at most 256 KiB.",
        _text(FILE_NAME_LIMIT),
        private=True,
    ),
    Field(
        "sessionCleanup",
        "With `server-managed`, a server that answers DELETE with 405 needs no cleanup.",
        {"enum": ["delete", "server-managed"], "default": "delete"},
    ),
    number("timeoutMs", "Absolute deadline of each request, in milliseconds.", Range(15_000, 100, 600_000)),
    number(
        "maxResponseBytes",
        "Largest HTTP response, and largest raw inventory, in bytes.",
        Range(8 * 1024 * 1024, 1, 8 * 1024 * 1024),
    ),
    number("maxPages", "Most pages of one inventory.", Range(50, 1, 10_000)),
    number("maxItems", "Most entries of one inventory.", Range(5_000, 1, 100_000)),
    switch("keepText", "Keep the redacted entries of inventories as the artifact catalog.json."),
    switch(
        "resume",
        "Take up a reply stream that a server of 2025-11-25 ended early, once, by GET with Last-Event-ID.",
    ),
    Field(
        "elicitation",
        "With `defaults`, the server's form elicitations are answered with the defaults of their schemas.",
        {"enum": ["off", "defaults"], "default": "off"},
    ),
    Field(
        "contract",
        "The one tool that the alias may call, as it was pinned: an object, or a JSON object as a string.",
        object_schema(CONTRACT_FIELDS) | {"type": ["object", "string"], "contentMediaType": "application/json"},
    ),
)


def configuration_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of one binding's configuration; private fields carry ``writeOnly``."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **object_schema(FIELDS)}
