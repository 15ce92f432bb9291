"""What a screenshot blacks out: private fields, and whatever else shows a private value."""

import contextlib
from collections.abc import Iterable
from typing import Final

from playwright.async_api import Error, Frame, Locator, Page

from protocol.values.redaction import Redactor

__all__ = ["masks"]

#: Elements whose text is a value, not content.
_FIELDS: Final = "input, textarea, select, [contenteditable]"
#: What each of them shows: its value, the hint that stands in its place, the labels that a list chooses from.
_VALUES: Final = """fields => fields.map(field => [
    field.value ?? field.innerText, field.placeholder, ...[...field.options ?? []].map(option => option.label)
].join("\\n"))"""


async def masks(page: Page, filled: Iterable[str], values: Iterable[str], redactor: Redactor) -> list[Locator]:
    """Return what to black out on a page: the fields that were ``filled``, password fields, fields with a private
    value in them, and elements whose text holds one of ``values``, in every frame.
    """
    found = [page.locator(selector) for selector in filled]
    for frame in page.frames:
        found.append(frame.locator("input[type=password]"))
        found += [frame.get_by_text(value) for value in values]
        found += await _telling(frame, redactor)
    return found


async def _telling(frame: Frame, redactor: Redactor) -> list[Locator]:
    fields = frame.locator(_FIELDS)
    texts: list[str] = []
    with contextlib.suppress(Error):  # a frame that is just going away
        texts = await fields.evaluate_all(_VALUES)
    return [fields.nth(index) for index, text in enumerate(texts) if redactor.holds(text)]
