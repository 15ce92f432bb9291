"""What is wrong with a text that a person wrote, at its place, and how that is shown: line, caret, what to write."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple

from host import visible

__all__ = ["LINE_END", "Problem", "closest", "quoted", "render", "suggestion"]

#: What ends a line, in a flow as in Markdown. U+2028 and its like do not.
LINE_END: Final = re.compile(r"\r\n?|\n")
#: Columns of a source line that are shown; a longer one is cut around its caret, so that the caret stays in view.
SHOWN_COLUMNS: Final = 100
#: Columns before the caret that stay in view when a line is cut.
SHOWN_BEFORE: Final = 40
#: Characters of a name that a message repeats, and the longest name that is compared with known ones.
QUOTED_CHARACTERS: Final = 60
#: A tab is shown as this many spaces, in the source line and above its caret alike.
TAB: Final = "    "


class Problem(NamedTuple):
    """One thing that has to change before anything is contacted.

    ``line`` and ``column`` count from 1, in characters of the file as it stands; ``line`` 0 means the file as a whole.
    ``width`` counts the characters that are wrong; with 0 the source line is not shown (it may hold a private value).
    ``message`` says what is wrong, ``help`` what to write instead; both are plain sentences.
    """

    line: int
    column: int
    width: int
    message: str
    help: str


def quoted(text: str) -> str:
    """Return a name from a file between backquotes, for a message: on one line, and cut when it is long."""
    shown = visible.line(text[: QUOTED_CHARACTERS + 1])
    return f"`{shown[:QUOTED_CHARACTERS]}…`" if len(shown) > QUOTED_CHARACTERS else f"`{shown}`"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that was most likely meant, or None."""
    if len(name) > QUOTED_CHARACTERS:
        return None
    plain = {_plain(candidate): candidate for candidate in known}
    found = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=0.6)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "")


def suggestion(name: str, known: Collection[str], kind: str) -> str:
    """Return the help for an unknown name: the one that was likely meant, and all that are known."""
    meant = closest(name, known)
    listed = ", ".join(quoted(each) for each in sorted(known)) or "none"
    return (f"Did you mean {quoted(meant)}? " if meant else "") + f"Known {kind}: {listed}."


def render(
    file: str,
    text: str,
    problems: Iterable[Problem],
    *,
    severity: str = "error",
    redact: Callable[[str], str] = str,
) -> str:
    """Return the problems of one file as a compiler would print them, each with its source line, a caret and help.

    The result ends with a newline and is safe for a terminal. ``redact`` sees every text first; a source line that it
    changes is not shown.
    """
    lines = LINE_END.split(text)
    blocks = (_block(file, lines, problem, severity, redact) for problem in problems)
    return "".join(f"{line}\n" for block in blocks for line in block)


def _block(file: str, lines: list[str], problem: Problem, severity: str, redact: Callable[[str], str]) -> Iterable[str]:
    place = f"{visible.line(file)}:{problem.line}:{problem.column}" if problem.line else visible.line(file)
    yield f"{place}: {severity}: {visible.line(redact(problem.message))}"
    line = lines[problem.line - 1] if 0 < problem.line <= len(lines) else ""
    if problem.width and line.strip() and redact(line) == line:
        shown, caret = _underlined(line, problem.column - 1, problem.width)
        number = str(problem.line)
        yield f"  {number} | {shown}"
        yield f"  {' ' * len(number)} | {caret}"
    if problem.help:
        yield f"  help: {visible.line(redact(problem.help))}"


def _underlined(line: str, start: int, width: int) -> tuple[str, str]:
    """Return what is shown of a line, and the carets that stand below the wrong characters."""
    first = 0
    before = sum(_columns(_cell(character)) for character in line[:start])
    if before > SHOWN_COLUMNS - SHOWN_BEFORE:
        first = max(0, start - SHOWN_BEFORE)
    last, columns = first, 0
    while last < len(line) and columns < SHOWN_COLUMNS:
        columns += _columns(_cell(line[last]))
        last += 1
    shown = "".join(map(_cell, line[first:last]))
    lead = "…" if first else ""
    indent = _columns(lead) + sum(_columns(_cell(character)) for character in line[first:start])
    wrong = sum(_columns(_cell(character)) for character in line[start : min(start + width, last)])
    return f"{lead}{shown}{'…' if last < len(line) else ''}".rstrip(), f"{' ' * indent}{'^' * max(1, wrong)}"


def _cell(character: str) -> str:
    return TAB if character == "\t" else visible.line(character)


def _columns(text: str) -> int:
    """Count the terminal columns of printable text: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
