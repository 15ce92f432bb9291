"""How two records of one prompt differ: its arguments, and its texts."""

from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from plugin.changes.change import Change, Class, Entry, hashes_are_kept, metadata, numbered, redaction, texts

__all__ = ["compare", "is_record"]

_TEXTS: Final = ("title", "description")


def is_record(record: Any) -> bool:
    """Tell whether a value is the record of a prompt, its name apart."""
    arguments = record.get("arguments") if isinstance(record, dict) else None
    return hashes_are_kept(record) and isinstance(arguments, list) and all(map(_is_argument, arguments))


def _is_argument(value: Any) -> bool:
    return hashes_are_kept(value) and isinstance(value.get("name"), str)


def compare(before: Entry, after: Entry, old: Entry | None, new: Entry | None) -> list[Change]:
    """Compare two records. A caller breaks when an argument is gone or has become required."""
    return [
        *_arguments(before["arguments"], after["arguments"], _kept(old), _kept(new)),
        *texts(_TEXTS, before, after, old, new),
        *metadata(before, after),
        *redaction(before, after),
    ]


_Arguments: TypeAlias = dict[tuple[str, int], Entry]


def _kept(entry: Entry | None) -> _Arguments:
    """Return the arguments of an entry that was kept."""
    arguments = entry.get("arguments") if entry is not None else None
    listed = arguments if isinstance(arguments, list) else []
    named = [each for each in listed if isinstance(each, dict) and isinstance(each.get("name"), str)]
    return numbered(named, "name")


def _arguments(before: list[Entry], after: list[Entry], old: _Arguments, new: _Arguments) -> Iterator[Change]:
    was, now = numbered(before, "name"), numbered(after, "name")
    for name in sorted(was.keys() | now.keys()):
        field = f"arguments.{name[0]}"
        if name not in now:
            yield Change(field, Class.BREAKING, "the argument is gone")
        elif name not in was:
            required = now[name].get("required") is True
            detail = "a required argument was added" if required else "an argument was added"
            yield Change(field, Class.BREAKING if required else Class.ADDITIVE, detail)
        else:
            yield from _requirement(field, was[name], now[name])
            yield from texts(_TEXTS, was[name], now[name], old.get(name), new.get(name), prefix=f"{field}.")


def _requirement(field: str, before: Entry, after: Entry) -> Iterator[Change]:
    was, now = before.get("required") is True, after.get("required") is True
    if now and not was:
        yield Change(field, Class.BREAKING, "the argument became required")
    elif was and not now:
        yield Change(field, Class.ADDITIVE, "the argument is no longer required")
