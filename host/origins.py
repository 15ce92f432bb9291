"""What the target and `--allow-origin` admit, by its origin. A plugin reaches nothing else."""

import re
from collections.abc import Iterable
from typing import Final

from protocol.failures import Code, Failed
from protocol.values.urls import origin

__all__ = ["MISDIRECTED", "admitted_origins", "check_target", "origin", "read_grant"]

#: Where an authorization server sent a page back to this machine by another address than it was asked to: no origin
#: that could be admitted.
MISDIRECTED: Final = "another address than the redirect that was asked for"
#: Longest URL that is taken, in characters: what common servers accept.
URL_LIMIT: Final = 8192
#: An origin as a person writes it: one slash at its end is allowed.
_GRANT: Final = re.compile(r"[^/?#]*//[^/?#]*/?")
_TARGET_EXAMPLE: Final = "Write, for example, `http://localhost:8000/mcp`."
_GRANT_EXAMPLE: Final = "Write scheme, host and, where it is not the scheme's own, port: `https://auth.example.com`."


def check_target(url: str) -> str:
    """Return the target's URL as it stands once it is known to be usable.

    Raises Failed (`invalid_arguments`) unless it is absolute, http or https, without user information and fragment.
    The message quotes nothing of it: a mistaken URL may hold a password.
    """
    try:
        _origin(url)
        if "#" in url:
            raise ValueError("the URL must hold no fragment (`#`)")
    except ValueError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"The target cannot be used: {error}. {_TARGET_EXAMPLE}") from None
    return url


def read_grant(text: str) -> str:
    """Return the origin that one `--allow-origin`, or one entry of `allow_origins`, admits.

    Raises Failed (`invalid_arguments`) for anything but an origin; one slash at its end is allowed.
    """
    try:
        found = _origin(text)
        if not _GRANT.fullmatch(text):
            raise ValueError("an origin has no path, query or fragment")
    except ValueError as error:
        raise Failed(Code.INVALID_ARGUMENTS, f"The allowed origin cannot be used: {error}. {_GRANT_EXAMPLE}") from None
    return found


def admitted_origins(target: str | None, grants: Iterable[str]) -> tuple[str, ...]:
    """Return what a plugin may reach: the target's origin and those of ``grants``, each once, in this order.

    Raises Failed (`invalid_arguments`) for a target or grant that cannot be used.
    """
    own = [origin(check_target(target))] if target is not None else []
    return tuple(dict.fromkeys([*own, *map(read_grant, grants)]))


def _origin(url: str) -> str:
    if len(url) > URL_LIMIT:
        raise ValueError(f"the URL must have at most {URL_LIMIT} characters")
    return origin(url)
