"""Names as parts of step ids: lower case, letters and digits joined by hyphens, unique where they stand."""

import re
from typing import Final

__all__ = ["slug", "unique_slug"]

_OTHER: Final = re.compile(r"[\W_]+")


def slug(text: str) -> str:
    """Return the letters and digits of a text, of any script, in lower case; empty when it has none."""
    return _OTHER.sub("-", text.casefold()).strip("-")


def unique_slug(text: str, taken: dict[str, int]) -> str:
    """Return the slug of a text, made unique by `-2`, `-3` and so on.

    ``taken`` maps each slug to the number that its next namesake is tried with; it is updated.
    """
    base = slug(text) or "section"
    name = base
    while name in taken:
        taken[base] += 1
        name = f"{base}-{taken[base]}"
    taken[name] = 1
    return name
