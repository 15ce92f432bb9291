"""The last scan before bytes are kept: every promised encoding of a private value, in whatever file."""

import base64
import json
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values.leaks import LeakScanner
from protocol.values.redaction import Redactor

TOKEN = 'tok/"sécret"\\42 +'


def nested(text: str, layers: int) -> str:
    for _ in range(layers):
        text = json.dumps([text])
    return text


FOUND: dict[str, bytes] = {
    "plain": TOKEN.encode(),
    "in bytes that are no text": b"\xff\x00\xfe" + TOKEN.encode() + b"\x80",
    "a JSON file": json.dumps({"a": TOKEN}).encode(),
    "a JSON file in its own script": json.dumps({"a": TOKEN}, ensure_ascii=False).encode(),
    "a JSON name": json.dumps({TOKEN: 1}).encode(),
    "every character escaped": "".join(f"\\u{ord(character):04X}" for character in TOKEN).encode(),
    "five layers of JSON": nested(TOKEN, 5).encode(),
    "six layers of JSON": nested(TOKEN, 6).encode(),
    "after an odd quote": b'"' + json.dumps(TOKEN).encode(),
    "escaped slashes": json.dumps(TOKEN).replace("/", "\\/").encode(),
    "split by an escaped control": json.dumps(TOKEN[:4] + "\x1b" + TOKEN[4:]).encode(),
    "split by a control": (TOKEN[:4] + "\x1b" + TOKEN[4:]).encode(),
    "percent-encoded": quote(TOKEN, safe="").encode(),
    "percent-encoded as a form": quote_plus(TOKEN).encode(),
    "percent-encoded in JSON": json.dumps("?t=" + quote(TOKEN)).encode(),
    "percent-encoded in lower case": quote(TOKEN, safe="").lower().encode(),
    "base64": base64.b64encode(TOKEN.encode()),
    "base64 after one byte": base64.b64encode(b"." + TOKEN.encode()),
    "base64 after two bytes": base64.urlsafe_b64encode(b".." + TOKEN.encode() + b"!"),
}


@pytest.mark.parametrize("case", FOUND)
def test_a_leak_is_found(case: str) -> None:
    scanner = LeakScanner([TOKEN])
    assert scanner.find(FOUND[case])
    assert scanner.find(b"x" * 200_000 + FOUND[case] + b"x" * 100)
    assert not LeakScanner(["another value"]).find(FOUND[case])


@pytest.mark.parametrize(
    "buffer",
    [b"", b"tok/", TOKEN[:-1].encode(), b'{"a":"[redacted]"}', b"\\u0074\\", b"\\", b"%", b"%7", bytes(range(256))],
)
def test_what_is_no_leak_is_not_reported(buffer: bytes) -> None:
    assert not LeakScanner([TOKEN]).find(buffer)


def test_values_under_eight_bytes_are_not_looked_for() -> None:
    scanner = LeakScanner(["seven77", "", "sécret7"])
    assert not scanner.find(b"seven77")
    assert scanner.find("sécret7".encode())


def test_values_may_be_added_later() -> None:
    scanner = LeakScanner()
    assert not scanner.find(b"session-0001 session-0002")
    scanner.add("session-0002")
    assert scanner.find(b"session-0001 session-0002")
    scanner.add("session-0001", "session-0001")
    assert scanner.find(b"session-0001")


# Escaping makes backslashes and quotes of its own, but never this letter.
privates = st.text('abc"\\/%+ é', min_size=7, max_size=12).map("Z".__add__)


@settings(deadline=None)
@given(st.data(), st.lists(privates, min_size=1, max_size=3), st.integers(0, 4))
def test_nothing_that_was_redacted_is_a_leak(data: Any, private: list[str], layers: int) -> None:
    text = nested(data.draw(st.text('abc"\\/%+ é', max_size=8)) + data.draw(st.sampled_from(private)), layers)
    redacted = json.dumps(Redactor(private).text(text).value).encode()
    assert LeakScanner(private).find(json.dumps(text).encode())
    assert not LeakScanner(private).find(redacted)
