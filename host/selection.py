"""Reads the flows that a command line names, and keeps those that have a tag it asks for. Runs nothing."""

from collections.abc import Mapping, Sequence

from host.discovery import Found, find_flows, path_text
from host.files import read_file
from host.outcome import FlowOutcome
from host.problems import Problem, quoted, suggestion
from host.reading import FLOW_LIMIT, Draft, parse_flow
from host.refusals import refuse
from protocol.failures import Code, Failed

__all__ = ["read_flows", "select"]


def read_flows(named: Sequence[str]) -> dict[str, Draft | FlowOutcome]:
    """Read every flow file that is named or lies in a folder that is named, each once; or say why it cannot be.

    Raises Failed (``invalid_arguments``) for a folder that holds far too much.
    """
    read: dict[str, Draft | FlowOutcome] = {}
    for name in named:
        found = find_flows(name)
        if not found.paths:
            read[name] = refuse(None, path_text(name), "", [_nothing_in(found)])
        for path in found.paths:
            if path not in read:
                read[path] = _read(path)
    return read


def _read(path: str) -> Draft | FlowOutcome:
    try:
        return parse_flow(path_text(path), read_file(path, FLOW_LIMIT))
    except Failed as failed:
        return refuse(None, path_text(path), "", [Problem(0, 0, 0, failed.failure.message, "")])


def _nothing_in(found: Found) -> Problem:
    told = (
        "The folder holds no flow: none of the files that were looked at"
        f" ({found.looked_at}) ends in .md and begins with frontmatter (`---`)."
    )
    return Problem(0, 0, 0, told, "Name a flow file.")


def select(read: Mapping[str, Draft | FlowOutcome], tags: Sequence[str]) -> dict[str, Draft | FlowOutcome]:
    """Return what has one of ``tags`` at least; everything when none is asked for.

    What cannot be read that far is kept, so that it is refused and not passed over. Raises Failed
    (``invalid_arguments``) for a tag that no flow has.
    """
    drafts = [draft for draft in read.values() if isinstance(draft, Draft)]
    known = sorted({tag for draft in drafts for tag in draft.tags})
    for tag in tags:
        if tag not in known:
            raise Failed(Code.INVALID_ARGUMENTS, f"No flow has the tag {quoted(tag)}. {suggestion(tag, known, 'tags')}")
    asked = frozenset(tags)
    return {path: entry for path, entry in read.items() if not asked or _is_asked_for(entry, asked)}


def _is_asked_for(entry: Draft | FlowOutcome, asked: frozenset[str]) -> bool:
    if not isinstance(entry, Draft):
        return True
    unreadable = not entry.front.readable or any(problem.line <= entry.front.lines for problem in entry.problems)
    return unreadable or not asked.isdisjoint(entry.tags)
