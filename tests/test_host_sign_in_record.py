"""The sign-in record as a person reads it, whatever a plugin puts in its place."""

from typing import Any

import msgspec
import pytest

from host.sign_in_record import record_rows

ENTRY = {"document": "token request", "url": "https://a.example/token", "reason": "taken"}


def test_each_attempt_is_two_rows() -> None:
    taken = {**ENTRY, "status": msgspec.Raw(b"200"), "taken": True}
    passed = {**ENTRY, "status": None, "reason": "no usable reply: refused", "taken": False}
    assert record_rows({"signIn": [taken, passed]}) == [
        "+ token request: https://a.example/token",
        "    HTTP 200: taken",
        "- token request: https://a.example/token",
        "    no usable reply: refused",
    ]


@pytest.mark.parametrize("facts", [{}, {"signIn": None}, {"signIn": "x"}, {"signIn": [1, "x", None]}])
def test_what_is_no_record_has_no_rows(facts: dict[str, Any]) -> None:
    assert record_rows(facts) == []


def test_members_of_another_type_are_left_out() -> None:
    odd: dict[str, Any] = {"document": 7, "url": None, "status": "x", "reason": [], "taken": "yes"}
    assert record_rows({"signIn": [odd]}) == ["- 7: ", "    HTTP x: "]
