"""Finds the flow files that a command line names: a file is itself, a folder stands for the flows in and below it."""

import os
from typing import Final, NamedTuple

from host.files import read_file
from protocol.failures import Code, Failed

__all__ = ["ENTRIES_LIMIT", "Found", "find_flows", "path_text"]

#: Files and folders that are looked at below one folder that is named: more is no folder of flows but a disk.
ENTRIES_LIMIT: Final = 20_000
#: Folders of other people's files, which are often large; so is one that holds a Python environment, by its marker.
_FOREIGN: Final = frozenset({"node_modules", "site-packages", "__pycache__"})
_ENVIRONMENT: Final = "pyvenv.cfg"


class Found(NamedTuple):
    """The flow files that one name stands for. ``looked_at`` counts files; it is None when the name is no folder's."""

    paths: tuple[str, ...]
    looked_at: int | None


def find_flows(named: str) -> Found:
    """Return the flow files that a name stands for: those that end in `.md` and begin with frontmatter.

    Hidden folders, installed packages (`node_modules`, Python environments) and links to folders are passed over.
    Raises Failed (``invalid_arguments``) for a folder with more than ``ENTRIES_LIMIT`` files and folders in it.
    """
    if not os.path.isdir(named):
        return Found((os.path.normpath(named),), None)
    found: list[str] = []
    entries = looked_at = 0
    for folder, folders, names in os.walk(named):
        entries += len(folders) + len(names)
        if entries > ENTRIES_LIMIT:
            told = f"The folder {path_text(named)} holds more than {ENTRIES_LIMIT} files."
            raise Failed(Code.INVALID_ARGUMENTS, f"{told} Name a folder of flows, or the flows themselves.")
        if _ENVIRONMENT in names:
            folders.clear()
            continue
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _FOREIGN)
        looked_at += len(names)
        paths = [os.path.normpath(os.path.join(folder, name)) for name in sorted(names)]
        found += [path for path in paths if path.endswith(".md") and _begins_with_frontmatter(path)]
    return Found(tuple(found), looked_at)


def path_text(path: str) -> str:
    """Return a path as text that can be written anywhere; what of it is not UTF-8 is replaced."""
    try:
        return os.fsencode(path).decode("utf-8", "replace")
    except UnicodeEncodeError:  # of a lone surrogate, which no path from a command line holds
        return path.encode("utf-8", "replace").decode()


def _begins_with_frontmatter(path: str) -> bool:
    try:
        return read_file(path, 8).removeprefix(b"\xef\xbb\xbf").startswith(b"---")
    except Failed:
        return True
