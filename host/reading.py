"""Reads a flow file whole: first its frontmatter, headings and commands, then all of it against the plugins."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from host.checking import RawSection, check_commands
from host.consent import Grant, check_sign_ins, consent_browsers
from host.description import Description
from host.flow import Flow, Input, Reading
from host.frontmatter import Frontmatter, read_frontmatter
from host.literals import Misread
from host.markdown import Heading, Paragraph, read_markdown
from host.problems import Problem, quoted, suggestion
from host.rfl import Command, read_block
from host.source import Located, Source

__all__ = ["FLOW_LIMIT", "PROVIDERS", "Draft", "check_flow", "parse_flow"]

#: Largest flow, in bytes.
FLOW_LIMIT: Final = 1024 * 1024
#: Problems of one file that are reported; a file with more was no flow.
PROBLEM_LIMIT: Final = 100
#: Providers that a flow may name; a plugin that was named by path adds its own.
PROVIDERS: Final = ("MCP", "Browser", "LocalBash")


class Draft(NamedTuple):
    """A flow whose form was read and whose commands are not yet compared with their plugins.

    ``providers`` (alias to provider) says which descriptions :func:`check_flow` needs; it is empty when unreadable.
    ``inputs`` are the names of the declared inputs.
    """

    source: Source
    front: Frontmatter
    sections: tuple[RawSection, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]

    @property
    def file(self) -> str:
        return self.source.file

    @property
    def providers(self) -> dict[str, str]:
        return {alias: declared.provider for alias, declared in self.front.providers.items()}

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(self.front.inputs)

    @property
    def tags(self) -> tuple[str, ...]:
        return self.front.tags


def parse_flow(file: str, data: bytes) -> Draft:
    """Read the form of one flow of at most 1 MiB. Total: whatever the bytes, the answer is a draft."""
    source, problem = _decode(file, data)
    front, problems = read_frontmatter(source)
    if problem is not None:
        return Draft(source, front, (), (problem,), ())
    parts, found, warnings = read_markdown(source, front.lines)
    problems += found
    sections = [RawSection(None, 1, [], [])]
    for part in parts:
        if isinstance(part, Heading):
            sections.append(RawSection(part.title, part.line, [], []))
        elif isinstance(part, Paragraph):
            sections[-1].prose.append(part.text)
        elif len(problems) < PROBLEM_LIMIT:
            sections[-1].commands.extend(_commands(source, part.text, problems))
    kept = tuple(section for section in sections if section.commands)
    if not kept and not problems:
        advice = "Add a block tagged `rfl` with at least one command; a flow that checks nothing cannot fail."
        problems.append(source.problem(0, 3, "The flow has no commands.", advice))
    return Draft(source, front, kept, _ordered(problems), tuple(warnings))


def check_flow(
    draft: Draft,
    descriptions: Mapping[str, Description],
    given: Mapping[str, str],
    *,
    planning: bool = False,
    grants: Mapping[str, Grant] | None = None,
) -> Reading:
    """Compare a draft with the plugins' descriptions (by provider) and the inputs that were given.

    The steps of a provider without a description are read as far as the file says (the caller reports
    `provider_missing`); a provider that is neither known nor described is a problem. With ``planning`` an input may be
    without a value. ``given`` may hold inputs of other flows (see :func:`host.inputs.require_taken`). ``grants`` says
    how aliases sign in; one that is not in it asks for consent.
    """
    source, front = draft.source, draft.front
    inputs = _inputs(front, given)
    problems = [*draft.problems, *_unknown_providers(source, front, descriptions)]
    if not planning:
        problems += _without_value(source, front, inputs)
    commands = [command for section in draft.sections for command in section.commands if not command.broken]
    used = consent_browsers(front, commands, grants or {})
    checked = check_commands(source, front, draft.sections, descriptions, inputs, PROBLEM_LIMIT, used)
    problems += checked.problems
    problems += check_sign_ins(source, front, commands, grants or {})
    flow = None
    if not problems:
        flow = Flow(
            name=front.name,
            file=source.file,
            text=source.text,
            description=front.description,
            providers=draft.providers,
            inputs=inputs,
            budget=front.minutes * 60,
            tags=front.tags,
            sections=checked.sections,
            warnings=_ordered([*draft.warnings, *checked.warnings]),
        )
    return Reading(source.file, source.text, flow, _ordered(problems))


def _decode(file: str, data: bytes) -> tuple[Source, Problem | None]:
    if len(data) > FLOW_LIMIT:
        message = f"The file is longer than {FLOW_LIMIT} bytes."
        return Source(file, ""), Problem(0, 0, 0, message, "Split it into several flows.")
    try:
        source = Source(file, str(data, "utf-8").removeprefix("\ufeff"))
    except UnicodeDecodeError as error:
        source = Source(file, str(data, "utf-8", "replace").removeprefix("\ufeff"))
        offset = len(str(data[: error.start], "utf-8").removeprefix("\ufeff"))
        message = f"The file is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}."
        return source, source.problem(offset, offset + 1, message, "Save the file as UTF-8.")
    nul = source.text.find("\0")
    if nul >= 0:
        return source, source.problem(nul, nul + 1, "The file holds a NUL character.", "Take it out.")
    if not source.text.strip():
        advice = "A flow begins with frontmatter; `assay init` writes one to start from."
        return source, Problem(1, 1, 0, "The file is empty.", advice)
    return source, None


def _commands(source: Source, block: Located, problems: list[Problem]) -> list[Command]:
    def report(wrong: Misread) -> None:
        start, end = block.offset(wrong.index), block.offset(wrong.index + wrong.width)
        problems.append(source.problem(start, end, wrong.message, wrong.help))

    return read_block(block, report)


def _inputs(front: Frontmatter, given: Mapping[str, str]) -> dict[str, Input]:
    return {
        name: Input(name, given.get(name, declared.default), declared.default, declared.description)
        for name, declared in front.inputs.items()
    }


def _without_value(source: Source, front: Frontmatter, inputs: Mapping[str, Input]) -> list[Problem]:
    return [
        source.problem(
            front.inputs[name].start,
            front.inputs[name].start + len(name),
            f"The input `{name}` has no value.",
            f"Give `--input {name}=…`, or write a `default` for it.",
        )
        for name, entry in inputs.items()
        if entry.value is None
    ]


def _unknown_providers(source: Source, front: Frontmatter, descriptions: Mapping[str, Description]) -> list[Problem]:
    known = sorted({*PROVIDERS, *descriptions})
    return [
        source.problem(
            declared.start,
            declared.end,
            f"There is no provider {quoted(declared.provider)}.",
            suggestion(declared.provider, known, "providers"),
        )
        for declared in front.providers.values()
        if declared.provider not in known
    ]


def _ordered(problems: list[Problem]) -> tuple[Problem, ...]:
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: problem[:2])[:PROBLEM_LIMIT])
