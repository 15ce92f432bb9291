"""What a flow is once it was read: sections of steps, each with its arguments, and the facts of its frontmatter."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

from host.problems import Problem
from host.references import Template, Values

__all__ = ["Argument", "Flow", "Input", "Reading", "Section", "Step"]


class Argument(NamedTuple):
    """One argument of a step. Line and column (from 1) are those of its name, or of the command when it has none."""

    name: str
    value: Template | Values
    line: int
    column: int


class Step(NamedTuple):
    """One command of a flow. ``id`` is unique in the flow: `<section-slug>/<name-slug or n.alias.command>`.

    ``name`` is the text of the comment that names it, or None. ``line`` and ``column`` (from 1) are those of its alias.
    """

    id: str
    name: str | None
    alias: str
    provider: str
    command: str
    effect: Literal["observe", "mutate"]
    arguments: tuple[Argument, ...]
    capture: str | None
    line: int
    column: int

    @property
    def needs(self) -> tuple[str, ...]:
        """The inputs and captures that its arguments hold or look up, each once, in order."""
        return tuple(dict.fromkeys(name for argument in self.arguments for name in argument.value.needs))

    def substitute(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return every argument as the string that the plugin is sent.

        Raises KeyError for a name without a value, Failed (`expectation_failed`) when a `:number` has no number.
        """
        return {argument.name: argument.value.substitute(values) for argument in self.arguments}

    def prepare(self, values: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the arguments for the wire's `check`, and the names of those that are still open.

        An argument whose references all have a value is filled in; any other is sent as written and listed as open.
        """
        ready = {}
        still_open = []
        for name, value, _line, _column in self.arguments:
            if all(needed in values for needed in value.needs):
                ready[name] = value.substitute(values)
            else:
                ready[name] = value.source
                still_open.append(name)
        return ready, tuple(still_open)


class Section(NamedTuple):
    """A heading with its steps; ``line`` counts from 1. ``prose`` is its paragraphs, for the progress report.

    ``cleanup`` is true for a section titled `Cleanup`: it always runs.
    """

    title: str
    slug: str
    line: int
    prose: str
    cleanup: bool
    steps: tuple[Step, ...]


class Input(NamedTuple):
    """A public string that a flow takes. ``value`` is what was given, else the default, else None (when planning)."""

    name: str
    value: str | None
    default: str | None
    description: str


class Flow(NamedTuple):
    """A whole flow, ready to be planned or run. ``text`` is the file as it was read; ``budget`` counts seconds.

    ``providers`` maps each alias to its provider; ``inputs`` maps each name to its input. ``warnings`` refuse nothing.
    """

    name: str
    file: str
    text: str
    description: str
    providers: Mapping[str, str]
    inputs: Mapping[str, Input]
    budget: float
    tags: tuple[str, ...]
    sections: tuple[Section, ...]
    warnings: tuple[Problem, ...]

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every step in the order of the file."""
        return tuple(step for section in self.sections for step in section.steps)

    @property
    def values(self) -> dict[str, str]:
        """The inputs that have a value, by name: what a run's captures are added to."""
        return {name: entry.value for name, entry in self.inputs.items() if entry.value is not None}


class Reading(NamedTuple):
    """The outcome of reading one file: a flow, or the problems that refuse it. ``text`` is what was read."""

    file: str
    text: str
    flow: Flow | None
    problems: tuple[Problem, ...]
