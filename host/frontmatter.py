"""The frontmatter of a flow: strict YAML (no repeated key, alias, anchor or tag), every key and type checked."""

import re
from typing import Final, NamedTuple

from host.problems import Problem, quoted, suggestion
from host.rfl import NAME
from host.source import Source
from host.yaml import Mapping, Misplaced, Node, Scalar, Sequence, read_yaml

__all__ = ["KEYS", "DeclaredInput", "DeclaredProvider", "Frontmatter", "read_frontmatter"]

#: Largest frontmatter, in characters: 200 times what a flow with twenty inputs needs.
FRONTMATTER_LIMIT: Final = 64 * 1024
#: Longest name of a flow, in characters: it becomes a title and part of step ids.
NAME_LIMIT: Final = 200
#: Default and longest deadline of a whole flow, in minutes; the longest is a day.
MINUTES_DEFAULT: Final = 10.0
MINUTES_LIMIT: Final = 24 * 60
KEYS: Final = ("name", "providers", "inputs", "budgets", "description", "tags")
_INPUT_KEYS: Final = ("default", "description")
_TAG: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_EXAMPLE: Final = "A flow begins with `---`, `name: …`, `providers:`, `  api: MCP`, `---`, each on a line of its own."


class DeclaredProvider(NamedTuple):
    """An alias's provider; ``start`` and ``end`` are its offsets, ``alias_start`` is that of the alias."""

    provider: str
    start: int
    end: int
    alias_start: int


class DeclaredInput(NamedTuple):
    """An input as declared; ``start`` is the offset of its name."""

    default: str | None
    description: str
    start: int


class Frontmatter(NamedTuple):
    """What the frontmatter says; where it is wrong, the default stands and a problem was reported.

    ``minutes`` is the whole flow's deadline. ``readable`` is false when aliases cannot be told from it.
    """

    name: str
    description: str
    providers: dict[str, DeclaredProvider]
    inputs: dict[str, DeclaredInput]
    minutes: float
    tags: tuple[str, ...]
    lines: int
    readable: bool


class _Frontmatter:
    """Collects what one frontmatter says and what is wrong with it."""

    def __init__(self, source: Source, start: int) -> None:
        self.source = source
        self.start = start
        self.problems: list[Problem] = []
        self.name = ""
        self.description = ""
        self.providers: dict[str, DeclaredProvider] = {}
        self.inputs: dict[str, DeclaredInput] = {}
        self.minutes = MINUTES_DEFAULT
        self.tags: tuple[str, ...] = ()

    def report(self, node: Node, message: str, advice: str) -> None:
        end = max(node.end, node.start + 1)
        self.problems.append(self.source.problem(self.start + node.start, self.start + end, message, advice))

    def document(self, root: Mapping) -> None:
        read = {
            "name": self._name,
            "providers": self._providers,
            "inputs": self._inputs,
            "budgets": self._budgets,
            "description": self._description,
            "tags": self._tags,
        }
        for key, value in root.entries:
            if key.text in read:
                read[key.text](value)
            elif key.text == "budgets.minutes":
                self.report(
                    key, "`minutes` stands below `budgets`.", "Write `budgets:` and, indented below it, `minutes: …`."
                )
            else:
                advice = suggestion(key.text, KEYS, "keys")
                self.report(key, f"The frontmatter has no key {quoted(key.text)}.", advice)
        present = {key.text for key, _ in root.entries}
        if "name" not in present:
            self._missing("name", "Write `name: …`, what this flow shows in a few words.")
        if "providers" not in present:
            self._missing(
                "providers", "Write `providers:` and, indented below it, one line `alias: MCP` for each alias."
            )

    def _missing(self, key: str, advice: str) -> None:
        self.problems.append(self.source.problem(0, 3, f"The frontmatter has no `{key}`.", advice))

    def _text(self, node: Node, what: str) -> str | None:
        if isinstance(node, Scalar) and node.kind == "string":
            return node.text
        if isinstance(node, Scalar) and node.kind != "null":
            advice = f'Put it in quotes: `"{node.text}"`.' if len(node.text) <= NAME_LIMIT else "Put it in quotes."
            self.report(node, f"{what} is text, and YAML reads this as a {node.kind}.", advice)
        else:
            self.report(node, f"{what} is text.", "Write it on the same line, after `: `.")
        return None

    def _entries(self, node: Node, what: str, advice: str) -> tuple[tuple[Scalar, Node], ...]:
        if isinstance(node, Mapping):
            return node.entries
        self.report(node, f"{what} is a mapping.", advice)
        return ()

    def _name(self, node: Node) -> None:
        text = self._text(node, "`name`")
        if text is None:
            return
        self.name = text.strip()
        if not self.name or len(self.name) > NAME_LIMIT or not self.name.isprintable():
            message = f"`name` is one line of 1 to {NAME_LIMIT} printable characters."
            self.report(node, message, "Say in a few words what the flow shows.")

    def _description(self, node: Node) -> None:
        self.description = (self._text(node, "`description`") or "").strip()

    def _providers(self, node: Node) -> None:
        advice = (
            "Write one line `alias: Provider` for each alias, indented below `providers:`; for example `  api: MCP`."
        )
        entries = self._entries(node, "`providers`", advice)
        if isinstance(node, Mapping) and not entries:
            self.report(node, "`providers` names no alias.", advice)
        for key, value in entries:
            provider = self._text(value, f"The provider of {quoted(key.text)}")
            if self._is_name(key, "an alias") and provider is not None:
                start, end = self.start + value.start, self.start + value.end
                self.providers[key.text] = DeclaredProvider(provider, start, end, self.start + key.start)

    def _is_name(self, key: Scalar, what: str) -> bool:
        if NAME.fullmatch(key.text):
            return True
        advice = "A name is a-z, then a-z, 0-9 or _, all in lower case, 64 characters at most."
        self.report(key, f"{quoted(key.text)} cannot be {what}.", advice)
        return False

    def _inputs(self, node: Node) -> None:
        advice = 'Write `name: {default: "value", description: "…"}` for each input; both may be left out.'
        if isinstance(node, Scalar) and node.kind == "null":
            return
        for key, value in self._entries(node, "`inputs`", advice):
            if not self._is_name(key, "an input"):
                continue
            default, description = None, ""
            absent = isinstance(value, Scalar) and value.kind == "null"
            for option, text in () if absent else self._entries(value, f"The input {quoted(key.text)}", advice):
                if option.text == "default":
                    # A default that is no text was reported: the input is not without a value besides.
                    default = self._text(text, "`default`") or ""
                elif option.text == "description":
                    description = self._text(text, "`description`") or ""
                else:
                    known = suggestion(option.text, _INPUT_KEYS, "keys")
                    self.report(option, f"An input has no key {quoted(option.text)}.", known)
            self.inputs[key.text] = DeclaredInput(default, description, self.start + key.start)

    def _budgets(self, node: Node) -> None:
        for key, value in self._entries(node, "`budgets`", "Write `minutes: 10`, indented below `budgets:`."):
            if key.text != "minutes":
                self.report(
                    key, f"`budgets` has no key {quoted(key.text)}.", suggestion(key.text, ("minutes",), "keys")
                )
                continue
            minutes = value.number if isinstance(value, Scalar) else None
            if minutes is None or not 0 < minutes <= MINUTES_LIMIT:
                message = f"`minutes` is a number, more than 0 and at most {MINUTES_LIMIT}."
                self.report(value, message, "Write, for example, `minutes: 15`.")
            else:
                self.minutes = minutes

    def _tags(self, node: Node) -> None:
        if not isinstance(node, Sequence):
            self.report(node, "`tags` is a list.", "Write `tags: [smoke, nightly]`.")
            return
        tags: list[str] = []
        for entry in node.entries:
            tag = self._text(entry, "A tag")
            if tag is None:
                continue
            if not _TAG.fullmatch(tag):
                advice = (
                    "A tag is 1 to 64 letters, digits, dots, underscores or hyphens, and begins with a letter or digit."
                )
                self.report(entry, f"{quoted(tag)} is no tag.", advice)
            elif tag in tags:
                self.report(entry, f"The tag {quoted(tag)} is repeated.", "Take it out.")
            else:
                tags.append(tag)
        self.tags = tuple(tags)


def read_frontmatter(source: Source) -> tuple[Frontmatter, list[Problem]]:
    """Read the lines between the first `---` and the next one. Total: what cannot be read is a problem.

    ``Frontmatter.lines`` counts the lines up to and with the closing `---`.
    """
    lines = source.lines
    if lines[0].rstrip(" \t") != "---":
        return _nothing(0), [source.problem(0, len(lines[0]), "The flow has no frontmatter.", _EXAMPLE)]
    last = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip(" \t") == "---"), None)
    if last is None:
        message = "The frontmatter is not closed."
        return _nothing(len(lines)), [source.problem(0, 3, message, "End it by a line `---`.")]
    start, end = source.start(2), source.start(last + 1)
    if end - start > FRONTMATTER_LIMIT:
        message = f"The frontmatter is longer than {FRONTMATTER_LIMIT} characters."
        return _nothing(last + 1), [source.problem(0, 3, message, "Move what is for people below it.")]
    reader = _Frontmatter(source, start)
    try:
        root = read_yaml(source.text[start:end])
    except Misplaced as wrong:
        problem = source.problem(start + wrong.start, start + wrong.end, wrong.message, wrong.help)
        return _nothing(last + 1), [problem]
    reader.document(root)
    front = Frontmatter(
        reader.name, reader.description, reader.providers, reader.inputs, reader.minutes, reader.tags, last + 1,
        readable=True,
    )  # fmt: skip
    return front, reader.problems


def _nothing(lines: int) -> Frontmatter:
    return Frontmatter("", "", {}, {}, MINUTES_DEFAULT, (), lines, readable=False)
