"""What a plugin says of a sign-in's binding, in the words of a command that has no binding but options."""

from collections.abc import Iterable
from typing import Final

__all__ = ["DOCTOR", "LOGIN", "PUBLIC_METHOD", "reword"]

#: How a client without a secret authenticates (RFC 7591, section 2): all that a binding admits by default.
PUBLIC_METHOD: Final = "none"

#: Pairs of what is said and what it is called instead; the first come first.
LOGIN: Final = (
    ("`oauth` of the binding `server` is not usable: ", "The sign-in cannot be set up: "),
    (
        "`oauth` of the binding `server` may not stand beside a bearer token; keep one of the two",
        "A sign-in may not stand beside a bearer token: take `--bearer-env` or the header out",
    ),
    ("`endpoint` beside it", "the server's URL"),
    (", or set `allowLoopbackHttp`", ""),
    ("Set `compat` to `2025-03-26`", "Give `--compat 2025-03-26`"),
    ("Bind the `issuer` that is meant.", "Name the one that is meant with `--issuer`."),
    ("Check the binding's `issuer`.", "Check `--issuer`."),
    ("`issuer` must", "`--issuer` must"),
    (" (or `endpoint`, or `listed`)", ""),
    ("Bind the client's `clientSecret` as well.", "Give the client's `--client-secret-env` as well."),
    ("bind `clientId`", "give `--client-id-env`"),
    ("may hold `offline_access` with `refresh` only", "may not be `offline_access`: a login keeps no refresh token"),
    ("`scopes`", "`--scope`"),
    ("`clientId`", "`--client-id-env`"),
    ("`clientSecret`", "`--client-secret-env`"),
    ("`clientMetadataUrl`", "`--client-metadata-url`"),
    ("`callbackPath`", "`--callback-path`"),
    ("`callbackPort`", "`--callback-port`"),
    ("`callbackHost`", "`--callback-host`"),
    (" (`consentTimeoutMs`)", ""),
    (" (`grant`)", ""),
)
DOCTOR: Final = (
    (
        "Set `compat` to `2025-03-26` for a server of that revision.",
        "For a server of that revision there is `--compat 2025-03-26` of `assay login`, and `compat` in a binding.",
    ),
    ("Check the binding's `issuer`.", "The authorization server has to publish it at one of these places."),
)


def reword(text: str, pairs: Iterable[tuple[str, str]]) -> str:
    """Return a text with what it calls fields of a binding called otherwise."""
    for said, instead in pairs:
        text = text.replace(said, instead)
    return text
