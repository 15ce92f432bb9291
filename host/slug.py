"""Names as parts of step ids: lower case, letters and digits joined by hyphens, unique where they stand."""

import re
from typing import Final

__all__ = ["slug", "unique_slug"]

_OTHER: Final = re.compile(r"[\W_]+")


def slug(text: str) -> str:
    """Return the letters and digits of a text, of any script, in lower case; empty when it has none."""
    return _OTHER.sub("-", text.casefold()).strip("-")


def unique_slug(text: str, taken: set[str]) -> str:
    """Return the slug of a text, made unique by `-2`, `-3` and so on, and add it to ``taken``."""
    base = slug(text) or "section"
    name, count = base, 1
    while name in taken:
        count += 1
        name = f"{base}-{count}"
    taken.add(name)
    return name
