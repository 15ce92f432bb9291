"""Strict JSON in and out: what is accepted, what is refused and how, and that nothing of a number is lost."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values.document import DEPTH_LIMIT, Document, JsonError, Members, canonical, encode, integer, parse

DEEP = "arrays and objects are nested too deeply (at most 128)"
LONE = "a string holds a lone surrogate"
VALUE = "a value is expected"
DELIMITER = "a comma or the end of the array or object is expected"
CONSTANT = "NaN and Infinity are not JSON"
NOT_UTF8 = "the text is not UTF-8"
CONTROL = "a control character stands in a string"
ESCAPE = "a string holds an unknown escape"
TRAILING = "data follows the value"
ARRAY_COMMA = "a comma stands before the end of an array"
OBJECT_COMMA = "a comma stands before the end of an object"


def raw(spelling: bytes) -> msgspec.Raw:
    return msgspec.Raw(spelling)


def refusal(text: bytes | str, **options: int) -> str:
    with pytest.raises(JsonError) as caught:
        parse(text, **options)
    return caught.value.reason


ACCEPTED: dict[str, tuple[bytes, Any, tuple[str, ...]]] = {
    "repeated member": (b'{"a":1,"a":2}', {"a": raw(b"2")}, ("a",)),
    "repeated through an escape": (b'{"a":1,"\\u0061":2}', {"a": raw(b"2")}, ("a",)),
    "repeated deep in an array": (b'[[{"x":{"k":1,"k":0}}]]', [[{"x": {"k": raw(b"0")}}]], ("k",)),
    "fraction of zero": (b"[1.0]", [raw(b"1.0")], ()),
    "below the smallest double": (b"[1e-400]", [raw(b"1e-400")], ()),
    "above the largest double": (b"[1E400]", [raw(b"1E400")], ()),
    "negative zero": (b"[-0]", [raw(b"-0")], ()),
    "negative zero with fraction": (b"[-0.0]", [raw(b"-0.0")], ()),
    "exponent": (b"[1e5]", [raw(b"1e5")], ()),
    "trailing zero": (b"[1.10]", [raw(b"1.10")], ()),
    "twenty-one fraction digits": (b"[0.100000000000000000001]", [raw(b"0.100000000000000000001")], ()),
    "past 2**53": (b"[9007199254740993]", [raw(b"9007199254740993")], ()),
    "past 2**64": (b"[18446744073709551616]", [raw(b"18446744073709551616")], ()),
    "400 digits": (b"[" + b"9" * 400 + b"]", [raw(b"9" * 400)], ()),
    "5,000 digits": (b"[" + b"9" * 5000 + b"]", [raw(b"9" * 5000)], ()),
    "surrogate pair": (b'["\\ud83d\\ude00"]', ["\U0001f600"], ()),
    "surrogate pair in capitals": (b'["\\uD83D\\uDE00"]', ["\U0001f600"], ()),
    "an escaped backslash before ud800": (b'["\\\\ud800"]', ["\\ud800"], ()),
    "raw delete character": (b'["\x7f"]', ["\x7f"], ()),
    "escaped null character": (b'["\\u0000"]', ["\0"], ()),
    "white space around": (b" \t\r\n[1]\n ", [raw(b"1")], ()),
    "scalar": (b'"x"', "x", ()),
    "empty name": (b'{"":1}', {"": raw(b"1")}, ()),
    "a name that is special elsewhere": (b'{"__proto__":1}', {"__proto__": raw(b"1")}, ()),
    "constants": (b"[true,false,null]", [True, False, None], ()),
    "100 deep": (b"[" * 100 + b"]" * 100, json.loads("[" * 100 + "]" * 100), ()),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_a_strict_text_is_read_exactly(case: str) -> None:
    text, value, repeated = ACCEPTED[case]
    assert parse(text) == Document(value, repeated)
    assert parse(text.decode()) == Document(value, repeated)


REFUSED: dict[str, tuple[bytes, str]] = {
    "NaN": (b"[NaN]", CONSTANT),
    "Infinity": (b"[Infinity]", CONSTANT),
    "minus Infinity": (b"[-Infinity]", CONSTANT),
    "leading zero": (b"[01]", DELIMITER),
    "no fraction digits": (b"[1.]", DELIMITER),
    "plus sign": (b"[+1]", VALUE),
    "no whole digits": (b"[.5]", VALUE),
    "lone high surrogate": (b'["\\ud800"]', LONE),
    "lone high surrogate before another escape": (b'["\\ud83d\\n"]', LONE),
    "lone high surrogate before an escaped backslash": (b'["\\ud83d\\\\\\ude00"]', LONE),
    "lone low surrogate": (b'["\\udc00x"]', LONE),
    "reversed surrogates": (b'["\\udc00\\ud800"]', LONE),
    "two low surrogates": (b'["\\ud83d\\ude00\\ude00"]', LONE),
    "two high surrogates": (b'["\\ud83d\\ud83d\\ude00"]', LONE),
    "lone surrogate in a name": (b'{"\\ud800":1}', LONE),
    "lone surrogate in a member that is repeated": (b'{"a":"\\ud800","a":1}', LONE),
    "encoded surrogate": (b'["\xed\xa0\x80"]', NOT_UTF8),
    "bad UTF-8": (b'["\xff"]', NOT_UTF8),
    "overlong": (b'["\xc0\xaf"]', NOT_UTF8),
    "byte order mark": (b"\xef\xbb\xbf[1]", VALUE),
    "UTF-16": ("[1]".encode("utf-16"), NOT_UTF8),
    "UTF-16 without a mark": ("[1]".encode("utf-16-le"), VALUE),
    "raw control character": (b'["a\x01b"]', CONTROL),
    "raw newline": (b'["a\nb"]', CONTROL),
    "unknown escape": (b'["\\x41"]', ESCAPE),
    "short unicode escape": (b'["\\u12"]', ESCAPE),
    "single quotes": (b"['a']", VALUE),
    "comma before the end of an array": (b"[1,]", VALUE),
    "comma before the end of an object": (b'{"a":1,}', "a member name in double quotes is expected"),
    "no colon": (b'{"a" 1}', "a colon is expected"),
    "name without quotes": (b"{a:1}", "a member name in double quotes is expected"),
    "open string": (b'["a', "a string is not ended"),
    "data after the value": (b"[1]x", TRAILING),
    "two documents": (b"[1][2]", TRAILING),
    "comment": (b"[1/*x*/]", DELIMITER),
    "empty": (b"", VALUE),
    "white space only": (b" \n", VALUE),
    "null byte after": (b"[1]\0", TRAILING),
    "form feed": (b"[\x0c1]", VALUE),
    "no-break space": ("[\u00a01]".encode(), VALUE),
    "1,100 deep": (b"[" * 1100 + b"]" * 1100, DEEP),
    "100,000 deep": (b"[" * 100_000 + b"]" * 100_000, DEEP),
    "8 MiB of openers": (b"[" * (8 << 20), DEEP),
    "8 MiB of objects": (b'{"a":' * 1_600_000, DEEP),
}

#: Python 3.13 calls two of the places by names of their own.
RENAMED = {ARRAY_COMMA: VALUE, OBJECT_COMMA: "a member name in double quotes is expected"}


@pytest.mark.parametrize("case", REFUSED)
def test_anything_else_is_refused_with_its_reason(case: str) -> None:
    text, reason = REFUSED[case]
    found = refusal(text)
    assert RENAMED.get(found, found) == reason


def test_a_refusal_tells_the_place_but_quotes_nothing() -> None:
    with pytest.raises(JsonError) as caught:
        parse(b'{"token":"abc", zebra}')
    assert (caught.value.reason, caught.value.offset) == ("a member name in double quotes is expected", 16)
    assert str(caught.value) == caught.value.reason
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_text_with_a_raw_lone_surrogate_is_refused() -> None:
    with pytest.raises(JsonError) as caught:
        parse('["a\ud800"]')
    assert (caught.value.reason, caught.value.offset) == (LONE, 3)


def test_a_repeated_member_is_reported_at_any_depth() -> None:
    text = '{"b":1,"b":2,"c":[{"a":{},"a":{"z":1,"z":1,"z":1}}],"b":3}'
    assert parse(text) == Document({"b": raw(b"3"), "c": [{"a": {"z": raw(b"1")}}]}, ("z", "a", "b"))


def test_a_name_that_two_objects_have_is_not_repeated() -> None:
    assert parse('[{"a":{"a":1}},{"a":2}]').repeated == ()


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        (r'{"a:":":","b":"\":","c":"\\:"}', ()),
        (r'{"a":"\\","b":":\":"}', ()),
        (r'{"a":":","\u0061":"\\"}', ("a",)),
        (r'{"":{"\":":1,"\":":[":"]},":":""}', ('":',)),
    ],
)
def test_colons_in_strings_neither_hide_nor_feign_a_repeated_member(text: str, repeated: tuple[str, ...]) -> None:
    assert parse(text).repeated == repeated


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}"), ('{"a":[', "]}")])
def test_the_depth_limit_is_exact(opening: str, closing: str) -> None:
    containers = opening.count("[") + opening.count("{")
    fits = DEPTH_LIMIT // containers
    assert parse(opening * fits + "1" + closing * fits).repeated == ()
    assert refusal("[" + opening * fits + "1" + closing * fits + "]") == DEEP
    assert refusal("[[[1]]]", depth=2) == "arrays and objects are nested too deeply (at most 2)"
    assert parse("[[1],[2,[]],{}]", depth=3).value == [[raw(b"1")], [raw(b"2"), []], {}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps("[" * 5000),
        json.dumps(['"' + "[{" * 5000, "\\", '\\"' + "[" * 99, "]]"]),
        json.dumps([json.dumps([json.dumps(["[" * 500, '"', "\\"])])]),
        "[" + ",".join(["[]", "{}"] * 5000) + "]",
        json.dumps([{"a": ["]", "["]}] * 500),
    ],
)
def test_only_containers_count_as_depth(text: str) -> None:
    assert parse(text, depth=8) == Document(json.loads(text), ())


def test_brackets_that_do_not_match_are_a_syntax_error() -> None:
    assert refusal("[" * 100 + "}" * 100) == VALUE
    assert refusal("[}" * 5000) == VALUE
    assert refusal("[" * DEPTH_LIMIT) == VALUE
    assert refusal("[" * (DEPTH_LIMIT + 1)) == DEEP


def test_depth_is_bounded_whatever_the_stack() -> None:
    def below(frames: int) -> str:
        return below(frames - 1) if frames else refusal("[" * 100 + "]" * 100)

    assert below(900) == "arrays and objects are nested too deeply"


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,5})?", fullmatch=True),
).map(lambda spelling: raw(spelling.encode()))
values = st.recursive(
    st.none() | st.booleans() | texts | numbers,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


ordinary_values = st.recursive(
    st.none() | st.booleans() | texts | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(values)
def test_every_number_keeps_its_spelling(value: Any) -> None:
    text = encode(value)
    assert parse(text).value == value
    assert encode(parse(text).value) == text


@settings(deadline=None)
@given(ordinary_values, st.booleans(), st.sampled_from([None, 1]))
def test_what_the_standard_library_wrote_is_read_alike(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert json.loads(encode(parse(text).value)) == value
    assert parse(text.encode()) == parse(text)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["", "a", ":", '":', "\\", "{", "é"]), ordinary_values), max_size=5),
    st.booleans(),
)
def test_a_name_is_reported_exactly_when_it_was_written_twice(pairs: list[tuple[str, Any]], ascii_only: bool) -> None:
    members = (json.dumps({name: value}, ensure_ascii=ascii_only)[1:-1] for name, value in pairs)
    names = [name for name, _ in pairs]
    again = dict.fromkeys(name for place, name in enumerate(names) if name in names[:place])
    assert parse(f"[{{{', '.join(members)}}}]").repeated == tuple(again)


@settings(deadline=None)
@given(st.binary(max_size=40) | st.text('[]{}",:\\ud80ctn1-e.5 ', max_size=30).map(str.encode))
def test_arbitrary_bytes_are_read_or_refused_and_nothing_else(text: bytes) -> None:
    try:
        document = parse(text)
    except JsonError:
        return
    assert json.loads(encode(document.value)) == json.loads(text)


def test_encoding_is_compact_and_takes_numbers_of_ours_too() -> None:
    value = {"a": [1, raw(b"1.0"), True, None, "é\n"], "b": {}}
    assert encode(value) == '{"a":[1,1.0,true,null,"é\\n"],"b":{}}'.encode()


def test_members_are_written_in_order_and_names_after_the_first_of_a_kind_are_numbered() -> None:
    value = [Members([("b", raw(b"1e1")), ("a", Members([])), ("b", "x"), ("b", None)])]
    assert encode(value) == b'[{"b":1e1,"a":{},"b (2)":"x","b (3)":null}]'
    assert canonical(value) == b'[{"a":{},"b":"x","b":1e1,"b":null}]'


@given(st.lists(st.sampled_from(["a", "a (2)", "a (3)", "a (2) (2)", "b"]), max_size=8))
@settings(deadline=None, max_examples=200)
def test_what_is_written_of_members_repeats_no_name(names: list[str]) -> None:
    document = parse(encode(Members([(name, str(place)) for place, name in enumerate(names)])))
    assert document.repeated == ()
    assert list(document.value.values()) == [str(place) for place in range(len(names))]


def test_members_compare_by_their_pairs_and_cannot_be_hashed() -> None:
    members = Members([("a", [])])
    assert members == Members((("a", []),))
    assert members != Members([("a", {})])
    assert members != {"a": []}
    assert repr(members) == "Members([('a', [])])"
    with pytest.raises(TypeError, match="mutable"):
        hash(members)


def test_what_is_no_json_value_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="object is not a JSON value"):
        encode(object())
    with pytest.raises(TypeError, match="object is not a JSON value"):
        canonical([object()])
    with pytest.raises(ValueError, match="surrogate"):
        encode("\ud800")


def test_the_canonical_form_sorts_by_code_point_and_keeps_spellings() -> None:
    value = parse('{"\U0001f600":1.0,"\uffff":2,"é":[{"b":1e2,"a":-0}],"z":"é","Z":0,"":""}').value
    text = '{"":"","Z":0,"z":"é","é":[{"a":-0,"b":1e2}],"\uffff":2,"\U0001f600":1.0}'
    assert canonical(value) == text.encode()


@settings(deadline=None)
@given(st.dictionaries(texts, numbers, max_size=6), st.randoms())
def test_the_order_of_members_does_not_change_the_canonical_form(value: dict[str, Any], random: Any) -> None:
    pairs = list(value.items())
    random.shuffle(pairs)
    assert canonical(dict(pairs)) == canonical(value) == canonical(Members(pairs))
    assert list(parse(canonical(value)).value) == sorted(value)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (raw(b"0"), 0),
        (raw(b"-0"), 0),
        (raw(b"-42"), -42),
        (raw(b"9007199254740991"), 9007199254740991),
        (raw(b"-9007199254740991"), -9007199254740991),
        (raw(b"9007199254740992"), None),
        (raw(b"-9007199254740992"), None),
        (raw(b"9" * 5000), None),
        (raw(b"1.0"), None),
        (raw(b"1e2"), None),
        (7, 7),
        (-(2**53), None),
        (True, None),
        ("1", None),
        (None, None),
        ([], None),
    ],
)
def test_integers_are_read_within_what_every_implementation_holds(value: Any, number: int | None) -> None:
    assert integer(value) == number
