"""RFL: each form of a command, each way to get one wrong with its place, and where reading goes on."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.literals import DEPTH_LIMIT, JsonString, Misread, read_object, read_string
from host.rfl import Command, read_block
from host.source import Located
from protocol.values.document import JsonError, parse


def located(text: str) -> Located:
    return Located(text, (0,), (0,))


def read(text: str) -> tuple[list[Command], list[Misread]]:
    wrong: list[Misread] = []
    return read_block(located(text), wrong.append), wrong


def one(text: str) -> Command:
    commands, wrong = read(text)
    assert wrong == []
    (command,) = commands
    return command


def refused(text: str) -> tuple[int, int, str, str]:
    _, (wrong,) = read(text)
    return wrong.index, wrong.width, wrong.message, wrong.help


def test_a_command_has_arguments_a_capture_and_a_name() -> None:
    command = one('\t api.call_value  tool="a b"\texpect={"x":[1]} ->  record_id\t#  Read it  ')
    assert (command.alias, command.name) == (("api", 2, 5), ("call_value", 6, 16))
    assert [(each.name, each.value.text, each.bare, each.start, each.end) for each in command.arguments] == [
        (("tool", 18, 22), "a b", False, 23, 28),
        (("expect", 29, 35), '{"x":[1]}', True, 36, 45),
    ]
    assert command.capture == ("record_id", 50, 59)
    assert command.comment == ("Read it", 60, 72)
    assert not command.broken


@pytest.mark.parametrize("text", ["", "\n\n", "  \t", "# api.x", "\t # api.x -> y", "#\n #"])
def test_blank_lines_and_comment_lines_are_no_commands(text: str) -> None:
    assert read(text) == ([], [])


@pytest.mark.parametrize("text", ["a.b", "a.b ", "a.b\t\n", "a.b #", "\na.b\n\n"])
def test_a_command_may_stand_alone(text: str) -> None:
    command = one(text)
    assert (command.alias.text, command.name.text, command.arguments, command.capture) == ("a", "b", (), None)


def test_names_take_what_the_grammar_says() -> None:
    command = one('a_1.B_2 C_3="" -> d_4')
    assert (command.alias.text, command.name.text, command.arguments[0].name.text) == ("a_1", "B_2", "C_3")
    assert command.capture is not None
    assert command.capture.text == "d_4"


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ('""', ""),
        (r'"\"\\\/\b\f\n\r\t"', '"\\/\b\f\n\r\t'),
        (r'"\u00e9\u00C9"', "éÉ"),
        (r'"\ud83d\ude00"', "😀"),
        ('"é 日本 \u2028 # -> { } = \'"', "é 日本 \u2028 # -> { } = '"),
        ('"\x7f"', "\x7f"),
    ],
)
def test_a_string_has_exactly_the_escapes_of_json(literal: str, value: str) -> None:
    assert json.loads(literal) == value
    assert one(f"a.b c={literal} # d").arguments[0].value.text == value


def test_every_character_of_a_string_stands_where_it_was_written() -> None:
    text = r'a.b c="x\n\u00e9y\ud83d\ude00z"'
    value = one(text).arguments[0].value
    assert [(character, value.offset(index)) for index, character in enumerate(value.text)] == [
        ("x", 7),
        ("\n", 8),
        ("é", 10),
        ("y", 16),
        ("😀", 17),
        ("z", 29),
    ]
    assert value.offset(len(value.text)) == 30


NO_ESCAPE = (
    'JSON has `\\"`, `\\\\`, `\\/`, `\\b`, `\\f`, `\\n`, `\\r`, `\\t` and `\\uXXXX`; a backslash itself is `\\\\`.'
)
UNCLOSED = 'End it with `"`; a quote inside it is written `\\"`, a line break `\\n`.'
FORM = 'A command is `alias.command name="value" … -> capture # name`.'
VALUE = 'An argument is `name="value"`; a comment begins with `#`.'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("api", (0, 3, "A `.` and a command are expected after `api`.", FORM)),
        ("api tools", (0, 3, "A `.` and a command are expected after `api`.", FORM)),
        ("api.", (3, 1, "A command's name is expected after the `.`.", FORM)),
        ("api.1", (3, 1, "A command's name is expected after the `.`.", FORM)),
        (
            "Api.tools",
            (
                0,
                3,
                "`Api` is no alias: an alias is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write the alias as the frontmatter's `providers` names it.",
            ),
        ),
        (
            f"{'a' * 65}.tools",
            (
                0,
                65,
                f"`{'a' * 60}…` is no alias: an alias is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write the alias as the frontmatter's `providers` names it.",
            ),
        ),
        (".x", (0, 1, "A command begins with an alias, not with `.`.", FORM)),
        ("Connect first", (0, 7, "A command begins with an alias, not with `Connect`.", FORM)),
        (
            "“api”.x",
            (
                0,
                5,
                "`“api”` is no alias: an alias is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write the alias as the frontmatter's `providers` names it.",
            ),
        ),
        ("\u00a0a.b", (0, 1, "A command begins with an alias, not with U+00A0.", FORM)),
        ("a.b#c", (3, 1, "A space is expected before a comment.", "Write ` # name`.")),
        (
            "a.b\u00a0c=1",
            (3, 1, "U+00A0 cannot stand here.", "Between the parts of a command, use plain spaces or tabs."),
        ),
        (
            "a.b \u3000c",
            (4, 1, "U+3000 cannot stand here.", "Between the parts of a command, use plain spaces or tabs."),
        ),
        ("a.b \x0bc", (4, 1, "U+000B cannot stand here.", "Between the parts of a command, use plain spaces or tabs.")),
        (
            "a.b-c",
            (3, 1, "A space is expected before `-`.", f"Separate the parts of a command by spaces or tabs. {FORM}"),
        ),
        (
            'a.b c="x"d="y"',
            (9, 1, "A space is expected before `d`.", f"Separate the parts of a command by spaces or tabs. {FORM}"),
        ),
        (
            'a.b c="x"-> d',
            (9, 1, "A space is expected before `-`.", f"Separate the parts of a command by spaces or tabs. {FORM}"),
        ),
        ("a.b c", (4, 1, "`c` is no argument: `=` and a value are missing.", VALUE)),
        ("a.b -x", (4, 2, "`-x` is no argument: `=` and a value are missing.", VALUE)),
        (
            'a.b "x"',
            (
                4,
                1,
                'An argument is expected here, not `"`.',
                'An argument is `name="value"`, or `name={…}` for a JSON object.',
            ),
        ),
        (
            'a.b 1c="x"',
            (
                4,
                2,
                "`1c` is no argument's name: it is a letter, then letters, 0-9 or _.",
                "`assay plugins` lists the arguments of every command.",
            ),
        ),
        ('a.b c ="x"', (4, 1, "No space may stand around `=`.", 'Write `c="value"`.')),
        ('a.b 1c = "x"', (4, 2, "No space may stand around `=`.", FORM)),
        ('a.b c= "x"', (5, 1, "No space may stand around `=`.", 'Write `c="value"`.')),
        ("a.b c=", (5, 1, "The argument `c` has no value.", 'Write `c="value"`.')),
        ("a.b c=  # d", (5, 1, "The argument `c` has no value.", 'Write `c="value"`.')),
        ("a.b c=x1", (6, 2, "A value needs double quotes.", 'Write `c="x1"`.')),
        ("a.b c=${x}", (6, 4, "A value needs double quotes.", 'Write `c="${x}"`.')),
        ("a.b c=日本", (6, 2, "A value needs double quotes.", 'Write `c="value"`.')),
        ("a.b c='x'", (6, 1, "A string has double quotes.", 'Write `c="value"`.')),
        ("a.b c=“x”", (6, 1, "A string has double quotes.", 'Write `c="value"`.')),
        ("a.b c=[1]", (6, 1, "An array cannot stand bare, only an object.", 'Write the array as a string: `c="[…]"`.')),
        ("a.b c==", (6, 1, "A value is expected here, not `=`.", 'Write `c="value"`.')),
        ("a.b ->", (4, 2, "A capture's name is expected after `->`.", "Write `-> name`.")),
        (
            "a.b -> # c",
            (
                7,
                1,
                "`#` is no name of a capture: it is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write, for example, `-> record_id`.",
            ),
        ),
        ("a.b ->c", (4, 2, "A space is expected after `->`.", "Write `-> c`.")),
        (
            "a.b -> C",
            (
                7,
                1,
                "`C` is no name of a capture: it is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write, for example, `-> record_id`.",
            ),
        ),
        (
            "a.b -> \x01",
            (
                7,
                1,
                "`\\x01` is no name of a capture: it is a-z, then a-z, 0-9 or _, 64 characters at most.",
                "Write, for example, `-> record_id`.",
            ),
        ),
        ('a.b -> c d="x"', (9, 1, "Only a comment may follow a capture.", "Put `-> name` after the last argument.")),
        ("a.b -> c -> d", (9, 2, "Only a comment may follow a capture.", "Put `-> name` after the last argument.")),
        ('a.b c="x', (6, 2, "The string is not closed on its line.", UNCLOSED)),
        ('a.b c="x\n', (6, 2, "The string is not closed on its line.", UNCLOSED)),
        ('a.b c="\t"', (7, 1, "A string cannot hold the control character U+0009.", "Write `\\t`.")),
        ('a.b c="\x1b"', (7, 1, "A string cannot hold the control character U+001B.", "Write `\\u001b`.")),
        (r'a.b c="\x41"', (7, 2, "A backslash before `x` is no escape of JSON.", NO_ESCAPE)),
        (
            r'a.b c="\${x}"',
            (7, 2, "A backslash before `$` is no escape of JSON.", f"Write `$${{` for a literal `${{`. {NO_ESCAPE}"),
        ),
        ('a.b c="\\', (7, 1, "The string ends in a backslash.", 'Write `\\\\` for a backslash, and close with `"`.')),
        (
            r'a.b c="\u12"',
            (7, 2, "`\\u` is not followed by four hexadecimal digits.", "Write, for example, `\\u00e9`."),
        ),
        (
            r'a.b c="\ud83d!"',
            (
                7,
                6,
                "`\\ud83d` is half of a surrogate pair.",
                "Write the character itself, or both halves of its pair, one after the other.",
            ),
        ),
        (
            r'a.b c="\ud83d\u0041"',
            (
                7,
                6,
                "`\\ud83d` is half of a surrogate pair.",
                "Write the character itself, or both halves of its pair, one after the other.",
            ),
        ),
        (
            r'a.b c="\ude00"',
            (
                7,
                6,
                "`\\ude00` is half of a surrogate pair.",
                "Write the character itself, or both halves of its pair, one after the other.",
            ),
        ),
        (
            r'a.b c="\ud83d\u00"',
            (13, 2, "`\\u` is not followed by four hexadecimal digits.", "Write, for example, `\\u00e9`."),
        ),
    ],
)
def test_a_command_that_is_wrong_says_where_and_what_to_write(text: str, expected: tuple[int, int, str, str]) -> None:
    assert refused(text) == expected


@pytest.mark.parametrize(
    ("text", "index", "width", "message", "advice"),
    [
        ("{", 0, 1, "The `{` is never closed.", "Close it with `}`."),
        ('{"a":1', 0, 1, "The `{` is never closed.", "Close it with `}`."),
        ('{"a":[1,', 5, 1, "The `[` is never closed.", "Close it with `]`."),
        ('{"a"', 0, 1, "The `{` is never closed.", "Close it with `}`."),
        ('{"a" 1}', 5, 1, "A colon is expected after a member name.", 'Write `"name": value`.'),
        (
            '{"a":1 "b":2}',
            7,
            1,
            "A comma or the closing `}` is expected here.",
            "Separate entries by commas, and close what was opened.",
        ),
        (
            '{"a":[1 2]}',
            8,
            1,
            "A comma or the closing `]` is expected here.",
            "Separate entries by commas, and close what was opened.",
        ),
        ('{"a":1,}', 6, 1, "A comma stands before the closing `}`.", "Take the comma out."),
        ('{"a":[1,]}', 7, 1, "A comma stands before the closing `]`.", "Take the comma out."),
        ("{a: 1}", 1, 1, "A member name needs double quotes.", 'Write `"a"`.'),
        ("{1: 1}", 1, 1, "A member name needs double quotes.", 'Write `"name": value`.'),
        ("{'a': 1}", 1, 1, "JSON has double quotes only.", 'Write `"` around names and strings.'),
        ("{[]: 1}", 1, 1, "A member name in double quotes is expected here.", 'Write `"name": value`.'),
        ("{\"a\":'b'}", 5, 1, "JSON has double quotes only.", 'Write `"` around names and strings.'),
        ('{"a":True}', 5, 4, "`True` is no value of JSON.", "Write `true`."),
        ('{"a":None}', 5, 4, "`None` is no value of JSON.", "Write `null`."),
        ('{"a":NaN}', 5, 3, "`NaN` is no value of JSON.", 'Put text in double quotes: `"…"`.'),
        ('{"a":tru}', 5, 3, "`tru` is no value of JSON.", 'Put text in double quotes: `"…"`.'),
        (
            '{"a":01}',
            5,
            2,
            "`01` is no number of JSON.",
            "A number has no `+`, no leading zero, and digits on both sides of its point; or put it in quotes.",
        ),
        (
            '{"a":-Infinity}',
            5,
            9,
            "`-Infinity` is no number of JSON.",
            "A number has no `+`, no leading zero, and digits on both sides of its point; or put it in quotes.",
        ),
        (
            '{"a":}',
            5,
            1,
            "A value is expected here.",
            "A value is a string, number, object, array, true, false or null.",
        ),
        (
            '{"a":1,"b":{"c":1,"c":2}}',
            18,
            3,
            "The member `c` is repeated in its object.",
            "Keep one of them: an object has each member once.",
        ),
        (
            '{"a":1,"\\u0061":2}',
            7,
            8,
            "The member `a` is repeated in its object.",
            "Keep one of them: an object has each member once.",
        ),
        (
            '{"a":${x}}',
            5,
            2,
            "A reference may stand only inside a JSON string value.",
            'Write `"${name}"` for text, or `"${name:number}"` for the number that it spells.',
        ),
        (
            "{${x}:1}",
            1,
            2,
            "A reference may stand only inside a JSON string value.",
            'Write `"${name}"` for text, or `"${name:number}"` for the number that it spells.',
        ),
        ('{"a":"b', 5, 2, "The string is not closed on its line.", UNCLOSED),
        ('{"a":"\n"}', 5, 1, "The string is not closed on its line.", UNCLOSED),
        ('{"a" // b\n:1}', 5, 1, "A colon is expected after a member name.", 'Write `"name": value`.'),
    ],
)
def test_an_object_that_is_no_json_says_where_and_what_to_write(
    text: str, index: int, width: int, message: str, advice: str
) -> None:
    with pytest.raises(Misread) as caught:
        read_object(text, 0)
    assert (caught.value.index, caught.value.width, caught.value.message, caught.value.help) == (
        index,
        width,
        message,
        advice,
    )


def test_the_strings_of_an_object_come_with_their_places() -> None:
    text = 'x{"a": ["b", {"c": "d"}], "e": 1} rest'
    assert read_object(text, 1) == (
        33,
        [
            JsonString(2, 5, ("a",)),
            JsonString(8, 11),
            JsonString(14, 17, ("a", 1, "c")),
            JsonString(19, 22),
            JsonString(26, 29, ("e",)),
        ],
    )


def test_nesting_is_limited() -> None:
    inner = DEPTH_LIMIT - 1
    assert read_object('{"a":' + "[" * inner + "]" * inner + "}", 0)[0] == 2 * inner + 6
    with pytest.raises(Misread) as caught:
        read_object('{"a":' + "[" * 100_000, 0)
    assert (caught.value.index, caught.value.message) == (
        5 + inner,
        f"Arrays and objects stand more than {DEPTH_LIMIT} deep in one another.",
    )


def test_reading_goes_on_after_each_command_that_is_wrong() -> None:
    commands, wrong = read('a.b c=1\na.ok\n?\na.b c={"x":tru}\na.ok # again\n a.b -> X\na.ok')
    assert [each.name.text for each in commands if not each.broken] == ["ok", "ok", "ok"]
    assert [each.message for each in wrong] == [
        "A value needs double quotes.",
        "A command begins with an alias, not with `?`.",
        "`tru` is no value of JSON.",
        "`X` is no name of a capture: it is a-z, then a-z, 0-9 or _, 64 characters at most.",
    ]


def test_the_rest_of_an_object_that_is_wrong_is_no_command() -> None:
    commands, wrong = read('a.b c={\n  "x": tru,\n  "y": {\n    z\n  }\n}\na.ok')
    assert [(each.index, each.message) for each in wrong] == [(15, "`tru` is no value of JSON.")]
    assert [each.name.text for each in commands] == ["", "ok"]


def test_an_object_that_is_not_closed_ends_before_the_next_command() -> None:
    commands, (wrong,) = read('a.b c={\n  "x": [1,\n  2\na.ok -> x\n')
    assert (wrong.index, wrong.message) == (6, "The object is not closed before the next command.")
    assert [each.name.text for each in commands] == ["", "ok"]


def test_an_object_that_is_never_closed_takes_the_rest() -> None:
    commands, (wrong,) = read('a.b c={\n  "x": 1\n')
    assert (wrong.index, wrong.message) == (6, "The `{` is never closed.")
    assert [each.broken for each in commands] == [True]


def test_a_command_that_is_wrong_still_tells_its_capture() -> None:
    (command,), _ = read("a.b c=1 -> later # x")
    assert command.broken
    assert command.capture == ("later", 11, 16)


@settings(deadline=None, max_examples=150)
@given(st.text())
def test_every_string_that_json_writes_is_read_back(value: str) -> None:
    for literal in (json.dumps(value), json.dumps(value, ensure_ascii=False)):
        found = read_string(f"ab{literal}cd", 2)
        assert (found.value, found.end) == (value, 2 + len(literal))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=150)
@given(
    st.dictionaries(st.text(max_size=3), JSON, max_size=4),
    st.integers(0, 200),
    st.sampled_from('{}[]",:\\0-.e \n\tua#'),
)
def test_objects_are_exactly_what_the_strict_reader_takes(value: dict[str, object], place: int, character: str) -> None:
    written = json.dumps(value, indent=1)
    broken = written[: place % len(written)] + character + written[place % len(written) + 1 :]
    for text in (written, broken):
        try:
            document = parse(text)
            strict = isinstance(document.value, dict) and not document.repeated
        except JsonError:
            strict = False
        try:
            taken = text.startswith("{") and not text[read_object(text, 0)[0] :].strip(" \t\r\n")
        except Misread:
            taken = False
        assert taken == strict


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.sampled_from('ab.c ="\\{}[]:,#->$\n\t1u\u00a0é'), max_size=80))
def test_any_text_is_read_as_commands_or_refused_at_its_place(text: str) -> None:
    commands, wrong = read(text)
    assert len(wrong) == sum(command.broken for command in commands)
    for each in wrong:
        assert 0 <= each.index <= len(text)
        assert each.width >= 1
    for command in commands:
        for word in (command.alias, command.name, *(argument.name for argument in command.arguments)):
            assert text[word.start : word.end] == word.text
