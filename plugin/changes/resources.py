"""How two records of one resource, or of one resource template, differ."""

from typing import Any, Final

from plugin.changes.change import Change, Class, Entry, hashes_are_kept, metadata, redaction, texts

__all__ = ["compare", "is_record"]

#: What people and models choose by.
_TEXTS: Final = ("name", "title", "description", "annotations")


def is_record(record: Any) -> bool:
    """Tell whether a value is the record of a resource or template, its URI apart."""
    return hashes_are_kept(record)


def compare(before: Entry, after: Entry, old: Entry | None, new: Entry | None) -> list[Change]:
    """Compare two records. Another MIME type breaks who reads the content; a text may change what is chosen."""
    return [
        *texts(("mimeType",), before, after, old, new, grade=Class.BREAKING),
        *texts(_TEXTS, before, after, old, new),
        *metadata(before, after),
        *redaction(before, after),
    ]
