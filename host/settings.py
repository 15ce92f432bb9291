"""`assay.toml`: the target, bindings, allowed origins and evidence folder of a project, under the command line."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from host.origins import check_target, read_grant
from host.problems import Problem, quoted, suggestion
from host.source import Source
from protocol.failures import Failed

__all__ = ["EVIDENCE_DEFAULT", "SETTINGS_FILE", "Choices", "Settings", "choose", "read_settings"]

SETTINGS_FILE: Final = "assay.toml"
#: Largest assay.toml, in bytes.
SETTINGS_LIMIT: Final = 64 * 1024
EVIDENCE_DEFAULT: Final = ".assay"
BINDINGS_DEFAULT: Final = "bindings.json"
KEYS: Final = ("target", "bindings", "allow_origins", "evidence")
_LINE_OF_ERROR: Final = re.compile(r"(.*) \(at line (\d+), column (\d+)\)")
_END_OF_ERROR: Final = re.compile(r"(.*) \(at end of document\)")


class Settings(NamedTuple):
    """What one assay.toml says. Paths are as written, relative to the folder that it stands in."""

    target: str | None = None
    bindings: str | None = None
    allow_origins: tuple[str, ...] = ()
    evidence: str | None = None


class Choices(NamedTuple):
    """What holds for one command, after options, environment and assay.toml.

    ``bindings`` is a path, `-` for stdin, or None; ``bindings_named`` tells whether someone named it: only an unnamed
    one may be missing. ``evidence`` is the folder that run folders and comparisons live under.
    """

    target: str | None
    bindings: str | None
    bindings_named: bool
    allow_origins: tuple[str, ...]
    evidence: str


def read_settings(file: str, data: bytes) -> tuple[Settings, tuple[Problem, ...]]:
    """Read an assay.toml. Total: what is wrong is a problem with its line, and the setting is left out."""
    if len(data) > SETTINGS_LIMIT:
        return Settings(), (Problem(0, 0, 0, f"The file is longer than {SETTINGS_LIMIT} bytes.", "Make it shorter."),)
    try:
        source = Source(file, str(data, "utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        before = str(data[: error.start], "utf-8")
        message = f"The file is not UTF-8 at byte {error.start}."
        return Settings(), (Problem(before.count("\n") + 1, 1, 0, message, "Save it as UTF-8."),)
    try:
        # CR LF is TOML's own line end; the reader reports positions in what it was given.
        document = tomllib.loads(source.text)
    except tomllib.TOMLDecodeError as error:
        return Settings(), (_malformed(source, str(error)),)
    except RecursionError:
        return Settings(), (Problem(0, 0, 0, "The values are nested too deeply.", f"Known keys: {', '.join(KEYS)}."),)
    reader = _Reader(source)
    return reader.settings(document), tuple(reader.problems)


def choose(
    settings: Settings,
    folder: str,
    environment: Mapping[str, str],
    *,
    target: str | None = None,
    bindings: str | None = None,
    allow_origins: Sequence[str] = (),
    evidence: str | None = None,
) -> Choices:
    """Decide what holds: an option over ASSAY_TARGET or ASSAY_BINDINGS, these over ``settings``, found in ``folder``.

    Paths of ``settings``, and the defaults `bindings.json` and `.assay`, are relative to ``folder``; all others to the
    current one. Origins of options and of ``settings`` add up.
    """
    named = bindings or environment.get("ASSAY_BINDINGS") or _within(folder, settings.bindings)
    return Choices(
        target=target or environment.get("ASSAY_TARGET") or settings.target,
        bindings=named or _within(folder, BINDINGS_DEFAULT),
        bindings_named=named is not None,
        allow_origins=tuple(dict.fromkeys([*settings.allow_origins, *allow_origins])),
        evidence=evidence or _within(folder, settings.evidence or EVIDENCE_DEFAULT) or EVIDENCE_DEFAULT,
    )


def _within(folder: str, path: str | None) -> str | None:
    return None if path is None else str(PurePath(folder) / path)


def _malformed(source: Source, error: str) -> Problem:
    if found := _LINE_OF_ERROR.fullmatch(error):
        return Problem(int(found[2]), int(found[3]), 1, f"This is not TOML: {_lower(found[1])}.", _HELP)
    ended = _END_OF_ERROR.fullmatch(error)
    line, column = source.place(len(source.text))
    return Problem(line, column, 1, f"This is not TOML: {_lower(ended[1] if ended else error)}.", _HELP)


_HELP: Final = 'A setting is `name = "value"`, or `name = ["value", "value"]`, on a line of its own.'


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


class _Reader:
    """Checks a document's keys and types, and finds the lines that they stand on."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def settings(self, document: Mapping[str, Any]) -> Settings:
        for key in document:
            if key not in KEYS:
                self.report(key, f"There is no setting {quoted(key)}.", suggestion(key, KEYS, "settings"))
        target = self.text(document, "target")
        if target is not None and not self.accepts("target", check_target, target):
            target = None
        origins = self.texts(document, "allow_origins")
        for entry in origins:
            self.accepts("allow_origins", read_grant, entry)
        bindings, evidence = self.text(document, "bindings"), self.text(document, "evidence")
        if bindings == "-":
            self.report("bindings", "`bindings` names a file.", "Give `--bindings -` on the command line for stdin.")
        return Settings(target, bindings, origins, evidence)

    def text(self, document: Mapping[str, Any], key: str) -> str | None:
        value = document.get(key)
        if value is None or (isinstance(value, str) and value and "\0" not in value):
            return value
        self.report(key, f"`{key}` is text that is not empty.", f'Write `{key} = "…"`.')
        return None

    def texts(self, document: Mapping[str, Any], key: str) -> tuple[str, ...]:
        value = document.get(key, [])
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            return tuple(value)
        self.report(key, f"`{key}` is a list of texts.", f'Write `{key} = ["…"]`.')
        return ()

    def accepts(self, key: str, check: Any, value: str) -> bool:
        try:
            check(value)
        except Failed as refused:
            self.report(key, refused.failure.message, "", shown=False)
            return False
        return True

    def report(self, key: str, message: str, advice: str, *, shown: bool = True) -> None:
        form = re.compile(rf"""^[ \t]*(?:\[+[ \t]*)?(["']?){re.escape(key)}\1(?=[ \t]*[=.\]])""", re.MULTILINE)
        found = form.search(self.source.text)
        if found is None:
            self.problems.append(Problem(0, 0, 0, message, advice))
            return
        start = found.end() - len(key) - len(found[1])
        problem = self.source.problem(start, start + len(key), message, advice)
        self.problems.append(problem if shown else problem._replace(width=0))
