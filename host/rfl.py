"""Commands of one `rfl` block: the grammar of docs/flows.md, with the place of every part and of what is wrong."""

import re
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from host.literals import QUOTES, Misread, read_object, read_string, unexpected
from host.problems import quoted
from host.source import Located

__all__ = ["NAME", "Command", "Comment", "RawArgument", "Word", "read_block"]

#: Aliases, captures and inputs: no longer than the wire takes an alias (docs/protocol.md).
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
#: Commands and arguments.
_COMMAND: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SPACE: Final = re.compile(r"[ \t]*")
#: A word as a person would take it: up to space, a quote, a bracket, or what has a meaning of its own.
_WORD: Final = re.compile(r"[^\s.=#\"{}\[\]]+")
#: A line that begins like a command: where reading goes on after an object that went wrong.
_NEXT: Final = re.compile(r"^[ \t]*[a-z][a-z0-9_]*\.[A-Za-z]", re.MULTILINE)
_ARROW_NAME: Final = re.compile(r"->[ \t]*([a-z][a-z0-9_]*)")
#: What stands in place of a value that should have been quoted.
_UNQUOTED: Final = re.compile(r"[^\s\"]+")
#: Longest value that is repeated in quotes, as what to write.
SUGGESTED_CHARACTERS: Final = 40
_FORM: Final = 'A command is `alias.command name="value" … -> capture # name`.'

#: Takes what is wrong with one command, with indices in the block's text.
Report: TypeAlias = Callable[[Misread], None]


class Word(NamedTuple):
    """A word of the file; ``start`` and ``end`` are offsets in it."""

    text: str
    start: int
    end: int


class RawArgument(NamedTuple):
    """`name=value`. ``value`` is the string's value, or the object's text when it stands ``bare``.

    ``start`` and ``end`` are the value's offsets in the file, quotes included.
    """

    name: Word
    value: Located
    bare: bool
    start: int
    end: int


class Comment(NamedTuple):
    """The comment at a command's end: ``text`` without its `#` and the space around it."""

    text: str
    start: int
    end: int


class Command(NamedTuple):
    """One command as written. A ``broken`` one could not be read whole and was reported; it tells its captures only."""

    alias: Word
    name: Word
    arguments: tuple[RawArgument, ...]
    capture: Word | None
    comment: Comment | None
    broken: bool = False


def read_block(block: Located, report: Report, limit: int = 100) -> list[Command]:
    """Read every command of a block. What is wrong goes to ``report``, once for each command; reading then goes on.

    After ``limit`` wrong commands it ends: such a block holds something else.
    """
    commands = []
    index = wrongs = 0
    while index < len(block.text) and wrongs < limit:
        start = _skip(block.text, index)
        if block.text[start : start + 1] in ("", "\n", "#"):
            index = _end_of_line(block.text, start) + 1
            continue
        reader = _Reader(block, start)
        try:
            commands.append(reader.command())
            index = reader.index + 1
        except Misread as wrong:
            report(_unclosed(block.text, wrong, reader.object_start))
            commands.append(reader.broken())
            wrongs += 1
            index = _resume(block.text, start, wrong.index, reader.object_start)
    return commands


def _unclosed(text: str, wrong: Misread, object_start: int | None) -> Misread:
    """Say it of the object's brace when reading ran into the next command: the place there tells nothing."""
    line = text.rfind("\n", 0, wrong.index) + 1
    if object_start is None or line <= object_start or not _NEXT.match(text, line):
        return wrong
    advice = "Close every `{` and `[` in it; the next command begins on a line of its own."
    return Misread(object_start, 1, "The object is not closed before the next command.", advice)


def _resume(text: str, start: int, wrong: int, object_start: int | None) -> int:
    """Return where reading goes on: on the next line, or, inside an object, where a line begins like a command."""
    line = _end_of_line(text, max(start, wrong if object_start is None else object_start)) + 1
    if object_start is None:
        return line
    following = _NEXT.search(text, min(line, len(text)))
    return following.start() if following else len(text)


def _skip(text: str, index: int) -> int:
    space = _SPACE.match(text, index)
    assert space is not None
    return space.end()


def _end_of_line(text: str, index: int) -> int:
    end = text.find("\n", index)
    return len(text) if end < 0 else end


class _Reader:
    """Reads one command; ``index`` moves through the block's text. ``object_start`` is set while an object is read."""

    def __init__(self, block: Located, index: int) -> None:
        self.block = block
        self.text = block.text
        self.first = index
        self.index = index
        self.object_start: int | None = None

    def command(self) -> Command:
        alias = self._alias()
        name = self._command_name()
        arguments: list[RawArgument] = []
        capture: Word | None = None
        while not self._at_end():
            space = _skip(self.text, self.index)
            spaced, self.index = space > self.index, space
            if self._at_end():
                break
            if not spaced:
                raise self._not_spaced()
            if self.text[self.index] == "#":
                return Command(alias, name, tuple(arguments), capture, self._comment())
            if capture is not None:
                raise self._after_capture()
            if self.text.startswith("->", self.index):
                capture = self._capture()
            else:
                arguments.append(self._argument())
        return Command(alias, name, tuple(arguments), capture, None)

    def broken(self) -> Command:
        """Return what is known of a command that could not be read: its capture, so that later uses are no problem."""
        line = self.text[self.first : _end_of_line(self.text, max(self.first, self.index))]
        found = _ARROW_NAME.search(line)
        nothing = self._word(self.first, self.first)
        capture = self._word(self.first + found.start(1), self.first + found.end(1)) if found else None
        return Command(nothing, nothing, (), capture, None, broken=True)

    def _at_end(self) -> bool:
        return self.text[self.index : self.index + 1] in ("", "\n")

    def _word(self, start: int, end: int) -> Word:
        first = self.block.offset(start)
        return Word(self.text[start:end], first, first + end - start)

    def _take(self, end: int) -> Word:
        word = self._word(self.index, end)
        self.index = end
        return word

    def _here(self) -> tuple[str, int]:
        """Return the word at the index, or the one character when there is none, and its width."""
        word = _WORD.match(self.text, self.index)
        found = word.group() if word else self.text[self.index : self.index + 1]
        return found, max(1, len(found))

    def _alias(self) -> Word:
        found, width = self._here()
        end = self.index + width
        if NAME.fullmatch(found) and self.text[end : end + 1] == ".":
            return self._take(end)
        if self.text[end : end + 1] == "." and _WORD.fullmatch(found):
            message = f"{quoted(found)} is no alias: an alias is a-z, then a-z, 0-9 or _, 64 characters at most."
            raise Misread(self.index, width, message, "Write the alias as the frontmatter's `providers` names it.")
        if NAME.fullmatch(found):
            raise Misread(self.index, width, f"A `.` and a command are expected after {quoted(found)}.", _FORM)
        what = quoted(found) if _WORD.fullmatch(found) else unexpected(found)
        raise Misread(self.index, width, f"A command begins with an alias, not with {what}.", _FORM)

    def _command_name(self) -> Word:
        self.index += 1
        found = _COMMAND.match(self.text, self.index)
        if found is None:
            raise Misread(self.index - 1, 1, "A command's name is expected after the `.`.", _FORM)
        return self._take(found.end())

    def _comment(self) -> Comment:
        end = _end_of_line(self.text, self.index)
        word = self._take(end)
        return Comment(word.text[1:].strip(), word.start, word.end)

    def _capture(self) -> Word:
        arrow = self.index
        self.index = _skip(self.text, arrow + 2)
        if self._at_end():
            raise Misread(arrow, 2, "A capture's name is expected after `->`.", "Write `-> name`.")
        found, width = self._here()
        if self.index == arrow + 2:
            raise Misread(arrow, 2, "A space is expected after `->`.", f"Write `-> {found}`.")
        if not NAME.fullmatch(found):
            what = quoted(found) if _WORD.fullmatch(found) else unexpected(found)
            message = f"{what} is no name of a capture: it is a-z, then a-z, 0-9 or _, 64 characters at most."
            raise Misread(self.index, width, message, "Write, for example, `-> record_id`.")
        return self._take(self.index + width)

    def _argument(self) -> RawArgument:
        found = _COMMAND.match(self.text, self.index)
        if found is None or self.text[found.end() : found.end() + 1] != "=":
            raise self._no_argument()
        name = self._take(found.end())
        self.index += 1
        start = self.index
        character = self.text[start : start + 1]
        if character == '"':
            literal = read_string(self.text, start)
            value, bare = self.block.decoded(literal.value, literal.anchors), False
            self.index = literal.end
        elif character == "{":
            self.object_start = start
            self.index, _ = read_object(self.text, start)
            self.object_start = None
            value, bare = self.block.slice(start, self.index), True
        else:
            raise self._no_value(name.text)
        return RawArgument(name, value, bare, self.block.offset(start), self.block.offset(self.index - 1) + 1)

    def _not_spaced(self) -> Misread:
        character = self.text[self.index]
        if character == "#":
            return Misread(self.index, 1, "A space is expected before a comment.", "Write ` # name`.")
        if character.isspace() or not character.isascii():
            return self._foreign()
        message = f"A space is expected before {unexpected(character)}."
        return Misread(self.index, 1, message, "Separate the parts of a command by spaces or tabs. " + _FORM)

    def _after_capture(self) -> Misread:
        _, width = self._here()
        message = "Only a comment may follow a capture."
        return Misread(self.index, width, message, "Put `-> name` after the last argument.")

    def _foreign(self) -> Misread:
        message = f"{unexpected(self.text[self.index])} cannot stand here."
        return Misread(self.index, 1, message, "Between the parts of a command, use plain spaces or tabs.")

    def _no_argument(self) -> Misread:
        found, width = self._here()
        after = self.index + width
        if not _WORD.fullmatch(found):
            if not found.isascii() or not found.isprintable():
                return self._foreign()
            message = f"An argument is expected here, not {unexpected(found)}."
            return Misread(self.index, 1, message, 'An argument is `name="value"`, or `name={…}` for a JSON object.')
        if self.text[after : after + 1] == "=":
            message = f"{quoted(found)} is no argument's name: it is a letter, then letters, 0-9 or _."
            return Misread(self.index, width, message, "`assay plugins` lists the arguments of every command.")
        if self.text[_skip(self.text, after) :].startswith("="):
            message = "No space may stand around `=`."
            return Misread(
                self.index, width, message, f'Write `{found}="value"`.' if _COMMAND.fullmatch(found) else _FORM
            )
        message = f"{quoted(found)} is no argument: `=` and a value are missing."
        return Misread(self.index, width, message, 'An argument is `name="value"`; a comment begins with `#`.')

    def _no_value(self, name: str) -> Misread:
        found, width = self._here()
        if self._at_end() or found in (" ", "\t"):
            rest = _skip(self.text, self.index)
            if self.text[rest : rest + 1] in ("", "\n", "#"):
                message = f"The argument `{name}` has no value."
                return Misread(self.index - 1, 1, message, f'Write `{name}="value"`.')
            return Misread(self.index - 1, 1, "No space may stand around `=`.", f'Write `{name}="value"`.')
        if found == "[":
            message = "An array cannot stand bare, only an object."
            return Misread(self.index, 1, message, f'Write the array as a string: `{name}="[…]"`.')
        if found[0] in QUOTES:
            return Misread(self.index, 1, "A string has double quotes.", f'Write `{name}="value"`.')
        if not _WORD.fullmatch(found):
            message = f"A value is expected here, not {unexpected(found)}."
            return Misread(self.index, width, message, f'Write `{name}="value"`.')
        written = _UNQUOTED.match(self.text, self.index)
        assert written is not None
        plain = (
            len(written.group()) <= SUGGESTED_CHARACTERS and written.group().isascii() and "\\" not in written.group()
        )
        advice = f'Write `{name}="{written.group() if plain else "value"}"`.'
        return Misread(self.index, len(written.group()), "A value needs double quotes.", advice)
