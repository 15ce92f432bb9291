"""The `assay-run/1` document as values that every report reads: a run of flows, their steps, and what was refused."""

import math
import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final, NamedTuple

import msgspec

from protocol.failures import CODES, CodeEntry
from protocol.values.document import integer

__all__ = ["EXITS", "FORMAT", "STEP_STATUSES", "Flow", "Problem", "Run", "Section", "Step", "entry", "read"]

FORMAT: Final = "assay-run/1"

#: What each exit status says (flows.md, exit codes).
EXITS: Final[dict[int, str]] = {
    0: "everything succeeded",
    1: "a step failed",
    2: "a flow, binding or option was refused, nearly always before contact",
    3: "the outcome of a step is unknown",
    4: "a step or flow could not be carried out",
    5: "a private value was about to be kept",
    130: "the run was interrupted",
}
#: Gravest first: a summary of several steps takes the first that it meets.
STEP_STATUSES: Final = ("unknown", "failed", "skipped", "succeeded")
FLOW_STATUSES: Final = ("succeeded", "failed", "unknown", "error", "refused", "interrupted")

_ENTRIES: Final[dict[str, CodeEntry]] = {str(code): known for code, known in CODES.items()}
#: Exit statuses of codes that say nothing about the server: the flow was wrong, or the step could not be carried out.
_NOT_THE_SERVER: Final = frozenset({2, 4, 5})
#: Where a step's duration stands, first match: as the host took it, else what its request took.
_MILLISECONDS: Final = (("milliseconds",), ("facts", "milliseconds"), ("facts", "http", "milliseconds"))
#: Ten days in milliseconds: past it a figure is no duration of a step.
_LONGEST: Final = 864_000_000.0


class Problem(NamedTuple):
    """One thing that was refused before contact. Line and column count from 1; line 0 is the file as a whole."""

    line: int
    column: int
    message: str
    help: str


class Step(NamedTuple):
    """One step. ``line`` counts from 1 in the flow's file, 0 if it is not known; ``state`` and ``facts`` are JSON."""

    id: str
    alias: str
    command: str
    effect: str
    status: str
    code: str | None
    message: str
    capture: str | None
    line: int
    state: Any
    facts: dict[str, Any]
    milliseconds: float | None = None

    @property
    def section(self) -> str:
        """The slug of its section."""
        return self.id.partition("/")[0]

    @property
    def name(self) -> str | None:
        """The slug of its comment, or None when it has none and its id counts instead."""
        tail = self.id.partition("/")[2]
        counted = re.fullmatch(rf"[0-9]+\.{re.escape(self.call)}", tail)
        return None if counted or not tail else tail

    @property
    def call(self) -> str:
        """Alias and command, as the flow spells them."""
        return f"{self.alias}.{self.command}"

    @property
    def label(self) -> str:
        """What tells it from the other steps of its section: its name with the call, or its counted call."""
        return f"{self.name} ({self.call})" if self.name else self.id.partition("/")[2] or self.call

    @property
    def is_error(self) -> bool:
        """Whether it says nothing certain about the server: an unknown outcome, or a code of exit 2, 4 or 5."""
        known = entry(self.code)
        return self.status == "unknown" or (
            self.status == "failed" and known is not None and known.exit in _NOT_THE_SERVER
        )

    @property
    def drift(self) -> dict[str, int]:
        """Changes by class, gravest first, that a comparison with a baseline or an earlier run found."""
        found = _resolve(self.facts, ("comparison", "changes"))
        counts = {name: integer(count) for name, count in found.items()} if isinstance(found, dict) else {}
        return {name: count for name, count in counts.items() if count}


class Section(NamedTuple):
    """Steps under one heading. The document keeps its slug only; the title is the slug as words."""

    slug: str
    title: str
    steps: tuple[Step, ...]


class Flow(NamedTuple):
    """One flow of the run; a flow without a readable name goes by its file.

    ``run`` is the id of its evidence folder, None when none was made.
    """

    name: str
    file: str
    run: str | None
    status: str
    code: str | None
    message: str
    steps: tuple[Step, ...]
    problems: tuple[Problem, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        """Its steps by section, in the order of the file."""
        groups = ((slug, tuple(steps)) for slug, steps in groupby(self.steps, key=lambda step: step.section))
        return tuple(Section(slug, _title(slug), steps) for slug, steps in groups)

    @property
    def milliseconds(self) -> float | None:
        """The durations of its steps together, None when no step has one."""
        known = [step.milliseconds for step in self.steps if step.milliseconds is not None]
        return sum(known) if known else None

    @property
    def needs_a_word(self) -> bool:
        """Whether it did not succeed in a way that no step and no problem of it shows."""
        if self.status == "succeeded" or self.problems:
            return False
        seen = {step.code for step in self.steps if step.status in ("failed", "unknown")}
        return self.status == "interrupted" or not seen or (self.code is not None and self.code not in seen)

    @property
    def is_innocent(self) -> bool:
        """Whether nothing is wrong with it, and it was not run because another flow was refused."""
        return self.status == "refused" and self.code is None and not self.problems

    def count(self, status: str) -> int:
        """How many of its steps have the status."""
        return sum(step.status == status for step in self.steps)


class Run(NamedTuple):
    """Every flow of one `assay run`, and its exit status."""

    exit: int
    flows: tuple[Flow, ...]

    @property
    def steps(self) -> Iterator[Step]:
        """The steps of all flows, in order."""
        return (step for flow in self.flows for step in flow.steps)


def entry(code: str | None) -> CodeEntry | None:
    """Return what a code means and what to do; None for no code, or one of another version."""
    return None if code is None else _ENTRIES.get(code)


def read(document: Any) -> Run:
    """Read an `assay-run/1` document, as a run made it or as ``protocol.values.document.parse`` read it from a file.

    Members that it does not know are passed over. Raises ValueError naming the first member that is missing or wrong.
    """
    _object(document, "the document")
    if document.get("format") != FORMAT:
        raise ValueError(f"`format` must be {FORMAT!r}: this is no document of `assay run --json`")
    flows = _list(document, "flows", "")
    return Run(_whole(document, "exit", ""), tuple(_flow(flow, f"flows[{at}]") for at, flow in enumerate(flows)))


def _flow(value: Any, where: str) -> Flow:
    _object(value, where)
    problems = _list(value, "problems", where)
    return Flow(
        name=_optional(value, "flow", where) or _text(value, "file", where),
        file=_text(value, "file", where),
        run=_optional(value, "run", where),
        status=_choice(value, "status", FLOW_STATUSES, where),
        code=_optional(value, "code", where),
        message=_optional(value, "message", where) or "",
        steps=tuple(_step(step, f"{where}.steps[{at}]") for at, step in enumerate(_list(value, "steps", where))),
        problems=tuple(_problem(problem, f"{where}.problems[{at}]") for at, problem in enumerate(problems)),
    )


def _step(value: Any, where: str) -> Step:
    _object(value, where)
    facts = value.get("facts")
    return Step(
        id=_text(value, "id", where),
        alias=_text(value, "alias", where),
        command=_text(value, "command", where),
        effect=_optional(value, "effect", where) or "",
        status=_choice(value, "status", STEP_STATUSES, where),
        code=_optional(value, "code", where),
        message=_optional(value, "message", where) or "",
        capture=_optional(value, "capture", where),
        line=_whole(value, "line", where),
        state=value.get("state"),
        facts=_object({} if facts is None else facts, f"{where}.facts"),
        milliseconds=next(
            (number for path in _MILLISECONDS if (number := _number(_resolve(value, path))) is not None), None
        ),
    )


def _problem(value: Any, where: str) -> Problem:
    _object(value, where)
    line, column = _whole(value, "line", where), _whole(value, "column", where)
    return Problem(line, column, _text(value, "message", where), _optional(value, "help", where) or "")


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be an object")
    return value


def _list(value: Mapping[str, Any], name: str, where: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise ValueError(f"`{_member(where, name)}` must be an array")
    return found


def _text(value: Mapping[str, Any], name: str, where: str) -> str:
    found = _optional(value, name, where)
    if found is None:
        raise ValueError(f"`{_member(where, name)}` must be a string")
    return found


def _optional(value: Mapping[str, Any], name: str, where: str) -> str | None:
    found = value.get(name)
    if found is not None and not isinstance(found, str):
        raise ValueError(f"`{_member(where, name)}` must be a string or null")
    return found


def _choice(value: Mapping[str, Any], name: str, choices: tuple[str, ...], where: str) -> str:
    found = _text(value, name, where)
    if found not in choices:
        raise ValueError(f"`{_member(where, name)}` must be one of {', '.join(choices)}")
    return found


def _whole(value: Mapping[str, Any], name: str, where: str) -> int:
    found = value.get(name)
    number = 0 if found is None else integer(found)
    if number is None or number < 0:
        raise ValueError(f"`{_member(where, name)}` must be a whole number")
    return number


def _member(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _title(slug: str) -> str:
    words = slug.replace("-", " ").strip()
    return words[:1].upper() + words[1:] if words else slug


def _resolve(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | msgspec.Raw):
        return None
    try:
        number = float(bytes(value) if isinstance(value, msgspec.Raw) else value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and 0 <= number <= _LONGEST else None
