"""Headings, paragraphs and `rfl` blocks of a Markdown text (CommonMark), each with its place, wherever it is nested."""

import re
from typing import Final, NamedTuple, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from host.problems import Problem
from host.source import Located, Source

__all__ = ["Block", "Heading", "Paragraph", "Part", "read_markdown"]

#: Characters of a heading or paragraph that are read for emphasis and code spans; the rest is taken as it stands.
INLINE_LIMIT: Final = 1000
_TAG: Final = "rfl"
#: A line that a person would take for the beginning of an `rfl` block, behind any list markers and quote signs.
_LOOKS_LIKE_FENCE: Final = re.compile(r"(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})[ \t]*rfl(?:[ \t]|$)")
#: What has a meaning inside a line (CommonMark, section 6); most headings hold none of it.
_MARKED: Final = re.compile(r"[\\`*_\[<&!\n]")
#: A comment that never closes would swallow the rest of the flow: it is no comment that anyone meant.
_COMMENT: Final = re.compile(r"\s*<!--.*-->", re.DOTALL)
_CLOSING: Final = {"`": re.compile(r"[ \t>]*(`{3,})[ \t]*"), "~": re.compile(r"[ \t>]*(~{3,})[ \t]*")}


class Heading(NamedTuple):
    """A heading's plain text, on one line. ``line`` counts from 1."""

    title: str
    line: int


class Paragraph(NamedTuple):
    """A paragraph's plain text, its lines as written."""

    text: str
    line: int


class Block(NamedTuple):
    """The commands of one `rfl` block; ``line`` is that of its opening fence."""

    text: Located
    line: int


Part: TypeAlias = Heading | Paragraph | Block


def read_markdown(source: Source, skip: int) -> tuple[list[Part], list[Problem], list[Problem]]:
    """Read what follows the first ``skip`` lines: the parts in their order, the problems, and warnings.

    An `rfl` block that Markdown does not take as a block of its own (never closed, inside HTML, indented as code, too
    deeply nested) is a problem, since it would not run. One inside another fence or an HTML comment is text.
    """
    lines = source.lines
    text = "\n" * skip + "\n".join(lines[skip:])
    # Blocks only: what stands inside a line is read for headings and paragraphs alone, and within a limit.
    parser = MarkdownIt("commonmark").disable(["inline", "reference"])
    inline = MarkdownIt("commonmark")
    # Text and offsets stay in step: markdown-it replaces NUL by one character, and nothing else.
    tokens = parser.parse(text.replace("\0", "\ufffd"))
    parts: list[Part] = []
    problems: list[Problem] = []
    warnings: list[Problem] = []
    covered: set[int] = set()
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "inline" and before is not None and token.map:
            parts.append(_inline(inline, before, token.content, token.map[0] + 1))
        elif token.type == "fence" and token.map:
            covered.update(range(*token.map))
            _fence(source, lines, token, parts, problems, warnings)
        elif token.type == "html_block" and token.map and _COMMENT.match(token.content):
            covered.update(range(*token.map))
    problems.extend(_passed_over(source, lines, covered, skip))
    return parts, problems, warnings


def _inline(parser: MarkdownIt, before: Token, content: str, line: int) -> Part:
    text = content
    if len(content) <= INLINE_LIMIT and _MARKED.search(content):
        found = parser.parseInline(content)[0].children or []
        text = "".join(_plain(child) for child in found)
    if before.type == "heading_open":
        return Heading(" ".join(text.split()), line)
    return Paragraph(text, line)


def _plain(token: Token) -> str:
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    return "" if token.type == "html_inline" else token.content


def _fence(
    source: Source,
    lines: list[str],
    token: Token,
    parts: list[Part],
    problems: list[Problem],
    warnings: list[Problem],
) -> None:
    assert token.map is not None
    first, last = token.map
    tag = (token.info.split() or [""])[0]
    start = source.start(first + 1)
    end = start + len(lines[first])
    if tag != _TAG:
        if tag.casefold() == _TAG:
            advice = "Write the tag in lower case if its commands are meant to run."
            warnings.append(source.problem(start, end, f"A block tagged `{tag}` is not run.", advice))
        return
    content = token.content.removesuffix("\n").split("\n") if token.content else []
    if not _is_closed(lines, token.markup, first, last, len(content)):
        characters = f"{len(token.markup)} {'backquotes' if token.markup[0] == '`' else 'tildes'}"
        advice = f"End it by a line of {characters}, indented like its first line."
        problems.append(source.problem(start, end, "The `rfl` block is never closed.", advice))
        return
    parts.append(Block(_located(source, lines, content, first + 2), first + 1))


def _is_closed(lines: list[str], markup: str, first: int, last: int, content: int) -> bool:
    if last - first != content + 2:
        return False
    closing = _CLOSING[markup[0]].fullmatch(lines[last - 1])
    return closing is not None and len(closing[1]) >= len(markup)


def _located(source: Source, lines: list[str], content: list[str], line: int) -> Located:
    """Say where each line of a block stands: what encloses the block was taken from the beginning of its lines."""
    starts, offsets = [0], [source.start(line)]
    index = 0
    for number, text in enumerate(content, line):
        # A tab that straddles the block's indentation was replaced by spaces: only what follows those stands as it is.
        body = text.lstrip(" \t")
        indent = len(text) - len(body)
        written = lines[number - 1]
        first = source.start(number) + max(0, len(written) - len(text))
        starts.append(index)
        offsets.append(first)
        if indent and not written.endswith(text):
            starts.append(index + indent)
            offsets.append(source.start(number) + len(written) - len(body))
        index += len(text) + 1
    return Located("\n".join(content), tuple(starts), tuple(offsets))


def _passed_over(source: Source, lines: list[str], covered: set[int], skip: int) -> list[Problem]:
    problems = []
    for number, line in enumerate(lines[skip:], skip):
        if number in covered or _TAG not in line:
            continue
        if found := _LOOKS_LIKE_FENCE.match(line):
            start = source.start(number + 1)
            problems.append(
                source.problem(
                    start + found.start(1),
                    start + len(line),
                    "This `rfl` block would not run: Markdown does not take it as a block of its own here.",
                    "Put its fences on lines of their own, indented less than four spaces, after a blank line.",
                )
            )
    return problems
