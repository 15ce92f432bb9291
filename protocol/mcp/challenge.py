"""The challenges of ``WWW-Authenticate`` (RFC 9110, sections 11.2 to 11.6.1), read without trusting their form."""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

__all__ = ["Challenge", "facts", "parse_challenges"]

_NAME: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_BLANK: Final = re.compile(r"[ \t,]*")
_PARAMETER: Final = re.compile(rf'({_NAME})[ \t]*=[ \t]*(?:({_NAME})|"((?:[^"\\]|\\.)*)")[ \t]*(?=,|\Z)', re.DOTALL)
_SCHEME: Final = re.compile(rf"({_NAME})(?=[ \t,]|\Z)")
_TOKEN68: Final = re.compile(r"[ \t]+([A-Za-z0-9._~+/-]+=*)[ \t]*(?=,|\Z)")
_SKIP: Final = re.compile(r'(?:[^",]|"(?:[^"\\]|\\.)*"?)*', re.DOTALL)
#: Parameters that somebody looks up. Of the others the spelling is kept: a name in lower case would not be recognised
#: as the private value that it may be.
_KNOWN: Final = frozenset({"realm", "charset", "scope", "error", "error_description", "error_uri", "resource_metadata"})
_QUOTED_PAIR: Final = re.compile(r"\\(.)", re.DOTALL)


class Challenge(NamedTuple):
    """One challenge: its scheme as spelled, its parameters, or its one token68.

    Parameters that are known go by their name in lower case, all others by their name as spelled.

    ``fault`` names the first thing that is wrong with its form; what could be read stands all the same.
    """

    scheme: str
    parameters: dict[str, str]
    token: str | None
    fault: str | None

    @property
    def is_bearer(self) -> bool:
        """Schemes compare without case (RFC 9110, section 11.1)."""
        return self.scheme.lower() == "bearer"


def parse_challenges(fields: Iterable[str]) -> list[Challenge]:
    """Read the field lines of ``WWW-Authenticate``. Total and linear: what is no challenge is left out.

    Of a parameter that stands twice in a challenge, the first is kept and the challenge has the fault
    ``repeated-parameter`` (RFC 9110, section 11.2); text between commas that is neither parameter nor scheme gives
    ``malformed``.
    """
    return [challenge for field in fields for challenge in _Field(field).read()]


def facts(challenges: Iterable[Challenge]) -> list[dict[str, Any]]:
    """Write challenges as ``facts.http`` keeps them, unredacted."""
    return [
        {"scheme": challenge.scheme, "parameters": challenge.parameters}
        | ({"token": challenge.token} if challenge.token is not None else {})
        | ({"fault": challenge.fault} if challenge.fault is not None else {})
        for challenge in challenges
    ]


class _Field:
    """One field line being read. Commas part challenges as well as parameters, so what comes next decides."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._found: list[Challenge] = []

    def read(self) -> list[Challenge]:
        while self._at < len(self._text):
            if not (self._take_blank() or self._take_parameter() or self._take_scheme()):
                self._blame("malformed")
                self._at = max(self._match(_SKIP), self._at + 1)
        return self._found

    def _match(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        return found.end() if found else self._at

    def _take_blank(self) -> bool:
        start, self._at = self._at, self._match(_BLANK)
        return self._at > start

    def _take_parameter(self) -> bool:
        found = _PARAMETER.match(self._text, self._at) if self._found else None
        if found is None:
            return False
        self._at = found.end()
        name, token, quoted = found.groups()
        parameters = self._found[-1].parameters
        key = name.lower() if name.lower() in _KNOWN else name
        if key in parameters:
            self._blame("repeated-parameter")
        else:
            parameters[key] = token if token is not None else _QUOTED_PAIR.sub(r"\1", quoted)
        return True

    def _take_scheme(self) -> bool:
        found = _SCHEME.match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        token = _TOKEN68.match(self._text, self._at)
        # `Bearer realm` could be a scheme and a token, or two schemes; only the first reading needs no comma.
        if token is not None:
            self._at = token.end()
        self._found.append(Challenge(found[1], {}, token and token[1], None))
        return True

    def _blame(self, fault: str) -> None:
        if self._found and self._found[-1].fault is None:
            self._found[-1] = self._found[-1]._replace(fault=fault)
