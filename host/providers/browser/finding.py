"""Finds the Chromium to start: Playwright's own, else the system's."""

import os
import shutil
from collections.abc import Mapping
from typing import Final

from protocol.failures import CODES, Code, Failed

__all__ = ["VARIABLE", "find_chromium"]

#: Names the system's Chromium.
VARIABLE: Final = "ASSAY_CHROMIUM"
_NAMES: Final = ("chromium", "google-chrome")


def find_chromium(own: str, environment: Mapping[str, str]) -> str:
    """Return the path of an executable; ``own`` is where Playwright's would be. Raises Failed (`browser_missing`)."""
    if own and os.access(own, os.X_OK):
        return own
    named = environment.get(VARIABLE)
    candidates = (named,) if named else _NAMES
    found = next(filter(None, (shutil.which(name, path=environment.get("PATH")) for name in candidates)), None)
    if found is None:
        entry = CODES[Code.BROWSER_MISSING]
        where = f"{VARIABLE} names no program that can be run." if named else entry.meaning
        raise Failed(Code.BROWSER_MISSING, f"{where} {entry.remedy}")
    return os.path.abspath(found)
