"""Compares the commands of a flow with its frontmatter, its plugins' descriptions, and one another: makes its steps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from host.description import ArgumentDescription, CommandDescription, Description
from host.flow import Argument, Input, Section, Step
from host.frontmatter import Frontmatter
from host.literals import Misread
from host.members import unknown_members
from host.problems import Problem, quoted, suggestion
from host.references import (
    Mention,
    Reference,
    Template,
    Values,
    find_mentions,
    object_template,
    program_template,
    text_template,
)
from host.rfl import Command, RawArgument, Word
from host.slug import slug, unique_slug
from host.source import Source

__all__ = ["Checked", "RawSection", "check_commands"]


class RawSection(NamedTuple):
    """A heading, its paragraphs, and its commands as written. ``title`` is None before the first heading."""

    title: str | None
    line: int
    prose: list[str]
    commands: list[Command]


class Checked(NamedTuple):
    """The sections with their steps, as far as they are right, and what is wrong with the others."""

    sections: tuple[Section, ...]
    problems: list[Problem]
    warnings: list[Problem]


def check_commands(
    source: Source,
    front: Frontmatter,
    sections: Sequence[RawSection],
    descriptions: Mapping[str, Description],
    inputs: Mapping[str, Input],
    limit: int,
    used: Iterable[str] = (),
) -> Checked:
    """Check every command in the order of the file, up to ``limit`` problems, and give each step its id.

    ``used`` are aliases that the flow needs without a command of theirs.
    """
    checker = _Checker(source, front, descriptions, inputs, _captures(sections))
    checker.used.update(used)
    taken: dict[str, int] = {}
    made = []
    for section in sections:
        title = section.title if section.title is not None else front.name
        name = unique_slug(title, taken)
        steps = checker.steps(name, section.commands, limit)
        cleanup = title.strip().casefold() == "cleanup"
        made.append(Section(title, name, section.line, "\n\n".join(section.prose), cleanup, steps))
    return Checked(tuple(made), checker.problems, checker.unused())


def _captures(sections: Sequence[RawSection]) -> dict[str, Word]:
    """Return where each capture is first made, wherever in the file."""
    found: dict[str, Word] = {}
    for section in sections:
        for command in section.commands:
            if command.capture is not None:
                found.setdefault(command.capture.text, command.capture)
    return found


class _Checker:
    """Walks the commands once; what is known so far (captures made, aliases used) grows on the way."""

    def __init__(
        self,
        source: Source,
        front: Frontmatter,
        descriptions: Mapping[str, Description],
        inputs: Mapping[str, Input],
        captures: Mapping[str, Word],
    ) -> None:
        self.source = source
        self.front = front
        self.descriptions = descriptions
        self.inputs = inputs
        self.captures = captures
        self.made: dict[str, Word] = {}
        self.used: set[str] = set()
        self.has_programs = False
        self.problems: list[Problem] = []

    def report(self, start: int, end: int, message: str, advice: str) -> None:
        self.problems.append(self.source.problem(start, end, message, advice))

    def report_word(self, word: Word, message: str, advice: str) -> None:
        self.report(word.start, word.end, message, advice)

    def line(self, word: Word) -> int:
        return self.source.place(word.start)[0]

    def steps(self, section: str, commands: Sequence[Command], limit: int) -> tuple[Step, ...]:
        steps = []
        names: dict[str, int] = {}
        for number, command in enumerate(commands, 1):
            if len(self.problems) >= limit:
                break
            step = None if command.broken else self.step(section, number, command, names)
            if command.capture is not None:
                self.capture(command.capture)
            if step is not None:
                steps.append(step)
        return tuple(steps)

    def step(self, section: str, number: int, command: Command, names: dict[str, int]) -> Step | None:
        """Return the step of one command, or None when its alias or command is not known."""
        identity = f"{section}/{self.name(command, names) or f'{number}.{command.alias.text}.{command.name.text}'}"
        declared = self.front.providers.get(command.alias.text)
        if declared is None:
            self.unknown_alias(command.alias)
            return None
        self.used.add(command.alias.text)
        description = self.descriptions.get(declared.provider)
        described = description.commands.get(command.name.text) if description else None
        if description is not None and described is None:
            advice = suggestion(command.name.text, description.commands.keys(), "commands")
            message = f"{description.provider} has no command {quoted(command.name.text)}."
            self.report_word(command.name, message, advice)
            return None
        if described is not None and command.capture is not None and not described.capture:
            self.captures_nothing(command, description)
        line, column = self.source.place(command.alias.start)
        return Step(
            id=identity,
            name=command.comment.text if command.comment and slug(command.comment.text) else None,
            alias=command.alias.text,
            provider=declared.provider,
            command=command.name.text,
            effect=described.effect if described else "mutate",
            arguments=self.arguments(command, described),
            capture=command.capture.text if command.capture else None,
            line=line,
            column=column,
        )

    def name(self, command: Command, names: dict[str, int]) -> str:
        """Return the slug of the comment that names a step; a second step of one name in a section is refused."""
        comment = command.comment
        name = slug(comment.text) if comment else ""
        if comment and name in names:
            message = f"The step on line {names[name]} of this section has the same name."
            self.report(comment.start, comment.end, message, "Give this step another name, or take the comment out.")
        elif name:
            names[name] = self.line(command.alias)
        return name

    def unknown_alias(self, alias: Word) -> None:
        # Without any alias the frontmatter is what is wrong, and that has been told.
        if not self.front.readable or not self.front.providers:
            return
        message = f"The frontmatter's `providers` has no alias {quoted(alias.text)}."
        self.report_word(alias, message, suggestion(alias.text, self.front.providers.keys(), "aliases"))

    def captures_nothing(self, command: Command, description: Description | None) -> None:
        assert command.capture is not None
        assert description is not None
        able = [quoted(name) for name, each in description.commands.items() if each.capture]
        advice = f"Take `-> {command.capture.text}` out" + (f", or use {' or '.join(able)}." if able else ".")
        message = f"The command {quoted(command.name.text)} captures nothing."
        self.report_word(command.capture, message, advice)

    def capture(self, capture: Word) -> None:
        name = capture.text
        if name in self.front.inputs:
            message = f"The capture {quoted(name)} has the name of an input."
            self.report_word(capture, message, "Give it another name.")
        elif name in self.made:
            message = f"The capture {quoted(name)} was already made on line {self.line(self.made[name])}."
            self.report_word(capture, message, "Give it another name: a capture keeps its value.")
        else:
            self.made[name] = capture

    def arguments(self, command: Command, described: CommandDescription | None) -> tuple[Argument, ...]:
        seen: dict[str, Argument] = {}
        writable = _writable(described)
        for raw in command.arguments:
            name = raw.name.text
            known = writable.get(name)
            if name in seen:
                message = f"The argument {quoted(name)} is repeated."
                self.report_word(raw.name, message, f"Keep one of them; the other is in column {seen[name].column}.")
                continue
            if described is not None and known is None:
                message = f"{quoted(command.name.text)} takes no argument {quoted(name)}."
                self.report_word(raw.name, message, suggestion(name, writable.keys(), "arguments"))
            line, column = self.source.place(raw.name.start)
            seen[name] = Argument(name, self.template(raw, described, known), line, column)
        self.missing(command, writable, seen)
        filled = described.arguments.keys() - writable.keys() if described else ()
        line, column = self.source.place(command.alias.start)
        return (*seen.values(), *(Argument(name, Values(), line, column) for name in sorted(filled)))

    def missing(
        self, command: Command, writable: Mapping[str, ArgumentDescription], seen: Mapping[str, Argument]
    ) -> None:
        for argument in writable.values():
            if argument.required and argument.name not in seen:
                form = "{…}" if argument.kind == "object" else '"…"'
                message = f"{quoted(command.name.text)} needs the argument `{argument.name}`."
                self.report_word(command.name, message, f"Add `{argument.name}={form}`. {argument.summary}".rstrip())

    def template(
        self, raw: RawArgument, described: CommandDescription | None, known: ArgumentDescription | None
    ) -> Template:
        """Find an argument's references and check them; of an argument that is not known, its form alone is."""
        kind = known.kind if known else "object" if raw.bare else "unknown"
        report = self.reporter(raw)
        if kind == "object":
            template = object_template(raw.value, report)
            content = known.schema.get("contentSchema") if known else None
            for wrong in unknown_members(raw.name.text, raw.value.text, content) if isinstance(content, dict) else ():
                report(wrong)
        elif raw.bare:
            message = f"The argument `{raw.name.text}` is text, not a JSON object."
            self.report(raw.start, raw.start + 1, message, f'Write `{raw.name.text}="…"`.')
            template = program_template(raw.value)
        elif kind == "text":
            template = text_template(raw.value, report)
        else:
            # A program's `${…}` is its own; what an unknown argument would take is not known.
            self.has_programs = self.has_programs or described is None or kind == "program"
            mentioned = map(self.mention, find_mentions(raw.value)) if kind == "program" else ()
            template = program_template(raw.value, filter(None, mentioned))
        for reference in template.references:
            self.reference(reference)
        return template

    def reporter(self, raw: RawArgument) -> Callable[[Misread], None]:
        def report(wrong: Misread) -> None:
            start, end = raw.value.offset(wrong.index), raw.value.offset(wrong.index + wrong.width)
            self.report(start, end, wrong.message, wrong.help)

        return report

    def reference(self, reference: Reference) -> None:
        name = reference.name
        self.used.add(f"${name}")
        if name in self.inputs:
            self.input_number(reference, self.inputs[name].value)
        elif name not in self.made:
            self.missing_name(name, reference, " Write `$${` for a literal `${`.")

    def mention(self, mention: Mention) -> str | None:
        """Check a variable in a program's text, and return the input or capture that it stands for, if any."""
        name = mention.name
        if name in self.inputs or name in self.made:
            return name
        if name is not None and (name in self.captures or mention.expanded):
            self.missing_name(name, mention, " `RFL_<NAME>` is an input or a capture, its name in capitals.")
        elif mention.expanded:
            start, end = mention.offset, mention.offset + mention.width
            advice = "Write `RFL_` and the name of an input or capture in capitals."
            self.report(start, end, "A variable `RFL_<NAME>` is written in capitals.", advice)
        return None

    def missing_name(self, name: str, place: Reference | Mention, hint: str) -> None:
        start, end = place.offset, place.offset + place.width
        if name in self.captures:
            line = self.line(self.captures[name])
            message = f"The capture {quoted(name)} is used before it exists: it is made on line {line}."
            self.report(start, end, message, "Move this command below that one.")
        else:
            message = f"There is no input or capture {quoted(name)}."
            advice = suggestion(name, sorted({*self.inputs, *self.made}), "names") + hint
            self.report(start, end, message, advice)

    def input_number(self, reference: Reference, value: str | None) -> None:
        if reference.number and value is not None and not reference.accepts(value):
            message = f"The input {quoted(reference.name)} is not spelled as a JSON number."
            advice = f"Give it a number, or write `${{{reference.name}}}` to insert it as text."
            self.report(reference.offset, reference.offset + reference.width, message, advice)

    def unused(self) -> list[Problem]:
        """Return warnings for what is declared and not used: most often a name that was changed in one place."""
        warnings = []
        for alias, declared in self.front.providers.items():
            if alias not in self.used:
                start = declared.alias_start
                message = f"The alias {quoted(alias)} is not used."
                warnings.append(
                    self.source.problem(start, start + len(alias), message, "Take it out if it is not needed.")
                )
        for name, entry in self.front.inputs.items():
            if f"${name}" not in self.used and not self.has_programs:
                message = f"The input {quoted(name)} is not used."
                advice = f"Take it out, or use it as `${{{name}}}`."
                warnings.append(self.source.problem(entry.start, entry.start + len(name), message, advice))
        return warnings


def _writable(described: CommandDescription | None) -> dict[str, ArgumentDescription]:
    """Return the arguments that a flow may write: all but those that the host fills in."""
    arguments = described.arguments if described else {}
    return {name: argument for name, argument in arguments.items() if argument.kind != "values"}
