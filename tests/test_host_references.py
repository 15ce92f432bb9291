"""References: where they may stand, what they become, and that nothing else of a value changes."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.literals import Misread
from host.references import Reference, Template, object_template, program_template, text_template
from host.source import Located
from protocol.failures import Code, Failed


def located(text: str) -> Located:
    return Located(text, (0,), (100,))


def text(value: str) -> Template:
    return text_template(located(value), unexpected)


def json_object(value: str) -> Template:
    return object_template(located(value), unexpected)


def unexpected(wrong: Misread) -> None:
    raise wrong


def refused(make: object, value: str) -> list[tuple[int, int, str, str]]:
    wrong: list[Misread] = []
    assert callable(make)
    template = make(located(value), wrong.append)
    assert template.source == value
    return [(each.index, each.width, each.message, each.help) for each in wrong]


@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("", ()),
        ("plain", ("plain",)),
        ("${a}", (Reference("a", False, 100, 4),)),
        ("x${a}y${b_1}", ("x", Reference("a", False, 101, 4), "y", Reference("b_1", False, 106, 6))),
        ("${a}${a}", (Reference("a", False, 100, 4), Reference("a", False, 104, 4))),
        ("$${a}", ("${a}",)),
        ("$$${a}", ("$${a}",)),
        ("$${a}${a}", ("${a}", Reference("a", False, 105, 4))),
        ("$ $a $(a) {a} $$ }", ("$ $a $(a) {a} $$ }",)),
    ],
)
def test_a_plain_argument_is_text_and_references(written: str, parts: tuple[str | Reference, ...]) -> None:
    assert text(written) == Template(written, parts, json=False)


@pytest.mark.requirement("arguments.references")
@pytest.mark.parametrize(
    ("written", "parts"),
    [
        ("{}", ("{}",)),
        (' {"a":1} ', (' {"a":1} ',)),
        ('{"a":"${b}"}', ('{"a":"', Reference("b", False, 106, 4), '"}')),
        (
            '{"a":["x ${b}","${c:number}"]}',
            ('{"a":["x ', Reference("b", False, 109, 4), '",', Reference("c", True, 116, 11), "]}"),
        ),
        (r'{"a":"\\${b}"}', (r'{"a":"\\', Reference("b", False, 108, 4), '"}')),
        ('{"a":"$${b}","$${c}":1}', ('{"a":"${b}","${c}":1}',)),
        ('{"a":"$${b:number}"}', ('{"a":"${b:number}"}',)),
        (r'{"a":"\u0024{b}"}', (r'{"a":"\u0024{b}"}',)),
    ],
)
def test_a_json_object_has_references_in_string_values(written: str, parts: tuple[str | Reference, ...]) -> None:
    assert json_object(written) == Template(written, parts, json=True)


def test_needs_names_each_reference_once_in_order() -> None:
    assert text("${b}${a}${b}").needs == ("b", "a")
    assert json_object('{"x":"${n:number}","y":"${m}"}').needs == ("n", "m")
    assert text("none $${a}").needs == ()


NAME = "Write `${name}`, the name in lower case (a-z, 0-9, _), or `$${` for a literal `${`."
WHOLE = "`:number` may stand only as the whole of a string value in a JSON object."
OUTSIDE = (
    "A reference may stand only inside a JSON string value.",
    'Write `"${name}"` for text, or `"${name:number}"` for the number that it spells.',
)
MEMBER = (
    "A reference cannot stand in a member name, only in a string value.",
    "Write the name out, or `$${` for a literal `${`.",
)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("x${}", [(1, 3, "`${}` is no reference.", NAME)]),
        ("${A}", [(0, 4, "`${A}` is no reference.", NAME)]),
        ("${a-b}", [(0, 6, "`${a-b}` is no reference.", NAME)]),
        ("${ a }", [(0, 2, "A reference is not closed by `}`.", NAME)]),
        ("${a", [(0, 3, "A reference is not closed by `}`.", NAME)]),
        ("${a ${b}", [(0, 3, "A reference is not closed by `}`.", NAME)]),
        ("${", [(0, 2, "A reference is not closed by `}`.", NAME)]),
        (
            "${a:int}",
            [
                (
                    0,
                    8,
                    "`:int` is no kind of reference.",
                    'Write `${a}` for text, or `"${a:number}"` for a number in a JSON object.',
                )
            ],
        ),
        (
            "x${a:number}",
            [(1, 11, WHOLE, 'Write `"${a:number}"` as a whole value, or `${a}` to insert text.')],
        ),
        (
            "${A} ${",
            [(0, 4, "`${A}` is no reference.", NAME), (5, 2, "A reference is not closed by `}`.", NAME)],
        ),
    ],
)
def test_a_reference_that_is_malformed_is_refused_in_text(
    written: str, expected: list[tuple[int, int, str, str]]
) -> None:
    assert refused(text_template, written) == expected


@pytest.mark.requirement("arguments.references", "capture.not-a-name")
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"a":${b}}', [(5, 2, *OUTSIDE)]),
        ("{${b}:1}", [(1, 2, *OUTSIDE)]),
        ('{"${b}":1}', [(2, 4, *MEMBER)]),
        ('{"${b:number}":1}', [(2, 11, *MEMBER)]),
        ('{"a":{"x${b}":"${C}"}}', [(8, 4, *MEMBER), (15, 4, "`${C}` is no reference.", NAME)]),
        (
            '{"a":"${b:number} "}',
            [(6, 11, WHOLE, 'Write `"${b:number}"` as a whole value, or `${b}` to insert text.')],
        ),
        ("", [(0, 1, "The value has to be a JSON object.", 'Write an object: `{"name": "value"}`.')]),
        (' "${a}"', [(1, 6, "The value has to be a JSON object.", 'Write an object: `{"name": "value"}`.')]),
        ("{} x", [(3, 1, "Something follows the JSON object.", "Take it out: the value is one object.")]),
    ],
)
def test_a_reference_in_the_wrong_place_of_an_object_is_refused(
    written: str, expected: list[tuple[int, int, str, str]]
) -> None:
    assert refused(object_template, written) == expected


@pytest.mark.requirement("arguments.references", "capture.insertion")
@pytest.mark.parametrize(
    ("value", "inserted"),
    [
        ("plain", "plain"),
        ('say "hi"', r"say \"hi\""),
        ("back\\slash", r"back\\slash"),
        ("line\nbreak\ttab", r"line\nbreak\ttab"),
        ("\x00\x1f\x7f", "\\u0000\\u001f\x7f"),
        ("é 日本 😀 \u2028", "é 日本 😀 \u2028"),
        ("${b} $${", "${b} $${"),
        ('"}, "x": {"', r"\"}, \"x\": {\""),
        ("", ""),
    ],
)
def test_a_value_goes_into_an_object_as_escaped_text_and_into_text_as_it_is(value: str, inserted: str) -> None:
    assert json_object('{"a":"<${b}>"}').substitute({"b": value}) == f'{{"a":"<{inserted}>"}}'
    assert text("<${b}>").substitute({"b": value}) == f"<{value}>"


@pytest.mark.parametrize("spelling", ["0", "-0", "1.10", "1e-400", "9007199254740993", "-1E+5", "7" * 400])
def test_a_number_goes_in_as_it_is_spelled(spelling: str) -> None:
    assert json_object('{"a":"${b:number}"}').substitute({"b": spelling}) == f'{{"a":{spelling}}}'


@pytest.mark.parametrize(
    "value", ["", "x", "01", "+1", "1.", ".5", "0x1", "NaN", "1 ", " 1", "1\n", "1,2", "true", "\u0661"]
)
def test_what_is_no_number_fails_and_is_not_quoted(value: str) -> None:
    with pytest.raises(Failed) as caught:
        json_object('{"a":"${b:number}"}').substitute({"b": value})
    assert caught.value.failure == (
        Code.EXPECTATION_FAILED,
        "`${b:number}` needs the spelling of a JSON number, and `b` is none. Write `${b}` to insert it as text.",
        None,
        None,
    )


def test_a_name_without_a_value_is_a_defect_of_the_caller() -> None:
    with pytest.raises(KeyError):
        text("${a}").substitute({"b": ""})


def test_program_text_has_no_references() -> None:
    assert program_template(located("${A} $${b}")) == Template("${A} $${b}", ("${A} $${b}",), json=False)


@pytest.mark.requirement("capture.insertion")
@settings(deadline=None, max_examples=150)
@given(st.text(), st.text())
def test_substitution_puts_exactly_the_value_into_the_json(value: str, other: str) -> None:
    outer = json.dumps({"k": other.replace("$", "")}, ensure_ascii=False)
    written = outer[:-1] + ', "a": ["${v}", "x${v}${v}", "$${v}"]}'
    found = json.loads(json_object(written).substitute({"v": value}))
    assert found == {"k": other.replace("$", ""), "a": [value, f"x{value}{value}", "${v}"]}


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from('${}:ab number"\\x'), max_size=40))
def test_any_text_is_scanned_and_only_its_references_change(written: str) -> None:
    wrong: list[Misread] = []
    template = text_template(located(written), wrong.append)
    for reference in template.references:
        start = reference.offset - 100
        assert written[start : start + reference.width] == f"${{{reference.name}}}"
    if not wrong:
        expected = re.sub(r"\$\$\{|\$\{([a-z0-9_]+)\}", lambda found: f"<{found[1]}>" if found[1] else "${", written)
        assert template.substitute({name: f"<{name}>" for name in template.needs}) == expected
