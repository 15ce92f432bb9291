"""References in arguments: `${name}`, `"${name:number}"`, and `$${` for a literal `${`; filled in exactly."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from host.literals import NUMBER, JsonString, Misread, read_object
from host.problems import quoted
from host.source import Located
from protocol.failures import Code, Failed

__all__ = [
    "Mention",
    "Reference",
    "Template",
    "Values",
    "find_mentions",
    "object_template",
    "program_template",
    "text_template",
]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
#: What the `$` of a text may begin: a literal `${`, a reference, or a reference that is malformed.
_DOLLAR: Final = re.compile(
    r"(?P<literal>\$\$\{)|\$\{(?P<name>[a-z][a-z0-9_]*)(?P<kind>:[^}\"\n]*)?\}|\$\{[^}\s\"]*\}?"
)

#: How a program looks up an input or capture: `$RFL_NAME` and `${RFL_NAME…}` in a shell, or the bare variable.
_VARIABLE: Final = re.compile(r"(?P<dollar>\$(?:\{[!#]?)?)?\bRFL_(?P<name>[A-Za-z0-9_]+)")

#: Takes the misreadings of one value, with indices in its text.
Report: TypeAlias = Callable[[Misread], None]


class Reference(NamedTuple):
    """One `${name}`; with ``number``, one `"${name:number}"`. ``offset`` and ``width`` are its place in the file."""

    name: str
    number: bool
    offset: int
    width: int

    def accepts(self, value: str) -> bool:
        """Tell whether a value may stand for it: any text, or with ``number`` the spelling of a JSON number."""
        return not self.number or NUMBER.fullmatch(value) is not None


class Mention(NamedTuple):
    """One environment variable `RFL_<NAME>` in a program's text; ``expanded`` when a `$` stands before it.

    ``name`` is that of the input or capture, or None when the variable is not in capitals. ``offset`` and ``width`` are
    its place in the file.
    """

    name: str | None
    expanded: bool
    offset: int
    width: int


class Values:
    """The value of an argument that the host fills in: every input and capture there is, as a JSON object's text."""

    source: Final = "{}"
    references: Final[tuple[Reference, ...]] = ()
    needs: Final[tuple[str, ...]] = ()

    def substitute(self, values: Mapping[str, str]) -> str:
        """Return the object's text, names in order."""
        return json.dumps(dict(values), ensure_ascii=False, sort_keys=True)


class Template(NamedTuple):
    """An argument's value: literal text and references in turn.

    ``source`` is the value as written, references included (what `check` is sent while one is open). With ``json`` the
    whole is the text of a JSON object and values go in as escaped text of JSON strings. ``mentions`` names what a
    program's text looks up in its environment: values that it needs, and that are not put into it.
    """

    source: str
    parts: tuple[str | Reference, ...]
    json: bool
    mentions: tuple[str, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        """Every reference, in order."""
        return tuple(part for part in self.parts if isinstance(part, Reference))

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of inputs and captures that it holds or looks up, each once, in order."""
        return tuple(dict.fromkeys((*(reference.name for reference in self.references), *self.mentions)))

    def substitute(self, values: Mapping[str, str]) -> str:
        """Return the value with every reference replaced by ``values[name]``.

        Raises KeyError for a name without a value, and Failed (`expectation_failed`) when `:number` stands for a value
        that is not spelled as a JSON number.
        """
        return "".join(part if isinstance(part, str) else self._insert(part, values[part.name]) for part in self.parts)

    def _insert(self, reference: Reference, value: str) -> str:
        if not reference.accepts(value):
            raise Failed(
                Code.EXPECTATION_FAILED,
                f"`${{{reference.name}:number}}` needs the spelling of a JSON number, and `{reference.name}` is none."
                f" Write `${{{reference.name}}}` to insert it as text.",
            )
        if reference.number:
            return value
        return json.dumps(value, ensure_ascii=False)[1:-1] if self.json else value


def program_template(value: Located, mentioned: Iterable[str] = ()) -> Template:
    """Take a value as it stands: a program's text, whose `${…}` is its own. ``mentioned`` is what it looks up."""
    return Template(value.text, (value.text,), json=False, mentions=tuple(mentioned))


def find_mentions(value: Located) -> list[Mention]:
    """Find every variable `RFL_<NAME>` in a program's text."""
    found = []
    for match in _VARIABLE.finditer(value.text):
        name = match["name"]
        start = match.start() + len(match["dollar"] or "")
        offset = value.offset(start)
        width = value.offset(match.end()) - offset
        found.append(Mention(name.lower() if name == name.upper() else None, bool(match["dollar"]), offset, width))
    return found


def text_template(value: Located, report: Report) -> Template:
    """Find the references of a plain argument, which are inserted as they are."""
    parts = _scan(value, 0, len(value.text), report, _refuse_number)
    return Template(value.text, _joined(parts), json=False)


def object_template(value: Located, report: Report) -> Template:
    """Find the references of a JSON object's text: in string values only, and `:number` as a whole one only.

    Text that is not one JSON object is reported; the template then has no references.
    """
    try:
        strings = _read_whole(value.text)
    except Misread as wrong:
        report(wrong)
        return Template(value.text, (value.text,), json=True)
    parts: list[str | Reference] = []
    done = 0
    for string in strings:
        if value.text.find("${", string.start, string.end) < 0:
            continue
        parts.append(value.text[done : string.start])
        parts.extend(_string_parts(value, string, report))
        done = string.end
    parts.append(value.text[done:])
    return Template(value.text, _joined(parts), json=True)


def _read_whole(text: str) -> list[JsonString]:
    start = _end_of_space(text, 0)
    if text[start : start + 1] != "{":
        advice = 'Write an object: `{"name": "value"}`.'
        raise Misread(start, len(text) - start, "The value has to be a JSON object.", advice)
    end, strings = read_object(text, start)
    rest = _end_of_space(text, end)
    if rest < len(text):
        message = "Something follows the JSON object."
        raise Misread(rest, len(text) - rest, message, "Take it out: the value is one object.")
    return strings


def _end_of_space(text: str, index: int) -> int:
    space = _SPACE.match(text, index)
    assert space is not None
    return space.end()


def _string_parts(value: Located, string: JsonString, report: Report) -> list[str | Reference]:
    inner = value.text[string.start + 1 : string.end - 1]
    whole = _DOLLAR.fullmatch(inner)
    if whole and whole["kind"] == ":number" and string.member is None:
        return [_reference(value, string.start + 1, whole, number=True)]
    check = _refuse_number if string.member is None else _refuse_name
    return ['"', *_scan(value, string.start + 1, string.end - 1, report, check), '"']


def _scan(
    value: Located, start: int, end: int, report: Report, refuse: Callable[[re.Match[str]], Misread | None]
) -> list[str | Reference]:
    parts: list[str | Reference] = []
    done = start
    for found in _DOLLAR.finditer(value.text, start, end):
        parts.append(value.text[done : found.start()])
        done = found.end()
        if found["literal"]:
            parts.append("${")
        elif found["name"] is None:
            report(_malformed(found))
        elif wrong := refuse(found):
            report(wrong)
        else:
            parts.append(_reference(value, found.start(), found, number=False))
    parts.append(value.text[done:end])
    return parts


def _reference(value: Located, index: int, found: re.Match[str], *, number: bool) -> Reference:
    offset = value.offset(index)
    return Reference(found["name"], number, offset, value.offset(index + len(found.group())) - offset)


def _joined(parts: list[str | Reference]) -> tuple[str | Reference, ...]:
    joined: list[str | Reference] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)


def _malformed(found: re.Match[str]) -> Misread:
    closed = found.group().endswith("}")
    message = f"{quoted(found.group())} is no reference." if closed else "A reference is not closed by `}`."
    advice = "Write `${name}`, the name in lower case (a-z, 0-9, _), or `$${` for a literal `${`."
    return Misread(found.start(), len(found.group()), message, advice)


def _refuse_number(found: re.Match[str]) -> Misread | None:
    if found["kind"] is None:
        return None
    width = len(found.group())
    if found["kind"] == ":number":
        message = "`:number` may stand only as the whole of a string value in a JSON object."
        advice = f'Write `"${{{found["name"]}:number}}"` as a whole value, or `${{{found["name"]}}}` to insert text.'
    else:
        message = f"{quoted(found['kind'])} is no kind of reference."
        advice = (
            f'Write `${{{found["name"]}}}` for text, or `"${{{found["name"]}:number}}"` for a number in a JSON object.'
        )
    return Misread(found.start(), width, message, advice)


def _refuse_name(found: re.Match[str]) -> Misread | None:
    message = "A reference cannot stand in a member name, only in a string value."
    advice = "Write the name out, or `$${` for a literal `${`."
    return Misread(found.start(), len(found.group()), message, advice)
