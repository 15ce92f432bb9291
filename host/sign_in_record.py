"""The sign-in record of a step as a person reads it: which document was asked for, and why it was taken or not."""

from collections.abc import Mapping
from typing import Any, Final

from protocol.values.document import integer

__all__ = ["record_rows"]

#: Entries of the record that are about the endpoint itself.
_OF_THE_ENDPOINT: Final = ("challenge", "session opened without a token")
_REDACTED: Final = "[redacted]"


def record_rows(facts: Mapping[str, Any]) -> list[str]:
    """Return two rows for each attempt in ``signIn`` of a step's facts; nothing where there is no such record."""
    record = facts.get("signIn")
    rows = []
    for entry in record if isinstance(record, list) else ():
        if isinstance(entry, dict):
            mark = "+" if entry.get("taken") is True else "-"
            status = _text(entry.get("status"))
            rows.append(f"{mark} {_text(entry.get('document'))}: {_place(entry)}")
            rows.append(f"    {f'HTTP {status}: ' if status else ''}{_text(entry.get('reason'))}")
    return rows


def _place(entry: Mapping[str, Any]) -> str:
    """Return the URL that was asked; of the endpoint, which is private and which the person named, its name."""
    url = _text(entry.get("url"))
    return "the endpoint" if url == _REDACTED and entry.get("document") in _OF_THE_ENDPOINT else url


def _text(value: Any) -> str:
    """Return a string or number of a plugin's as text, and nothing for anything else."""
    if isinstance(value, str):
        return value
    number = integer(value)
    return "" if number is None else str(number)
