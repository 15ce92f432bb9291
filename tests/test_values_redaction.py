"""Redaction: nothing private is left in any promised encoding, and nothing else is touched."""

import base64
import json
import re
import string
import threading
from enum import StrEnum
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from protocol.values.document import Members, encode, parse
from protocol.values.encodings import LAYERS, views
from protocol.values.redaction import Redacted, Redactor

TOKEN = "tok-secret/12+34"
ALWAYS = settings(deadline=None, max_examples=100)


def raw(spelling: str) -> msgspec.Raw:
    return msgspec.Raw(spelling.encode())


def reveals(text: str, secret: str) -> bool:
    """Tell, by other means than the code, whether a text says a secret in a form that redaction promises to find."""
    for view in views(text.encode(), LAYERS):
        if secret.encode() in view.text:
            return True
        if len(secret.encode()) >= 8 and any(secret.encode() in form for form in decoded(view.text)):
            return True
    return False


def decoded(text: bytes) -> list[bytes]:
    forms = [unquote_to_bytes(text), unquote_to_bytes(text.replace(b"+", b" "))]
    for run in re.findall(rb"[A-Za-z0-9+/_-]+", text):
        standard = run.translate(bytes.maketrans(b"-_", b"+/"))
        for start in range(4):
            piece = standard[start:]
            forms.append(base64.b64decode(piece[: len(piece) // 4 * 4]))
            forms.append(base64.b64decode(piece + b"A" * (-len(piece) % 4)))
    return forms


# Secrets without a letter of the marker that could make them part of it.
characters = st.sampled_from(
    "".join(set(string.ascii_letters + string.digits) - set("d")) + '-_.~/+%=&:?#"\\ é€\U0001f600'
)
secrets = st.text(characters, min_size=4, max_size=14).filter(lambda text: not text.isspace())
long_secrets = secrets.filter(lambda text: len(text.encode()) >= 8)
contexts = st.lists(
    st.sampled_from(
        ["\\", "\\\\", '"', '\\"', "u", "\\u0061", "%", "%4", "%41", "+", "/", "é", " ", "=", "A", "[", "\\b"]
    ),
    max_size=5,
).map("".join)


@st.composite
def escaped(draw: st.DrawFn, text: str, layers: int) -> str:
    """The text as a JSON string literal, nested so many times in others, each character escaped in any way at all."""
    for _ in range(layers):
        choices = draw(st.lists(st.integers(0, 7), min_size=1, max_size=7))
        text = (
            '"'
            + "".join(escape(character, choices[index % len(choices)]) for index, character in enumerate(text))
            + '"'
        )
    return text


def escape(character: str, choice: int) -> str:
    short = json.dumps(character, ensure_ascii=False)[1:-1]
    if choice == 0:
        units = character.encode("utf-16-be").hex()
        return "".join("\\u" + units[index : index + 4] for index in range(0, len(units), 4))
    if choice == 1:
        units = character.encode("utf-16-be").hex().upper()
        return "".join("\\u" + units[index : index + 4] for index in range(0, len(units), 4))
    if choice == 2 and character == "/":
        return "\\/"
    return short


@st.composite
def percent_encoded(draw: st.DrawFn, text: str) -> str:
    choices = draw(st.lists(st.integers(0, 2), min_size=1, max_size=7))
    result = ""
    for index, character in enumerate(text):
        choice = choices[index % len(choices)]
        if choice == 0 and character not in "%+" and character.isascii():
            result += "+" if character == " " else character
        else:
            result += "".join(f"%{octet:02x}" if choice == 1 else f"%{octet:02X}" for octet in character.encode())
    return f"?q={result}&"


@st.composite
def base64_encoded(draw: st.DrawFn, text: str) -> str:
    data = draw(st.binary(max_size=4)) + text.encode() + draw(st.binary(max_size=4))
    encoded = draw(st.sampled_from([base64.b64encode, base64.urlsafe_b64encode]))(data).decode()
    return encoded.rstrip("=") if draw(st.booleans()) else encoded


@st.composite
def spelled(draw: st.DrawFn, secret: str) -> str:
    form = draw(st.sampled_from(["plain", "percent", "base64"])) if len(secret.encode()) >= 8 else "plain"
    encoder: Any = {"plain": st.just, "percent": percent_encoded, "base64": base64_encoded}[form]
    return draw(escaped(draw(encoder(secret)), draw(st.integers(0, LAYERS))))


@ALWAYS
@given(st.data(), st.lists(secrets, min_size=1, max_size=4), contexts, contexts)
def test_no_secret_is_left_in_any_promised_encoding(data: Any, private: list[str], before: str, after: str) -> None:
    text = before + '"'.join(data.draw(spelled(secret)) for secret in private) + after
    redacted = Redactor(private).text(text)
    assert redacted.changed
    assert not any(reveals(redacted.value, secret) for secret in private)
    assert Redactor(private).holds(text)


@ALWAYS
@given(st.lists(secrets, min_size=1, max_size=4), contexts, contexts)
def test_what_holds_no_secret_is_not_touched(private: list[str], before: str, after: str) -> None:
    text = f"{before}public{after}"
    assume(
        not any(
            reveals(text, secret) or reveals(text.replace("+", " "), secret.replace("+", " ")) for secret in private
        )
    )
    assert Redactor(private).text(text) == Redacted(text, False)
    assert not Redactor(private).holds(text)


@st.composite
def documents(draw: st.DrawFn, private: list[str]) -> str:
    """JSON text in any spelling, with secrets in it or not, nested or not."""
    pieces = (
        contexts | st.sampled_from(private).flatmap(spelled) | st.sampled_from(["\x7f", "\x85", "\x01", "1e3", "null"])
    )
    strings = st.lists(pieces, max_size=3).map("".join).flatmap(lambda text: escaped(text, 1))
    scalars = st.sampled_from(["0", "-1", "1.2345678e7", "12345678", "true", "null"])
    return draw(
        st.recursive(
            strings | scalars,
            lambda inner: (
                st.lists(inner, max_size=3).map(lambda parts: f"[{','.join(parts)}]")
                | st.lists(st.tuples(strings, inner), max_size=3).map(
                    lambda pairs: "{" + ", ".join(f"{name}:{value}" for name, value in pairs) + "}"
                )
            ),
            max_leaves=4,
        )
    )


@ALWAYS
@given(st.data(), st.lists(secrets | st.sampled_from(["12345678", "true", "null", "x", "1e3"]), min_size=1, max_size=4))
def test_a_body_is_proven_clear_only_if_redaction_would_change_nothing(data: Any, private: list[str]) -> None:
    text = data.draw(documents(private))
    redactor = Redactor(private)
    value = parse(text).value
    redacted = redactor.redact(value)
    assert redacted.changed is (redacted.value is not value)
    if redactor.clear(text.encode()):
        assert not redacted.changed
    for secret in filter(is_long, private):
        assert not any(reveals(text, secret) for text in strings_of(redacted.value))


def is_long(secret: str) -> bool:
    return len(secret) >= 4


def strings_of(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for element in value for text in strings_of(element)]
    if isinstance(value, dict | Members):
        pairs = value.items() if isinstance(value, dict) else value.pairs
        return [text for name, member in pairs for text in [name, *strings_of(member)]]
    return [encode(value).decode()]


def test_a_secret_is_redacted_in_strings_names_and_at_any_depth() -> None:
    value = {"a": [{"x " + TOKEN: [TOKEN, "b" + TOKEN + "c"]}], "public": ["text", raw("1.0"), None, True]}
    assert Redactor([TOKEN]).redact(value) == Redacted(
        {"a": [{"x [redacted]": ["[redacted]", "b[redacted]c"]}], "public": ["text", raw("1.0"), None, True]}, True
    )


def test_an_unchanged_value_is_the_very_same_object() -> None:
    value = {"a": [raw("1")], "b": Members([("x", "y"), ("x", [])])}
    redacted = Redactor([TOKEN]).redact(value)
    assert redacted == Redacted(value, False)
    assert redacted.value is value
    assert Redactor().redact(value).value is value


def test_names_that_redact_alike_coexist() -> None:
    value = parse('{"id-aaaa":1,"z":0,"id-bbbb":2}').value
    redacted = Redactor(["aaaa", "bbbb"]).redact({"in": value})
    assert redacted == Redacted(
        {"in": Members([("id-[redacted]", raw("1")), ("z", raw("0")), ("id-[redacted]", raw("2"))])},
        True,
    )
    assert Redactor(["zebra"]).redact(redacted.value) == (redacted.value, False)
    assert encode(Redactor(["[redacted]"]).redact(redacted.value).value) == encode(redacted.value)


def test_members_are_redacted_as_objects_are() -> None:
    value = Members([("a", TOKEN), ("a", TOKEN), (TOKEN, raw("1"))])
    assert Redactor([TOKEN]).redact(value).value == Members(
        [("a", "[redacted]"), ("a", "[redacted]"), ("[redacted]", raw("1"))]
    )


@pytest.mark.parametrize(
    ("private", "text", "redacted"),
    [
        (["abcd", "abcdef"], "abcdef", "[redacted]"),
        (["abcd", "cdef"], "xabcdefx", "x[redacted]x"),
        (["abab"], "ababab", "[redacted]"),
        (["abcd"], "abcdabcd", "[redacted][redacted]"),
        (["abcd", "efgh"], "abcdefgh", "[redacted][redacted]"),
        (["abcd"], "ABCD abc d", "ABCD abc d"),
        (["caf\u00e9s"], "les caf\u00e9s", "les [redacted]"),
        (["abcd", ""], "x", "x"),
        (["ab\x07cd"], "abcd", "[redacted]"),
        (["    "], "a    b", "a[redacted]b"),
        (["line\nline"], "a line\nline b", "a [redacted] b"),
    ],
)
def test_every_occurrence_goes_and_what_overlaps_becomes_one_marker(
    private: list[str], text: str, redacted: str
) -> None:
    assert Redactor(private).text(text) == (redacted, text != redacted)


@pytest.mark.parametrize("control", ["\0", "\x07", "\x08", "\x0c", "\x1b", "\x7f", "\x80", "\x9b", "\x9f"])
def test_terminal_controls_are_stripped_before_anything_is_looked_for(control: str) -> None:
    redactor = Redactor([TOKEN])
    split = TOKEN[:3] + control + TOKEN[3:]
    assert redactor.redact({f"a{control}b": [f"\t\r\n{control}"]}) == ({"ab": ["\t\r\n"]}, True)
    assert redactor.redact({split: [split]}) == ({"[redacted]": ["[redacted]"]}, True)
    assert redactor.text(json.dumps(split)) == ('"[redacted]"', True)
    assert Redactor().redact({f"a{control}": 1, "a": 2}) == (Members([("a", 1), ("a", 2)]), True)


def test_an_escaped_control_alone_is_text_and_stays() -> None:
    assert Redactor([TOKEN]).text('"\\u001b[0m"') == ('"\\u001b[0m"', False)


@pytest.mark.parametrize("layers", range(LAYERS + 1))
def test_json_literals_in_strings_are_looked_into_four_layers_deep(layers: int) -> None:
    text = TOKEN
    for _ in range(layers):
        text = json.dumps({"a\\": [text]}).replace("/", "\\/").replace("tok", "\\u0074ok")
    redacted = Redactor([TOKEN]).text(text)
    inner: Any = redacted.value
    for _ in range(layers):
        inner = json.loads(inner)["a\\"][0]
    assert (inner, redacted.changed) == ("[redacted]", True)


@pytest.mark.parametrize(
    ("scalar", "private"),
    [
        (raw("12345678"), True),
        (raw("12345678.000"), True),
        (raw("1.2345678e7"), True),
        (raw("123456780E-1"), True),
        (raw("-12345678"), True),
        (raw("9912345678.5"), True),
        (raw("1e12345678"), True),
        (12345678, True),
        (12345678.0, True),
        (raw("1234567"), False),
        (raw("12345679"), False),
        (1234567, False),
        (0.5, False),
        (raw("0"), False),
        (True, True),
        (None, True),
        (False, False),
    ],
)
def test_a_scalar_that_spells_or_equals_a_private_value_is_private(scalar: Any, private: bool) -> None:
    redactor = Redactor(["12345678", "true", "null"])
    value = {"a": [scalar]}
    assert redactor.redact(value) == ({"a": ["[redacted]"]} if private else value, private)
    assert redactor.holds(value) is private


def test_private_numbers_equal_in_every_spelling() -> None:
    redactor = Redactor(["1.50e2", "-0.25"])
    value = [raw(spelling) for spelling in ("150", "15e1", "-25e-2", "-150", "0.25", "1500")]
    assert redactor.redact(value).value == [
        "[redacted]",
        "[redacted]",
        "[redacted]",
        raw("-150"),
        raw("0.25"),
        raw("1500"),
    ]


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("abc", "[redacted]"),
        ("xabc", "xabc"),
        ('{"sid":"abc"}', '{"sid":"[redacted]"}'),
        ('{"sid":"abcd","n":"xabc"}', '{"sid":"abcd","n":"xabc"}'),
        (json.dumps('["\\u0061bc"]'), '"[\\"[redacted]\\"]"'),
        ('"abc"abc"', '"[redacted]"[redacted]"'),
        ("%61bc", "%61bc"),
        ("YWJj", "YWJj"),
    ],
)
def test_a_value_under_four_characters_is_private_as_a_whole_string_only(text: str, redacted: str) -> None:
    redactor = Redactor(["abc", "7"])
    assert redactor.text(text) == (redacted, text != redacted)
    assert redactor.holds([text]) is (text != redacted)
    assert redactor.redact({"7": [raw("7"), "7", "77"]}) == ({"[redacted]": [raw("7"), "[redacted]", "77"]}, True)


def test_percent_encoding_and_base64_begin_at_eight_bytes() -> None:
    short, long, wide = "secret7", "secret78", "sécret7"
    redactor = Redactor([short, long, wide])
    for value, found in ((short, False), (long, True), (wide, True)):
        for text in (
            "".join(f"%{octet:02X}" for octet in value.encode()),
            base64.b64encode(value.encode()).decode().rstrip("="),
        ):
            assert redactor.text(text) == ("[redacted]" if found else text, found)


def test_a_plus_sign_stands_for_a_space_and_for_itself() -> None:
    assert Redactor(["open sesame"]).text("?q=open+sesame&x=%20") == ("?q=[redacted]&x=%20", True)
    assert Redactor(["open+sesame"]).text("?q=open%2Bsesame") == ("?q=[redacted]", True)
    assert Redactor(["open+sesame 1"]).text("?q=open+sesame%201") == ("?q=[redacted]", True)


def test_a_spelling_is_replaced_whole_and_what_surrounds_it_stays() -> None:
    redactor = Redactor(["secret-1234"])
    basic = base64.b64encode(b"user:secret-1234!").decode()
    assert redactor.text(f"Basic {basic}") == ("Basic dXNlcj[redacted]E=", True)
    assert redactor.text("a%73ecret-123%34b") == ("a[redacted]b", True)
    assert redactor.text('say "s\\u0065cret-\\u00312\\u00334" now') == ('say "[redacted]" now', True)


def test_a_lone_surrogate_does_not_stop_redaction() -> None:
    assert Redactor([TOKEN, "\udcff-odd-value"]).text(f"\ud800{TOKEN}\udcff-odd-value") == (
        "\ud800[redacted][redacted]",
        True,
    )


@pytest.mark.parametrize("value", [{"a": {1, 2}}, [b"bytes"], (1, 2), object()])
def test_what_is_no_json_value_is_refused_rather_than_passed_through(value: Any) -> None:
    with pytest.raises(TypeError, match="is not a JSON value"):
        Redactor([TOKEN]).redact(value)


def test_a_named_constant_is_the_string_that_it_stands_for() -> None:
    class Kind(StrEnum):
        PUBLIC = "public"
        PRIVATE = TOKEN

    assert Redactor([TOKEN]).redact([Kind.PUBLIC, Kind.PRIVATE]) == ([Kind.PUBLIC, "[redacted]"], True)


def test_values_are_known_longest_first_and_once() -> None:
    redactor = Redactor(["abcd", "", "abcdef"])
    redactor.add("abcde", "abcd", "")
    assert redactor.values == ("abcdef", "abcde", "abcd")
    assert Redactor().values == ()


def test_a_value_is_private_from_the_moment_it_is_added() -> None:
    redactor = Redactor()
    body = b'["session-0001"]'
    assert redactor.clear(body)
    redactor.add("session-0001")
    assert not redactor.clear(body)
    assert redactor.redact(parse(body).value).value == ["[redacted]"]


def test_values_can_be_added_while_others_redact() -> None:
    redactor = Redactor()
    names = [[f"value-{thread}-{number:03d}." for number in range(15)] for thread in range(4)]
    misses: list[str] = []

    def learn(mine: list[str]) -> None:
        for name in mine:
            redactor.add(name)
            if redactor.text(f"<{name}>") != ("<[redacted]>", True):
                misses.append(name)

    threads = [threading.Thread(target=learn, args=(mine,)) for mine in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert misses == []
    assert set(redactor.values) == {name for mine in names for name in mine}


CLEAR = {
    "nothing of interest": '{"a":["text",1.0,null]}',
    "escapes that hide nothing": '["a\\n\\t\\"b\\" \\\\d+ \\r"]',
    "what Go escapes": '["\\u003cb\\u003e \\u0026 \\u0027"]',
    "what .NET escapes": '["\\u0022a\\u0022 \\u0060 \\u00E9"]',
    "other scripts escaped": '["\\u4e2d\\ud83d\\ude00\\u00e9\\u2028"]',
    "other scripts": '["中\u00a0é"]',
    "a slash that is not escaped": '["https://public.example/"]',
    "percent signs": '["100% %20 %zz"]',
    "nested text": json.dumps([json.dumps({"a": json.dumps(["b"])})]),
}


@pytest.mark.parametrize("case", CLEAR)
def test_an_ordinary_body_is_proven_clear(case: str) -> None:
    assert Redactor([TOKEN, "abcdefgh-ijkl"]).clear(CLEAR[case].encode())


SUSPECT = {
    "the value": (TOKEN, f'["{TOKEN}"]'),
    "the value as a name": (TOKEN, f'{{"{TOKEN}":1}}'),
    "part of an escape": (TOKEN, '["\\u0074ok"]'),
    "an escaped slash": (TOKEN, '["https:\\/\\/public.example"]'),
    "an escaped backslash to come": (TOKEN, '["\\u005cu0074"]'),
    "a backspace": (TOKEN, '["to\\bk"]'),
    "a form feed": (TOKEN, '["to\\fk"]'),
    "an escaped control": (TOKEN, '["\\u001b"]'),
    "an escaped C1 control": (TOKEN, '["\\u009B"]'),
    "a raw delete": (TOKEN, '["\x7f"]'),
    "a raw C1 control": (TOKEN, '["\x9b"]'),
    "a control, without any value": ("", '["\\u0007"]'),
    "percent-encoding": (TOKEN, f'["{TOKEN.replace("t", "%74")}"]'),
    "a plus sign for a space": ("open sesame", '["open+sesame"]'),
    "an escaped plus sign for a space": ("open sesame", '["\\u002b"]'),
    "base64": (TOKEN, f'["{base64.b64encode(b"-" + TOKEN.encode()).decode()}"]'),
    "any escape, for a value beyond ASCII": ("mot de passé", '["\\u4e2d"]'),
    "any backslash, for a value with a quote": ('pass"word', '["\\n"]'),
    "any backslash, for a value with a backslash": ("pass\\word", '["\\n"]'),
    "an ampersand, for a value with one": ("https://a.example/?b=1&c=2", '["\\u0026"]'),
    "a number, for a numeric value": ("12345678", "[1]"),
    "a constant": ("true", "[true]"),
    "a short value": ("abc", '["abc"]'),
    "a nested literal, for a short value": ("abc", '["\\"abc\\""]'),
    "a nested literal as .NET spells it, for a short value": ("abc", '["\\u0022abc\\u0022"]'),
}


@pytest.mark.parametrize("case", SUSPECT)
def test_a_body_that_may_hide_something_is_not_proven_clear(case: str) -> None:
    private, body = SUSPECT[case]
    assert not Redactor([private]).clear(body.encode())


@pytest.mark.requirement("json.private-operands")
@pytest.mark.parametrize(
    ("value", "held"),
    [
        (TOKEN, True),
        ("Bearer " + TOKEN, True),
        (["public", {"a": TOKEN}], True),
        ({TOKEN: 1}, True),
        (json.dumps(TOKEN), True),
        (TOKEN.replace("/", "\\/"), True),
        (TOKEN.replace("-", "%2d"), True),
        (base64.b64encode(TOKEN.encode()).decode(), True),
        (TOKEN[:5] + "\x1b" + TOKEN[5:], True),
        (raw("4.2e3"), True),
        ("4.2e3", True),
        ("4200", True),
        (4200, True),
        (None, False),
        (False, True),
        ("abc", True),
        ("/a/abc", False),
        ("\x1b[0m", False),
        ({}, False),
        ("tok-secret", False),
        (raw("4201"), False),
        ("4.201e3", False),
    ],
)
def test_operands_that_hold_something_private_are_recognised(value: Any, held: bool) -> None:
    assert Redactor([TOKEN, "4200", "false", "abc"]).holds(value) is held


def test_a_reply_of_one_letter_costs_neither_memory_nor_minutes() -> None:
    redactor = Redactor(["aaaa", "aaaaaaaaaaaa"])
    assert redactor.text("a" * 500_000) == ("[redacted]", True)
    assert redactor.redact([f"{'a' * 9}{number}" for number in range(10_000)]).value[-1] == "[redacted]9999"
