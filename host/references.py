"""References in arguments: `${name}`, `${name:number}`, and `$${` for a literal `${`; found once, filled in exactly."""

import json
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from protocol.failures import Code, Failed

__all__ = ["Reference", "Template"]

#: A JSON number (RFC 8259, section 6), whole.
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


class Reference(NamedTuple):
    """One `${name}`; with ``number``, one `"${name:number}"`. Line and column (from 1) are those of its `$`."""

    name: str
    number: bool
    line: int
    column: int


class Template(NamedTuple):
    """An argument's value: literal text and references in turn.

    ``source`` is the value as written, references included (what `check` is sent while one is open). With ``json`` the
    whole is the text of a JSON object and values go in as escaped text of JSON strings.
    """

    source: str
    parts: tuple[str | Reference, ...]
    json: bool

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of inputs and captures that it holds, each once, in order."""
        return tuple(dict.fromkeys(part.name for part in self.parts if isinstance(part, Reference)))

    def substitute(self, values: Mapping[str, str]) -> str:
        """Return the value with every reference replaced by ``values[name]``.

        Raises KeyError for a name without a value, and Failed (`expectation_failed`) when `:number` stands for a value
        that is not spelled as a JSON number.
        """
        return "".join(part if isinstance(part, str) else self._insert(part, values) for part in self.parts)

    def _insert(self, reference: Reference, values: Mapping[str, str]) -> str:
        value = values[reference.name]
        if reference.number:
            if not _NUMBER.fullmatch(value):
                raise Failed(
                    Code.EXPECTATION_FAILED,
                    f"`${{{reference.name}:number}}` needs a JSON number, and `{reference.name}` is not spelled as one."
                    f" Write `${{{reference.name}}}` to insert it as text.",
                    where=f"{reference.line}:{reference.column}",
                )
            return value
        return json.dumps(value, ensure_ascii=False)[1:-1] if self.json else value
