"""`WWW-Authenticate` as servers write it: challenges, parameters, and what is no challenge."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.challenge import Challenge, facts, parse_challenges


def one(scheme: str, token: str | None = None, fault: str | None = None, **parameters: str) -> Challenge:
    return Challenge(scheme, parameters, token, fault)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("Bearer", [one("Bearer")]),
        ("Bearer ", [one("Bearer")]),
        ('Bearer realm="x"', [one("Bearer", realm="x")]),
        ('Bearer scope="a b", error="insufficient_scope"', [one("Bearer", scope="a b", error="insufficient_scope")]),
        ("Bearer error=invalid_token", [one("Bearer", error="invalid_token")]),
        ('Bearer realm = "x" , scope=a', [one("Bearer", realm="x", scope="a")]),
        ('Bearer realm="a\\"b\\\\c, d=e"', [one("Bearer", realm='a"b\\c, d=e')]),
        ('Bearer REALM="x"', [one("Bearer", realm="x")]),
        ('Bearer realm=""', [one("Bearer", realm="")]),
        ("Negotiate YWJj==", [one("Negotiate", token="YWJj==")]),
        ("Basic, Bearer", [one("Basic"), one("Bearer")]),
        (
            'Basic realm="a", Bearer realm="b", scope="c"',
            [one("Basic", realm="a"), one("Bearer", realm="b", scope="c")],
        ),
        ('Negotiate YQ==, Basic realm="a"', [one("Negotiate", token="YQ=="), one("Basic", realm="a")]),
        (", ,Bearer ,, realm=x, ,", [one("Bearer", realm="x")]),
        ('Bearer realm="a", realm="b"', [one("Bearer", realm="a", fault="repeated-parameter")]),
        ('Bearer scope="unended', [one("Bearer", fault="malformed")]),
        ('Bearer scope=a b, error="c"', [one("Bearer", error="c", fault="malformed")]),
        ('"quoted, text" Bearer', []),
        ("=, Bearer", [one("Bearer")]),
        ("", []),
        ("   ", []),
        ("é", []),
    ],
)
def test_challenges_are_read_as_rfc_9110_writes_them(field: str, expected: list[Challenge]) -> None:
    assert parse_challenges([field]) == expected


def test_several_fields_are_read_in_order() -> None:
    assert parse_challenges(["Basic", "bearer realm=x"]) == [one("Basic"), one("bearer", realm="x")]


def test_schemes_compare_without_case() -> None:
    assert [challenge.is_bearer for challenge in parse_challenges(["bEARER, Basic"])] == [True, False]


def test_facts_leave_out_what_a_challenge_has_not() -> None:
    challenges = parse_challenges(["Negotiate YQ==", 'Bearer a="b", a=c'])
    assert facts(challenges) == [
        {"scheme": "Negotiate", "parameters": {}, "token": "YQ=="},
        {"scheme": "Bearer", "parameters": {"a": "b"}, "fault": "repeated-parameter"},
    ]


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(alphabet='Bearer a=",\\\t;é', max_size=30), max_size=3))
def test_any_text_is_read_without_an_error(fields: list[str]) -> None:
    assert all(challenge.scheme for challenge in parse_challenges(fields))


@pytest.mark.parametrize("text", ['Bearer a="' + "\\" * 60_000, "," * 100_000, 'a="' * 30_000, "B " * 50_000])
def test_hostile_fields_are_read_in_linear_time(text: str) -> None:
    assert parse_challenges([text, "Basic"])[-1] == one("Basic")
