"""Numbers by their spelling: exact equality, and the two limits of an expectation's numbers."""

import decimal
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values import numbers
from protocol.values.numbers import admitted, equal, less, within_limits


def raw(spelling: str) -> msgspec.Raw:
    return msgspec.Raw(spelling.encode())


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1.10", "1.1"),
        ("-0", "0"),
        ("0", "0.000e99"),
        ("0", "-0.0E-7"),
        ("100", "1e2"),
        ("100", "1E+2"),
        ("0.001", "1e-3"),
        ("12345678", "1.2345678e7"),
        ("12345678", "1234567800e-02"),
        ("1e-400", "0.1e-399"),
        ("1E400", "1" + "0" * 400),
        ("9" * 400, "9" * 400 + ".0"),
        ("1e" + "0" * 5000, "1"),
        ("1e999999", "10e999998"),
        ("1e" + "9" * 5000, "1e" + "9" * 5000),
    ],
)
def test_spellings_of_one_number_are_equal(left: str, right: str) -> None:
    assert equal(raw(left), raw(right))
    assert equal(raw(right), raw(left))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1e-400", "0"),
        ("1e-400", "1e-401"),
        ("9007199254740993", "9007199254740991"),
        ("9007199254740993", "9007199254740992"),
        ("1", "-1"),
        ("10", "1"),
        ("0.1", "0.10000000000000000001"),
        ("9" * 400, "9" * 399 + "8"),
        ("1e" + "9" * 5000, "1e" + "9" * 4999),
        ("1e" + "9" * 5000, "1e-" + "9" * 5000),
        ("1e" + "9" * 5000, "2e" + "9" * 5000),
    ],
)
def test_different_numbers_are_not(left: str, right: str) -> None:
    assert not equal(raw(left), raw(right))
    assert not equal(raw(right), raw(left))


@pytest.mark.parametrize("spelling", ["", "-", "01", "1.", ".5", "+1", "1e", "1e+", "NaN", "1 ", "1\n", '"1"', "0x1"])
def test_what_is_no_json_number_has_no_normal_form(spelling: str) -> None:
    assert numbers.decimal(spelling.encode()) is None
    assert not within_limits(raw(spelling))


def test_text_that_is_nearly_a_number_is_refused_in_linear_time() -> None:
    zeros = b"0" * 1_000_000
    assert numbers.decimal(b"1e" + zeros + b"x") is None
    assert numbers.decimal(b"1." + zeros + b"e" + zeros + b"x") is None
    assert numbers.decimal(b"1" + zeros + b"." + zeros) == numbers.Decimal(False, b"1", 1_000_001)


spellings = st.from_regex(r"-?(0|[1-9][0-9]{0,5})(\.[0-9]{1,5})?([eE][+-]?[0-9]{1,2})?", fullmatch=True)
EXACT = decimal.Context(prec=2000, Emin=-decimal.MAX_EMAX, Emax=decimal.MAX_EMAX)


@settings(deadline=None, max_examples=250)
@given(spellings, spellings)
def test_equality_agrees_with_decimal(left: str, right: str) -> None:
    expected = EXACT.compare(EXACT.create_decimal(left), EXACT.create_decimal(right)) == 0
    assert equal(raw(left), raw(right)) is expected


@settings(deadline=None, max_examples=250)
@given(spellings, spellings)
def test_order_agrees_with_fractions(left: str, right: str) -> None:
    assert less(raw(left), raw(right)) is (Fraction(left) < Fraction(right))


@pytest.mark.parametrize(
    ("smaller", "larger"),
    [
        ("0", "1e-999999"),
        ("-1e-999999", "0"),
        ("-1e999999", "-1e999998"),
        ("9.99", "1e1"),
        ("0.12", "0.123"),
        ("-0.123", "-0.12"),
        ("9007199254740992", "9007199254740993"),
        ("1", "1." + "0" * 900 + "1"),
    ],
)
def test_numbers_are_ordered_exactly(smaller: str, larger: str) -> None:
    assert less(raw(smaller), raw(larger))
    assert not less(raw(larger), raw(smaller))


@pytest.mark.parametrize(("left", "right"), [("0", "-0.0"), ("1", "1.0"), ("1e2", "100"), ("-5", "-5.00")])
def test_a_number_is_not_less_than_another_spelling_of_it(left: str, right: str) -> None:
    assert not less(raw(left), raw(right))
    assert not less(raw(right), raw(left))


@settings(deadline=None, max_examples=150)
@given(spellings, st.integers(-300, 300), st.integers(0, 5))
def test_moving_the_point_changes_nothing(spelling: str, shift: int, zeros: int) -> None:
    exact = Fraction(spelling)
    digits, power = exact.numerator, 0
    while Fraction(digits) * Fraction(10) ** power != exact:
        power -= 1
        digits = int(exact / Fraction(10) ** power)
    assert equal(raw(spelling), raw(f"{digits * 10**zeros}e{power - zeros}"))
    moved = f"{digits}.{'0' * zeros}e{power + shift}"
    if zeros:
        assert equal(raw(spelling), raw(moved)) is (shift == 0 or digits == 0)


@pytest.mark.requirement("json.comparator-limits")
@pytest.mark.parametrize(
    ("spelling", "inside"),
    [
        ("9" * 1000, True),
        ("9" * 1001, False),
        ("-0." + "1" * 999, True),
        ("0." + "1" * 1000, False),
        ("1e999999", True),
        ("1e-999999", True),
        ("1e1000000", False),
        ("1e+000000000999999", True),
        ("1e-0001000000", False),
        ("1e" + "0" * 1022, True),
        ("1e" + "0" * 1023, False),
        ("-" + "9" * 1000 + "e" + "0" * 16 + "999999", True),
        ("-" + "9" * 1000 + "e" + "0" * 17 + "999999", False),
    ],
)
def test_comparator_limits_hold_at_their_edges(spelling: str, inside: bool) -> None:
    assert within_limits(raw(spelling)) is inside


@pytest.mark.requirement("json.admission")
@pytest.mark.parametrize(
    ("spelling", "inside"),
    [
        ("9007199254740991", True),
        ("-9007199254740991", True),
        ("9007199254740991.4", True),
        ("9007199254740991.6", False),
        ("9007199254740992", False),
        ("-9007199254740992", False),
        ("1e-400", True),
        ("-1e-400", True),
        ("1e15", True),
        ("1e16", False),
        ("1e400", False),
        ("-1e400", False),
        ("9" * 5000, False),
        ("0." + "9" * 5000, True),
        ("0", True),
    ],
)
def test_operands_are_admitted_by_what_a_double_makes_of_them(spelling: str, inside: bool) -> None:
    assert admitted(raw(spelling)) is inside
