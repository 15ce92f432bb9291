"""What a command line writes about runs, beside lines for people: JSON, JUnit XML, an HTML page, and GitHub's."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from host.documents import STANDARD_OUTPUT, append, check_place, write_content
from host.evidence import pretty
from host.inert import Form
from host.reports.difference import Diffs
from host.terminal import Terminal, line
from protocol.failures import Code, Failed

__all__ = ["Outputs"]

#: Names the file that GitHub shows below a job, and the folder of the repository.
_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
_WORKSPACE: Final = "GITHUB_WORKSPACE"
#: Bytes of that file, over which GitHub drops it: other steps' lines are in it too.
_SUMMARY_LIMIT: Final = 1024 * 1024

_Render = Callable[[Any, Diffs], bytes]


class Outputs(NamedTuple):
    """The files that are asked for, `-` for standard output, and whether GitHub is told."""

    json: str | None = None
    junit: str | None = None
    html: str | None = None
    github: bool = False

    @property
    def files(self) -> dict[str, str]:
        """Each file that is asked for, by what it is."""
        named = {"json": self.json, "junit": self.junit, "html": self.html}
        return {name: file for name, file in named.items() if file is not None}

    @property
    def to_output(self) -> bool:
        """Whether standard output belongs to a document."""
        return STANDARD_OUTPUT in self.files.values()

    @property
    def shows_diffs(self) -> bool:
        """Whether what changed in inventories is part of what is asked for."""
        return self.html is not None or self.github

    def check(self) -> None:
        """Find out before anything is contacted that something could not be written. Raises Failed."""
        for file in self.files.values():
            check_place(file)
        places = [file if file == STANDARD_OUTPUT else os.path.realpath(file) for file in self.files.values()]
        if len(set(places)) < len(places):
            told = "Two documents would go to one place. Give each a file of its own; one of them may be `-`."
            raise Failed(Code.INVALID_ARGUMENTS, told)

    def write(
        self,
        document: Any,
        diffs: Diffs,
        terminal: Terminal,
        leaks: Callable[[bytes], bool],
        *,
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        """Write an `assay-run/1` document in every form that is asked for. Its files are relative to ``folder``.

        Raises Failed: ``evidence_leak``, and then nothing more is written; ``invalid_arguments`` for a file that cannot
        be written.
        """
        content = {name: _RENDER[name][0](document, diffs) for name in self.files}
        if any(map(leaks, (pretty(document), *content.values()))):
            raise Failed(Code.EVIDENCE_LEAK, "No report was written: it would hold a private value.")
        for name, file in self.files.items():
            write_content(file, content[name], _RENDER[name][1], terminal)
        if self.github:
            self._tell_github(_placed(document, folder, environment), diffs, terminal, environment)

    def _tell_github(self, document: Any, diffs: Diffs, terminal: Terminal, environment: Mapping[str, str]) -> None:
        from host.reports.github import annotations, summary

        terminal.commands(annotations(document, diffs), to_error=self.to_output)
        file = environment.get(_SUMMARY)
        if not file:
            return
        try:
            if not append(file, summary(document, diffs).encode(), _SUMMARY_LIMIT):
                terminal.progress("note: the job's summary is full, and was left as it is.")
        except Failed as failed:
            terminal.progress(f"note: {line(str(failed))}")


def _json(document: Any, _diffs: Diffs) -> bytes:
    return pretty(document)


def _junit(document: Any, _diffs: Diffs) -> bytes:
    from host.reports.junit import render_junit

    return render_junit(document)


def _html(document: Any, diffs: Diffs) -> bytes:
    # Its template engine takes a while to import.
    from host.reports.html import render_html

    return render_html(document, diffs).encode("utf-8", "backslashreplace")


_RENDER: Final[Mapping[str, tuple[_Render, Form]]] = {
    "json": (_json, "json"),
    "junit": (_junit, "markup"),
    "html": (_html, "markup"),
}


def _placed(document: Any, folder: Path, environment: Mapping[str, str]) -> Any:
    """Return the document with its files relative to the repository: annotations find their lines by that."""
    root = environment.get(_WORKSPACE)
    if not root:
        return document
    here, top = folder.resolve(), Path(root).resolve()
    if here == top or not here.is_relative_to(top):
        return document
    within = here.relative_to(top)
    flows = [{**flow, "file": os.path.normpath(within / flow["file"])} for flow in document["flows"]]
    return {**document, "flows": flows}
