"""Hashes stand for the canonical form, so that they can be recomputed by any other implementation."""

import hashlib

import pytest

from protocol.values.document import Members, parse
from protocol.values.hashes import digest, text_digest


def test_a_digest_is_of_the_canonical_form() -> None:
    value = parse(' {"b": [1.0, true],\n "a": "\\u00e9"} ').value
    assert digest(value) == hashlib.sha256('{"a":"é","b":[1.0,true]}'.encode()).hexdigest()


def test_member_order_does_not_matter_but_number_spelling_does() -> None:
    one, two, other = (digest(parse(text).value) for text in ('{"a":1,"b":2}', '{"b":2,"a":1}', '{"a":1.0,"b":2}'))
    assert one == two != other


def test_members_that_share_a_name_have_one_order() -> None:
    assert digest(Members([("n", 2), ("n", 1)])) == digest(Members([("n", 1), ("n", 2)]))


def test_a_text_is_hashed_as_utf8() -> None:
    assert text_digest("é") == hashlib.sha256(b"\xc3\xa9").hexdigest()
    with pytest.raises(UnicodeEncodeError):
        text_digest("\ud800")
