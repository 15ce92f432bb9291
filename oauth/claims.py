"""What an access token says of itself when it is a JWT: audience, issuer and expiry, for the record and unverified."""

import binascii
import re
from base64 import urlsafe_b64decode
from typing import Any, Final, NamedTuple

from protocol.values.document import JsonError, integer, parse

__all__ = ["Claims", "read_claims"]

_PARTS: Final = re.compile(r"([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]*\Z")
#: Audiences of one token that are kept. RFC 9068 tokens have one to three.
AUDIENCES_LIMIT: Final = 16


class Claims(NamedTuple):
    """Three claims of RFC 7519, section 4.1. Nobody has checked the signature: they tell, and decide nothing.

    ``expires`` is in seconds since 1970.
    """

    audience: tuple[str, ...]
    issuer: str | None
    expires: int | None


def read_claims(token: str) -> Claims | None:
    """Read ``aud``, ``iss`` and ``exp`` of a token, or None when it is no JWS in compact form (RFC 7515, section 7.1).

    A claim of another type than RFC 7519 gives it counts as absent; every other claim stays unread.
    """
    found = _PARTS.match(token)
    if found is None:
        return None
    header, payload = _object(found[1]), _object(found[2])
    if header is None or payload is None or not isinstance(header.get("alg"), str):
        return None
    audience, issuer = payload.get("aud"), payload.get("iss")
    entries = audience if isinstance(audience, list) else [audience]
    audiences = tuple(entry for entry in entries if isinstance(entry, str))
    return Claims(
        audiences[:AUDIENCES_LIMIT] if len(audiences) == len(entries) else (),
        issuer if isinstance(issuer, str) else None,
        integer(payload.get("exp")),
    )


def _object(part: str) -> dict[str, Any] | None:
    try:
        document = parse(urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, JsonError):
        return None
    return document.value if isinstance(document.value, dict) and not document.repeated else None
