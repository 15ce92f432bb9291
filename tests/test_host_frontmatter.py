"""Frontmatter: strict YAML, every key with its type, every refusal with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.frontmatter import FRONTMATTER_LIMIT, DeclaredInput, DeclaredProvider, Frontmatter, read_frontmatter
from host.problems import Problem
from host.source import Source


def read(text: str) -> tuple[Frontmatter, list[Problem]]:
    return read_frontmatter(Source("a.md", text))


def body(text: str) -> tuple[Frontmatter, list[Problem]]:
    """Read ``text``, whose first line is line 4, behind a name and one alias."""
    return read(f"---\nname: N\nproviders: {{api: MCP}}\n{text}\n---\n")


def refused(text: str) -> list[tuple[object, ...]]:
    return [tuple(problem) for problem in body(text)[1]]


def test_every_key_is_read() -> None:
    text = """---
name: " Inspect "     # a comment
description: >
  Folded
  text.
providers:
  api: MCP
  site: 'Browser'
inputs:
  region: {default: "eu", description: Where.}
  team:
  build:
    default: |
      1
      2
budgets:
  minutes: 15
tags: [smoke, "nightly.1"]
---
"""
    assert read(text) == (
        Frontmatter(
            name="Inspect",
            description="Folded text.",
            providers={"api": DeclaredProvider("MCP", 88, 91, 83), "site": DeclaredProvider("Browser", 100, 109, 94)},
            inputs={
                "region": DeclaredInput("eu", "Where.", 120),
                "team": DeclaredInput(None, "", 167),
                "build": DeclaredInput("1\n2\n", "", 175),
            },
            minutes=15.0,
            tags=("smoke", "nightly.1"),
            lines=19,
            readable=True,
        ),
        [],
    )


def test_what_may_be_left_out_has_its_default() -> None:
    front, problems = read("---\nname: N\nproviders:\n  api: MCP\n---")
    assert problems == []
    assert (front.inputs, front.minutes, front.tags, front.description, front.lines) == ({}, 10.0, (), "", 5)


@pytest.mark.parametrize(
    "written", ["yes", "no", "on", "2024-01-01", "a: b" and '"a: b"', "1.2.3", "0x", "-", "null-ish"]
)
def test_words_that_other_yaml_readers_turn_into_values_are_text(written: str) -> None:
    front, problems = read(f"---\nname: {written if written != '-' else '-x'}\nproviders: {{a: MCP}}\n---\n")
    assert problems == []
    assert front.name


@pytest.mark.parametrize("line", ["inputs:", "inputs: {}", "inputs: ~", "inputs:\n  a: {}", "inputs:\n  a: ~"])
def test_inputs_may_be_empty(line: str) -> None:
    assert body(line)[1] == []


@pytest.mark.requirement("deadline.flow")
@pytest.mark.parametrize("minutes", ["1", "0.5", "15.", ".5", "1e1", "1440", "+2"])
def test_minutes_are_a_decimal_number(minutes: str) -> None:
    front, problems = body(f"budgets: {{minutes: {minutes}}}")
    assert (front.minutes, problems) == (float(minutes), [])


KEYS = "Known keys: `budgets`, `description`, `inputs`, `name`, `providers`, `tags`."
INPUTS = 'Write `name: {default: "value", description: "…"}` for each input; both may be left out.'
MINUTES = ("`minutes` is a number, more than 0 and at most 1440.", "Write, for example, `minutes: 15`.")
NAME = "A name is a-z, then a-z, 0-9 or _, all in lower case, 64 characters at most."
TAG = "A tag is 1 to 64 letters, digits, dots, underscores or hyphens, and begins with a letter or digit."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo: 1", (4, 1, 3, "The frontmatter has no key `foo`.", KEYS)),
        ("tag: [a]", (4, 1, 3, "The frontmatter has no key `tag`.", f"Did you mean `tags`? {KEYS}")),
        ("Tags: [a]", (4, 1, 4, "The frontmatter has no key `Tags`.", f"Did you mean `tags`? {KEYS}")),
        ("<<: {a: 1}", (4, 1, 2, "The frontmatter has no key `<<`.", KEYS)),
        (
            "budgets.minutes: 15",
            (4, 1, 15, "`minutes` stands below `budgets`.", "Write `budgets:` and, indented below it, `minutes: …`."),
        ),
        ("budgets: 15", (4, 10, 2, "`budgets` is a mapping.", "Write `minutes: 10`, indented below `budgets:`.")),
        ("budgets: {seconds: 1}", (4, 11, 7, "`budgets` has no key `seconds`.", "Known keys: `minutes`.")),
        ("budgets: {minutes: 0}", (4, 20, 1, *MINUTES)),
        ("budgets: {minutes: -1}", (4, 20, 2, *MINUTES)),
        ("budgets: {minutes: 1441}", (4, 20, 4, *MINUTES)),
        ('budgets: {minutes: "5"}', (4, 20, 3, *MINUTES)),
        ("budgets: {minutes: .inf}", (4, 20, 4, *MINUTES)),
        ("budgets: {minutes: 0x10}", (4, 20, 4, *MINUTES)),
        ("budgets: {minutes: [1]}", (4, 20, 3, *MINUTES)),
        ("budgets:\n  minutes:", (5, 10, 1, *MINUTES)),
        (
            "description: 5",
            (4, 14, 1, "`description` is text, and YAML reads this as a number.", 'Put it in quotes: `"5"`.'),
        ),
        (
            "description: true",
            (4, 14, 4, "`description` is text, and YAML reads this as a boolean.", 'Put it in quotes: `"true"`.'),
        ),
        ("description: [a]", (4, 14, 3, "`description` is text.", "Write it on the same line, after `: `.")),
        ("description:", (4, 12, 1, "`description` is text.", "Write it on the same line, after `: `.")),
        (
            "description: " + "9" * 500,
            (4, 14, 500, "`description` is text, and YAML reads this as a number.", "Put it in quotes."),
        ),
        ("inputs: [a]", (4, 9, 3, "`inputs` is a mapping.", INPUTS)),
        ("inputs:\n  a: eu", (5, 6, 2, "The input `a` is a mapping.", INPUTS)),
        ("inputs:\n  A: {}", (5, 3, 1, "`A` cannot be an input.", NAME)),
        (
            "inputs:\n  a: {defalt: x}",
            (5, 7, 6, "An input has no key `defalt`.", "Did you mean `default`? Known keys: `default`, `description`."),
        ),
        (
            "inputs:\n  a: {default: 1.10}",
            (5, 16, 4, "`default` is text, and YAML reads this as a number.", 'Put it in quotes: `"1.10"`.'),
        ),
        ("inputs:\n  a: {default: ~}", (5, 16, 1, "`default` is text.", "Write it on the same line, after `: `.")),
        ("tags: a", (4, 7, 1, "`tags` is a list.", "Write `tags: [smoke, nightly]`.")),
        ("tags: [1]", (4, 8, 1, "A tag is text, and YAML reads this as a number.", 'Put it in quotes: `"1"`.')),
        ("tags:\n- a b", (5, 3, 3, "`a b` is no tag.", TAG)),
        ('tags: [""]', (4, 8, 2, "`` is no tag.", TAG)),
        ("tags: [a, b, a]", (4, 14, 1, "The tag `a` is repeated.", "Take it out.")),
        ("name: M", (4, 1, 4, "The key `name` is repeated.", "Keep one of them.")),
        ('"name": M', (4, 1, 6, "The key `name` is repeated.", "Keep one of them.")),
        ("inputs: {a: {}, a: {}}", (4, 17, 1, "The key `a` is repeated.", "Keep one of them.")),
        ("description: &x y", (4, 14, 4, "A YAML anchor is not allowed.", "Take out `&name`.")),
        ("inputs: &x {}", (4, 9, 4, "A YAML anchor is not allowed.", "Take out `&name`.")),
        ("description: *x", (4, 14, 2, "A YAML alias is not allowed.", "Write the value out.")),
        (
            "description: !!str 5",
            (4, 14, 7, "A YAML tag is not allowed.", "Take out what begins with `!`; quotes make text of a value."),
        ),
        (
            "tags: !mine [a]",
            (4, 7, 7, "A YAML tag is not allowed.", "Take out what begins with `!`; quotes make text of a value."),
        ),
        ("? [a]\n: b", (4, 3, 3, "A key is a plain word.", "Write `key: value`.")),
        (
            "tags: " + "[" * 12 + "]" * 12,
            (4, 15, 1, "The values are nested too deeply.", "No key takes a value that is nested like this."),
        ),
        (
            "a: b: c",
            (
                4,
                5,
                1,
                "This is not YAML: mapping values are not allowed here.",
                "Check indentation, and put text with `: `, `#` or quotes in quotes.",
            ),
        ),
        (
            "a: [1",
            (
                5,
                1,
                1,
                "This is not YAML: expected ',' or ']', but got '<stream end>'.",
                "Check indentation, and put text with `: `, `#` or quotes in quotes.",
            ),
        ),
        (
            "a: \x07",
            (
                4,
                4,
                1,
                "YAML does not allow the character U+0007.",
                'Take it out, or write it as an escape between `"`.',
            ),
        ),
        ("--- x", (4, 1, 3, "A second YAML document begins here.", "Keep one.")),
    ],
)
def test_what_is_wrong_has_its_place_and_what_to_write(text: str, expected: tuple[int, int, int, str, str]) -> None:
    assert refused(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [(1, 1, 1, "The flow has no frontmatter.")]),
        ("# Title\n", [(1, 1, 7, "The flow has no frontmatter.")]),
        ("\n---\n", [(1, 1, 1, "The flow has no frontmatter.")]),
        ("----\n", [(1, 1, 4, "The flow has no frontmatter.")]),
        ("---\nname: N\n", [(1, 1, 3, "The frontmatter is not closed.")]),
        ("---\n---\n", [(1, 1, 3, "The frontmatter has no `name`."), (1, 1, 3, "The frontmatter has no `providers`.")]),
        (
            "---\n~\n---\n",
            [(1, 1, 3, "The frontmatter has no `name`."), (1, 1, 3, "The frontmatter has no `providers`.")],
        ),
        (
            "--- \t\n# c\n--- \n",
            [(1, 1, 3, "The frontmatter has no `name`."), (1, 1, 3, "The frontmatter has no `providers`.")],
        ),
        ("---\n- a\n---\n", [(2, 1, 3, "Keys with values are expected.")]),
        ("---\nname\n---\n", [(2, 1, 4, "Keys with values are expected.")]),
        (
            "---\nname: ''\nproviders: {a: MCP}\n---\n",
            [(2, 7, 2, "`name` is one line of 1 to 200 printable characters.")],
        ),
        (
            '---\nname: "a\\nb"\nproviders: {a: MCP}\n---\n',
            [(2, 7, 6, "`name` is one line of 1 to 200 printable characters.")],
        ),
        (
            f"---\nname: {'x' * 201}\nproviders: {{a: MCP}}\n---\n",
            [(2, 7, 201, "`name` is one line of 1 to 200 printable characters.")],
        ),
        ("---\nname: N\nproviders:\n---\n", [(3, 10, 1, "`providers` is a mapping.")]),
        ("---\nname: N\nproviders: MCP\n---\n", [(3, 12, 3, "`providers` is a mapping.")]),
        ("---\nname: N\nproviders: {}\n---\n", [(3, 12, 2, "`providers` names no alias.")]),
        ("---\nname: N\nproviders: {Api: MCP}\n---\n", [(3, 13, 3, "`Api` cannot be an alias.")]),
        (f"---\nname: N\nproviders: {{{'a' * 64}: MCP}}\n---\n", []),
        (
            f"---\nname: N\nproviders: {{{'a' * 65}: MCP}}\n---\n",
            [(3, 13, 65, f"`{'a' * 60}…` cannot be an alias.")],
        ),
        ("---\nname: N\nproviders: {api: [MCP]}\n---\n", [(3, 18, 5, "The provider of `api` is text.")]),
        (
            "---\nname: N\nproviders: {api: 1, Api: 2}\n---\n",
            [
                (3, 18, 1, "The provider of `api` is text, and YAML reads this as a number."),
                (3, 26, 1, "The provider of `Api` is text, and YAML reads this as a number."),
                (3, 21, 3, "`Api` cannot be an alias."),
            ],
        ),
        (
            "---\n" + "#" * (FRONTMATTER_LIMIT + 1) + "\n---\n",
            [(1, 1, 3, "The frontmatter is longer than 65536 characters.")],
        ),
    ],
)
def test_what_a_flow_cannot_do_without_is_asked_for(text: str, expected: list[tuple[int, int, int, str]]) -> None:
    assert [problem[:4] for problem in read(text)[1]] == expected


def test_several_mistakes_are_reported_at_once() -> None:
    assert [problem[0] for problem in body("foo: 1\nbar: 2\ntags: a\nbudgets: {minutes: x}")[1]] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    "text", ["[" * 60_000, "{a: " * 15_000, "- " * 30_000, "&a " * 20_000, "? " * 30_000, "'" * 60_001]
)
def test_text_that_is_made_to_be_slow_is_refused_at_once(text: str) -> None:
    assert body(text)[1]


PIECES = [
    "name",
    "providers",
    ": ",
    ":",
    "\n",
    "  ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ",",
    "'",
    '"',
    "#",
    "|",
    ">",
    "&a",
    "*a",
    "!!str",
]
YAML = st.lists(
    st.sampled_from([*PIECES, "?", "%", "@", "\t", "\\", "1", "é", "\x85", "\u2028", "\x07", "a", "---", "..."]),
    max_size=30,
)


@settings(deadline=None, max_examples=200)
@given(YAML.map("".join))
def test_any_frontmatter_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    _, problems = body(text)
    for problem in problems:
        assert 1 <= problem.line <= text.count("\n") + 6
        assert problem.column >= 1
        assert problem.help
