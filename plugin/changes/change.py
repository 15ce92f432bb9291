"""One classed change of an entry, and the changes that every kind of entry shares: hashed texts and redaction."""

from collections.abc import Iterable, Iterator
from enum import StrEnum, unique
from typing import Any, Final, NamedTuple, TypeAlias

from protocol.values.document import canonical
from protocol.values.pointer import MISSING

__all__ = ["Change", "Class", "Entry", "hashes_are_kept", "members_are", "metadata", "numbered", "redaction", "texts"]

#: Characters of a text that a change shows on either side. Entries of a catalog are redacted already.
TEXT_LIMIT: Final = 1_000

#: A record of the state, or an entry of a catalog.
Entry: TypeAlias = dict[str, Any]


@unique
class Class(StrEnum):
    """How grave a change is, the gravest first. An unclassified change counts as breaking."""

    BREAKING = "breaking"
    UNCLASSIFIED = "unclassified"
    RISK = "risk"
    ROUTING = "routing"
    ADDITIVE = "additive"


class Change(NamedTuple):
    """A changed ``field`` of an entry, and where in it, if that is known."""

    field: str
    grade: Class
    detail: str
    location: str | None = None


def hashes_are_kept(record: Any) -> bool:
    """Tell whether a record holds an object of hashes, which every kind compares."""
    return isinstance(record, dict) and members_are(record.get("sha256"), str)


def members_are(members: Any, kind: type) -> bool:
    """Tell whether a value is an object whose members are of one kind, or null."""
    return isinstance(members, dict) and all(value is None or isinstance(value, kind) for value in members.values())


def numbered(entries: Iterable[Entry], key: str) -> dict[tuple[str, int], Entry]:
    """Return entries by what names them; those whose names redact alike are told apart by their order."""
    seen: dict[str, int] = {}
    found = {}
    for entry in entries:
        name = entry[key]
        found[name, seen.get(name, 0)] = entry
        seen[name] = seen.get(name, 0) + 1
    return found


def texts(
    names: Iterable[str],
    before: Entry,
    after: Entry,
    old: Entry | None,
    new: Entry | None,
    *,
    grade: Class = Class.ROUTING,
    prefix: str = "",
) -> Iterator[Change]:
    """Compare members by their hashes; ``old`` and ``new`` hold the members themselves where they were kept."""
    for name in names:
        if before["sha256"].get(name) != after["sha256"].get(name):
            detail = "the text changed"
            if old is not None and new is not None:
                detail = f"from {_quoted(old.get(name, MISSING))} to {_quoted(new.get(name, MISSING))}"
            yield Change(f"{prefix}{name}", grade, detail)


def _quoted(value: Any) -> str:
    if value is MISSING:
        return "nothing"
    text = canonical(value).decode()
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}…"


def metadata(before: Entry, after: Entry) -> Iterator[Change]:
    """Compare `_meta`, of which only a hash is kept."""
    if before["sha256"].get("_meta") != after["sha256"].get("_meta"):
        yield Change("_meta", Class.UNCLASSIFIED, "the metadata changed, and only a hash of it is kept")


def redaction(before: Entry, after: Entry) -> Iterator[Change]:
    """Compare whether something private stood in the entry."""
    was, now = before.get("redacted") is True, after.get("redacted") is True
    if now and not was:
        yield Change("redacted", Class.RISK, "a private value or terminal control now stands in the entry")
    elif was and not now:
        yield Change("redacted", Class.ROUTING, "no private value or terminal control stands in the entry any more")
