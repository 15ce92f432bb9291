"""`expect`: only known keys, only operands that can be checked, nothing that cannot fail; and JSON assertions."""

import json
from decimal import Decimal
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from plugin.checks.assertions import Assertion, evaluate, read_assertion, type_name
from plugin.checks.expectation import read_expect
from plugin.commands import COMMANDS
from plugin.describe import expect_schema
from plugin.expectations import EXPECTATIONS
from protocol.failures import Code, Failed
from protocol.values.document import Members, parse
from protocol.values.pointer import MISSING

EVERY_KEY = tuple(EXPECTATIONS)


def value(text: str) -> Any:
    return parse(text).value


def read(text: str, keys: tuple[str, ...] = EVERY_KEY) -> dict[str, Any]:
    return read_expect(value(text), keys)


def refusal(text: str, keys: tuple[str, ...] = EVERY_KEY) -> str:
    with pytest.raises(Failed) as caught:
        read(text, keys)
    assert caught.value.code is Code.INVALID_EXPECTATION
    return caught.value.failure.message


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"present":["a","b"],"absent":["c","b"]}', "expect.absent"),
        ('{"only":["a"],"absent":["a"]}', "expect.absent"),
        ('{"only":["a"],"present":["b"]}', "expect.present"),
        ('{"only":[],"present":["b"]}', "expect.present"),
        ('{"textIncludes":["one two"],"textExcludes":["wo"]}', "expect.textExcludes"),
    ],
)
def test_what_can_never_hold_is_refused(text: str, where: str) -> None:
    told = refusal(text)
    assert told.startswith(f"`{where}` holds ")
    assert told.endswith(", so the two can never hold together.")


@pytest.mark.parametrize(
    "text",
    [
        '{"present":["a"],"absent":["b"],"only":["a","c"]}',
        '{"only":[],"absent":["b"]}',
        '{"textIncludes":["wo"],"textExcludes":["one two"]}',
    ],
)
def test_what_may_hold_together_is_read(text: str) -> None:
    assert read(text)


@pytest.mark.requirement("expect.call")
def test_every_key_is_read() -> None:
    assert read(
        '{"present":["a"],"absent":["b","c"],"only":["a"],"count":1,"noTrueAnnotations":["destructive"],"isError":true,'
        '"textIncludes":["x"],"textExcludes":["y"],"redacted":false,"status":401,'
        '"json":[{"pointer":"/a","equals":1.10},{"pointer":"","type":"array"}]}'
    ) == {
        "present": ("a",),
        "absent": ("b", "c"),
        "only": ("a",),
        "count": 1,
        "noTrueAnnotations": ("destructive",),
        "isError": True,
        "textIncludes": ("x",),
        "textExcludes": ("y",),
        "redacted": False,
        "status": 401,
        "json": (Assertion("/a", ("a",), "equals", msgspec.Raw(b"1.10")), Assertion("", (), "type", "array")),
    }
    assert read('{"rpcError":-32602,"textIncludes":["x"]}') == {"rpcError": -32602, "textIncludes": ("x",)}


@pytest.mark.requirement(
    "expect.status",
    "expect.private-operands",
    "json.count",
    "json.form",
    "json.count-operator",
    "json.without-rpc-error",
)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}", "at least one key"),
        ("[]", "at least one key"),
        ('{"isEror":true}', "`isEror`"),
        ('{"present":[]}', "could never fail"),
        ('{"absent":[]}', "could never fail"),
        ('{"textIncludes":[]}', "could never fail"),
        ('{"textExcludes":[]}', "could never fail"),
        ('{"json":[]}', "could never fail"),
        ('{"noTrueAnnotations":[]}', "could never fail"),
        ('{"present":["a","a"]}', "repeats an entry"),
        ('{"only":["a","b","a"]}', "repeats an entry"),
        ('{"json":[{"pointer":"/a","exists":true},{"exists":true,"pointer":"/a"}]}', "repeats an entry"),
        ('{"textIncludes":[""]}', "empty string"),
        ('{"textExcludes":["a",""]}', "empty string"),
        ('{"textExcludes":["a\\u001bb"]}', "terminal control"),
        ('{"present":["a\\u0007"]}', "terminal control"),
        ('{"json":[{"pointer":"/\\u0000","exists":true}]}', "terminal control"),
        ('{"json":[{"pointer":"/a","equals":"\\u009b"}]}', "terminal control"),
        ('{"rpcError":-1,"isError":true}', "`rpcError` beside `isError`"),
        ('{"rpcError":-1,"json":[{"pointer":"","exists":true}]}', "`rpcError` beside `json`"),
        ('{"present":"a"}', "takes a list"),
        ('{"present":[1]}', "takes strings only"),
        ('{"present":[null]}', "takes strings only"),
        ('{"noTrueAnnotations":["readonly"]}', "takes names among"),
        ('{"count":-1}', "integer from 0"),
        ('{"count":1.0}', "integer from 0"),
        ('{"count":"1"}', "integer from 0"),
        ('{"count":true}', "integer from 0"),
        ('{"count":100001}', "integer from 0"),
        ('{"status":99}', "integer from 100 to 599"),
        ('{"status":600}', "integer from 100 to 599"),
        ('{"status":4e2}', "integer from 100 to 599"),
        ('{"rpcError":9007199254740992}', "integer"),
        ('{"rpcError":"-32602"}', "integer"),
        ('{"isError":1}', "true or false"),
        ('{"isError":null}', "true or false"),
        ('{"redacted":"false"}', "true or false"),
        ('{"json":{"pointer":"","exists":true}}', "takes a list"),
        ('{"json":[{"exists":true}]}', "string `pointer`"),
        ('{"json":[{"pointer":1,"exists":true}]}', "string `pointer`"),
        ('{"json":["/a"]}', "string `pointer`"),
        ('{"json":[{"pointer":"/a"}]}', "exactly one of"),
        ('{"json":[{"pointer":"/a","exists":true,"type":"null"}]}', "exactly one of"),
        ('{"json":[{"pointer":"/a","matches":"x"}]}', "exactly one of"),
        ('{"json":[{"pointer":"a","exists":true}]}', "begins with `/`"),
        ('{"json":[{"pointer":"/~2","exists":true}]}', "`~`"),
        ('{"json":[{"pointer":"/a","exists":1}]}', "true or false"),
        ('{"json":[{"pointer":"/a","equals":[]}]}', "string, number, boolean or null"),
        ('{"json":[{"pointer":"/a","equals":{}}]}', "string, number, boolean or null"),
        ('{"json":[{"pointer":"/a","type":"integer"}]}', "takes one of"),
        ('{"json":[{"pointer":"/a","type":null}]}', "takes one of"),
        ('{"json":[{"pointer":"/a","count":10001}]}', "0 to 10000"),
        ('{"json":[{"pointer":"/a","count":1.0}]}', "0 to 10000"),
        ('{"json":[{"pointer":"/a","includes":5}]}', "takes a string"),
        ('{"json":[{"pointer":"/a","equals":9007199254740993}]}', "9007199254740991"),
        ('{"json":[{"pointer":"/a","equals":1e400}]}', "9007199254740991"),
        ('{"json":[{"pointer":"/a","equals":1e1000000}]}', "six exponent digits"),
        ('{"json":[{"pointer":"/a","equals":0.%s}]}' % ("1" * 1000), "mantissa digits"),
    ],
)
def test_an_expectation_that_cannot_be_checked_is_refused_with_its_reason(text: str, reason: str) -> None:
    assert reason in refusal(text)


@pytest.mark.requirement("expect.text-excludes.operands", "json.count", "json.count-operator")
def test_operands_are_admitted_at_their_limits() -> None:
    assertions = [{"pointer": f"/{number}", "exists": True} for number in range(32)]
    texts = [str(number) for number in range(64)]
    assert len(read(json.dumps({"json": assertions, "textExcludes": texts}))["json"]) == 32
    assert read('{"json":[{"pointer":"/a","count":10000},{"pointer":"/b","includes":""}]}')["json"][0].operand == 10000
    for number in ("9007199254740991", "-9007199254740991", "1e-400", "0." + "1" * 999, "0e999999", "1e-000999999"):
        read(f'{{"json":[{{"pointer":"/a","equals":{number}}}]}}')


@pytest.mark.requirement("expect.text-excludes.operands", "json.count")
def test_lists_are_refused_past_their_limits() -> None:
    assertions = [{"pointer": f"/{number}", "exists": True} for number in range(33)]
    assert "1 to 32 entries" in refusal(json.dumps({"json": assertions}))
    assert "1 to 64 entries" in refusal(json.dumps({"textIncludes": [str(number) for number in range(65)]}))


@pytest.mark.requirement("expect.keys", "capture.positive")
def test_a_key_of_another_command_is_refused_beside_those_it_accepts() -> None:
    message = refusal('{"isError":true}', COMMANDS["call_value"].expect)
    assert message == (
        "`expect` has a key `isError`; this command accepts `textIncludes`, `textExcludes`, `redacted`, `json`."
    )


TEXT = st.sampled_from(["", "a", "b", "/a", "/~0", "string", "destructive"])
SCALAR = st.one_of(st.none(), st.booleans(), st.integers(-2, 700), st.floats(-10, 10), TEXT)
ENTRY = st.dictionaries(
    st.sampled_from(["pointer", "exists", "equals", "type", "count", "includes", "x"]), SCALAR, max_size=3
)
OPERAND = st.one_of(SCALAR, st.lists(TEXT, max_size=3), st.lists(ENTRY, max_size=2))


@settings(deadline=None, max_examples=300)
@given(st.dictionaries(st.sampled_from(EVERY_KEY), OPERAND, max_size=2))
@example({"json": [{"pointer": "/a", "count": 1.0}]})
@example({"json": [{"pointer": "", "equals": None}, {"pointer": "", "type": "null"}]})
@example({"only": []})
@example({"rpcError": 1, "isError": True})
def test_the_published_schema_and_the_reader_agree(expect: dict[str, Any]) -> None:
    """But for what a schema cannot say: `1.0` is an integer to it, a pointer has its syntax, and keys can conflict."""
    valid = jsonschema.Draft202012Validator(expect_schema(EVERY_KEY)).is_valid(expect)
    message = ""
    try:
        read_expect(value(json.dumps(expect)), EVERY_KEY)
    except Failed as failed:
        message = failed.failure.message
    if not any(reason in message for reason in ("without point or exponent", "JSON Pointer", "can never hold")):
        assert valid == (message == ""), expect


#: Operator, operand, target, and the reason of the failure (None: it holds). MISSING: the pointer leads nowhere.
EVALUATED: list[tuple[str, str, str | None, str | None]] = [
    ("exists", "true", "null", None),
    ("exists", "true", None, "missing"),
    ("exists", "false", None, None),
    ("exists", "false", "null", "present"),
    ("equals", "null", "null", None),
    ("equals", "null", None, "missing"),
    ("equals", "null", "false", "type-mismatch"),
    ("equals", "true", "true", None),
    ("equals", "true", "false", "not-equal"),
    ("equals", "true", "1", "type-mismatch"),
    ("equals", "1", "true", "type-mismatch"),
    ("equals", '"1"', "1", "type-mismatch"),
    ("equals", "1", '"1"', "type-mismatch"),
    ("equals", '"a"', '"a"', None),
    ("equals", '"a"', '"A"', "not-equal"),
    ("equals", '"a"', "[]", "type-mismatch"),
    ("equals", "1.1", "1.10", None),
    ("equals", "11e-1", "1.10", None),
    ("equals", "0", "-0", None),
    ("equals", "-0.0", "0", None),
    ("equals", "1e-400", "1e-400", None),
    ("equals", "0", "1e-400", "not-equal"),
    ("equals", "1e-400", "0", "not-equal"),
    ("equals", "9007199254740991", "9007199254740993", "not-equal"),
    ("equals", "9007199254740991", "9007199254740991.0", None),
    ("equals", "1", "1e1000000", "number-limits"),
    ("equals", "1", "1" * 1001, "number-limits"),
    ("equals", "1", "1" * 400, "not-equal"),
    ("type", '"string"', '"x"', None),
    ("type", '"number"', "1", None),
    ("type", '"boolean"', "true", None),
    ("type", '"null"', "null", None),
    ("type", '"array"', "[]", None),
    ("type", '"object"', "{}", None),
    ("type", '"number"', "true", "type-mismatch"),
    ("type", '"object"', "[]", "type-mismatch"),
    ("type", '"null"', None, "missing"),
    ("count", "2", "[1,2]", None),
    ("count", "2", '{"a":1,"b":2}', None),
    ("count", "1", "[]", "count-mismatch"),
    ("count", "1", '"a"', "not-countable"),
    ("count", "0", None, "missing"),
    ("includes", '"b"', '"abc"', None),
    ("includes", '"B"', '"abc"', "not-included"),
    ("includes", '"1"', "1", "not-a-string"),
    ("includes", '"a"', '["a"]', "not-a-string"),
    ("includes", '""', '"x"', None),
]


@pytest.mark.requirement(
    "json.exists",
    "json.equals",
    "json.type",
    "json.count-operator",
    "json.includes",
    "json.comparator-limits",
    "json.original-spelling",
)
@pytest.mark.parametrize(("operator", "operand", "target", "reason"), EVALUATED)
def test_an_assertion_holds_or_fails_for_its_fixed_reason(
    operator: str, operand: str, target: str | None, reason: str | None
) -> None:
    assertion = read_assertion({"pointer": "/t", operator: value(operand)}, "expect.json[0]")
    source = value("{}" if target is None else f'{{"t":{target}}}')
    assert evaluate(assertion, source, lambda _: False) == reason


@pytest.mark.requirement("json.private-target")
@pytest.mark.parametrize(("operator", "operand"), [("equals", '"a private b"'), ("includes", '"a"')])
def test_a_private_target_satisfies_neither_equals_nor_includes(operator: str, operand: str) -> None:
    assertion = read_assertion({"pointer": "", operator: value(operand)}, "")
    assert evaluate(assertion, "a private b", lambda text: "private" in text) == "private-target"
    assert evaluate(assertion, "a private b", lambda _: False) is None


@pytest.mark.parametrize("operator", ["exists", "type", "count"])
def test_a_private_target_may_be_looked_at_without_showing_it(operator: str) -> None:
    operand = {"exists": True, "type": "string", "count": msgspec.Raw(b"1")}[operator]
    source = ["private"] if operator == "count" else "private"
    assert evaluate(read_assertion({"pointer": "", operator: operand}, ""), source, lambda _: True) is None


@pytest.mark.requirement("json.source.unavailable")
@pytest.mark.parametrize("operator", ["exists", "equals", "type", "count", "includes"])
def test_without_a_source_every_assertion_fails(operator: str) -> None:
    operand = {"exists": False, "type": "string", "count": msgspec.Raw(b"1")}.get(operator, "x")
    assertion = read_assertion({"pointer": "/a", operator: operand}, "")
    assert evaluate(assertion, MISSING, lambda _: False) == "source-unavailable"


@pytest.mark.requirement("json.type")
def test_types_are_those_of_json() -> None:
    values = ["", True, msgspec.Raw(b"1"), [], {}, Members([]), None]
    assert [type_name(one) for one in values] == ["string", "boolean", "number", "array", "object", "object", "null"]


NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)


@pytest.mark.requirement("json.equals")
@settings(deadline=None, max_examples=200)
@given(NUMBERS, NUMBERS)
@example("1.10", "1.1")
def test_equality_of_numbers_agrees_with_decimal(left: str, right: str) -> None:
    assertion = Assertion("", (), "equals", msgspec.Raw(left.encode()))
    equal = evaluate(assertion, msgspec.Raw(right.encode()), lambda _: False) is None
    assert equal == (Decimal(left) == Decimal(right))
