"""Markdown: which blocks run, wherever they are nested, and that no `rfl` block is passed over in silence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.markdown import Block, Heading, Paragraph, Part, read_markdown
from host.problems import Problem
from host.source import Source


def read(text: str, skip: int = 0) -> tuple[list[Part], list[Problem], list[Problem]]:
    return read_markdown(Source("a.md", text), skip)


def blocks(text: str) -> list[str]:
    parts, problems, _ = read(text)
    assert problems == []
    return [part.text.text for part in parts if isinstance(part, Block)]


def places(text: str) -> list[tuple[str, int, int]]:
    """Every character of every block with the line and column that it claims, line ends aside."""
    source = Source("a.md", text)
    parts, _, _ = read_markdown(source, 0)
    return [
        (character, *source.place(part.text.offset(index)))
        for part in parts
        if isinstance(part, Block)
        for index, character in enumerate(part.text.text)
        if character != "\n"
    ]


def test_headings_paragraphs_and_blocks_come_in_their_order() -> None:
    text = "# A `code` *b* [c](d)\n\nOne\ntwo <b>three</b>.\n\n```rfl\nx\n```\n\n"
    text += "Setext\nheading\n---\n~~~ rfl more words\ny\n\nz\n~~~\n"
    parts, problems, warnings = read(text)
    assert (problems, warnings) == ([], [])
    assert [part[:1] if isinstance(part, Block) else part for part in parts] == [
        Heading("A code b c", 1),
        Paragraph("One\ntwo three.", 3),
        (parts[2][0],),
        Heading("Setext heading", 10),
        (parts[4][0],),
    ]
    assert blocks(text) == ["x", "y\n\nz"]
    assert [part.line for part in parts if isinstance(part, Block)] == [6, 13]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```rfl\na\n```", ["a"]),
        ("```rfl\n```", [""]),
        ("````rfl\n```\na\n````", ["```\na"]),
        ("   ```rfl\n   a\n     b\n   ```", ["a\n  b"]),
        ("- item\n\n  ```rfl\n  a\n    b\n  ```", ["a\n  b"]),
        ("1. ```rfl\n   a\n   ```\n2. ```rfl\n   b\n   ```", ["a", "b"]),
        ("> ```rfl\n> a\n>  b\n> ```", ["a\n b"]),
        ("> - ```rfl\n>   a\n>   ```", ["a"]),
        ("-\t```rfl\n\ta\n\t\tb\n\t```", ["a\n\tb"]),
        ("text\n```rfl\na\n```", ["a"]),
        ("<details>\n\n```rfl\na\n```\n\n</details>", ["a"]),
        ("```rfl\r\na\r\n```\r\n", ["a"]),
        ("```rfl\ra\r```", ["a"]),
    ],
)
def test_a_block_runs_wherever_markdown_takes_it_as_one(text: str, found: list[str]) -> None:
    assert blocks(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "```\na\n```",
        "```sh\na\n```",
        "```rflx\na\n```",
        "``` x rfl\na\n```",
        "```rfl-like\na\n```",
        "````md\n```rfl\na\n```\n````",
        "<!-- switched off\n```rfl\na\n```\n-->",
        "    code\n",
        "The tag is `rfl`.",
        "~~~markdown\n~~~rfl\n~~~",
    ],
)
def test_other_blocks_and_comments_are_text(text: str) -> None:
    parts, problems, warnings = read(text)
    assert [part for part in parts if isinstance(part, Block)] == []
    assert (problems, warnings) == ([], [])


@pytest.mark.parametrize("tag", ["RFL", "Rfl"])
def test_a_tag_in_upper_case_is_another_tag_and_worth_a_warning(tag: str) -> None:
    assert read(f"x\n\n```{tag}\na\n```") == (
        [Paragraph("x", 1)],
        [],
        [
            Problem(
                3,
                1,
                6,
                f"A block tagged `{tag}` is not run.",
                "Write the tag in lower case if its commands are meant to run.",
            )
        ],
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```rfl", 1),
        ("```rfl\n", 1),
        ("```rfl\n\n", 1),
        ("```rfl\na", 1),
        ("```rfl\na\n    ```", 1),
        ("```rfl\na\n~~~", 1),
        ("````rfl\na\n```", 1),
        ("- ```rfl\n  a\n\nb", 1),
        ("x\n\n> ```rfl\n> a\nb\n```", 3),
    ],
)
def test_a_block_that_is_never_closed_is_refused(text: str, line: int) -> None:
    _, problems, _ = read(text)
    assert [(problem.line, problem.message) for problem in problems] == [(line, "The `rfl` block is never closed.")]
    assert problems[0].help.startswith("End it by a line of ")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("<div>\n```rfl\na\n```\n</div>", [(2, 1, 6)]),
        ("<!-- never closed\n\n```rfl\na\n```", [(3, 1, 6)]),
        ("x\n\n    ```rfl\n    a\n    ```", [(3, 5, 6)]),
        ("```rfl `a`\nb\n", [(1, 1, 10)]),
        ("> " * 30 + "```rfl\n" + "> " * 30 + "a\n", [(1, 61, 6)]),
    ],
)
def test_what_looks_like_a_block_and_would_not_run_is_refused(text: str, places: list[tuple[int, int, int]]) -> None:
    _, problems, _ = read(text)
    assert [problem[:3] for problem in problems] == places
    assert {problem.message for problem in problems} == {
        "This `rfl` block would not run: Markdown does not take it as a block of its own here."
    }


def test_every_character_of_a_block_knows_its_place() -> None:
    assert places("> - ```rfl\n>   ab\n>     c\n>   ```\n") == [
        ("a", 2, 5),
        ("b", 2, 6),
        (" ", 3, 5),
        (" ", 3, 6),
        ("c", 3, 7),
    ]


def test_a_place_after_a_tab_that_straddles_the_indentation_is_the_characters_own() -> None:
    found = places("-  ```rfl\n\tab\n   ```\n")
    assert [each for each in found if each[0] != " "] == [("a", 2, 2), ("b", 2, 3)]


def test_lines_that_were_read_before_are_skipped_and_still_counted() -> None:
    parts, _, _ = read("---\n# no: heading\n---\n# Heading\n", 3)
    assert parts == [Heading("Heading", 4)]


def test_a_heading_of_any_length_is_taken() -> None:
    (heading,), _, _ = read("# " + "*" * 5000)
    assert heading == Heading("*" * 5000, 1)


LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "> ", "- ", "  ", "1. ", "    ", "\t", ">", "> - "]),
        st.sampled_from(
            ["", "```rfl", "```", "~~~rfl", "~~~", "api.x", "\ta", "# H", "<div>", "<!--", "-->", "x\u2028y", "é"]
        ),
    ).map("".join),
    max_size=25,
)


@settings(deadline=None, max_examples=200)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_characters_of_blocks_are_where_they_say_and_no_block_is_lost(lines: list[str], end: str) -> None:
    text = end.join(lines)
    source = Source("a.md", text)
    parts, problems, _ = read_markdown(source, 0)
    for part in parts:
        if isinstance(part, Block):
            for index, character in enumerate(part.text.text):
                if character not in "\n \t":
                    assert text[part.text.offset(index)] == character
    looked_at = {part.line for part in parts if isinstance(part, Block)} | {problem.line for problem in problems}
    if not any("<!--" in line for line in lines) and sum("rfl" in line for line in lines) == 1:
        fences = [line for line in lines if line.strip(" \t>-1.") in ("```", "~~~", "```rfl", "~~~rfl")]
        if len(fences) == 1:
            assert looked_at
