"""The callback's parameters: strict reading, and the checks in their order."""

from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oauth.callback import Callback, check, private_parameters, read_query
from oauth.refusal import describe
from protocol.failures import Code, Failed

STATE = "st-4fUq9-0123456789"
CODE = "code-8Zk1-abcdefgh"
ISSUER = "https://auth.example.com"
EXPECTED = Callback(STATE, ISSUER, issuer_required=False)
NO_CONSENT = "The authorization server gave no consent: the callback has"
REQUIRED = Callback(STATE, ISSUER, issuer_required=True)


def outcome(query: str, expected: Callback = EXPECTED) -> tuple[Code, str]:
    with pytest.raises(Failed) as failed:
        check(read_query(query), expected, (STATE, *private_parameters(query)))
    message = failed.value.failure.message
    assert CODE not in message
    assert STATE not in message
    return failed.value.code, message


def test_the_code_of_a_callback_that_is_ours_is_returned() -> None:
    assert check(read_query(f"code={CODE}&state={STATE}"), EXPECTED) == CODE
    assert check(read_query(f"&state={STATE}&extra=1&&code=a%20b+c%2B"), EXPECTED) == "a b c+"


@pytest.mark.requirement("oauth.callback-checked")
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("", "it has neither `code` nor `error`"),
        (f"state={STATE}", "it has neither `code` nor `error`"),
        (f"code={CODE}&error=access_denied&state={STATE}", "it has both `code` and `error`"),
        (f"code={CODE}&code={CODE}&state={STATE}", "it repeats `code`"),
        (f"code={CODE}&state={STATE}&state={STATE}", "it repeats `state`"),
        (f"error=access_denied&error=server_error&state={STATE}", "it repeats `error`"),
        (f"code={CODE}&state={STATE}&iss=a&iss=b", "it repeats `iss`"),
        (f"code={CODE}&state={STATE}&x=1&x=1", "it repeats a parameter"),
        (f"code={CODE}&c%6fde={CODE}&state={STATE}", "it repeats `code`"),
        (f"code=&state={STATE}", "its `code` is empty, too long, or not of printable ASCII characters"),
        (f"code=%C3%A9&state={STATE}", "its `code` is empty, too long, or not of printable ASCII characters"),
        (f"code=a%0Ab&state={STATE}", "its `code` is empty, too long, or not of printable ASCII characters"),
        (
            "code=" + "a" * 8193 + f"&state={STATE}",
            "its `code` is empty, too long, or not of printable ASCII characters",
        ),
        (f"code=%zz&state={STATE}", "it holds a malformed percent-encoding"),
        (f"code=%2&state={STATE}", "it holds a malformed percent-encoding"),
        (f"code=%FF&state={STATE}", "it is not UTF-8"),
        ("&".join(f"a{number}=1" for number in range(33)), "it has more than 32 parameters"),
        ("code=" + "a" * 16_380, "it is too long"),
    ],
)
def test_a_callback_that_is_missing_repeated_or_contradictory_is_invalid(query: str, reason: str) -> None:
    code, message = outcome(query)
    assert code is Code.OAUTH_CALLBACK_INVALID
    assert message == f"The callback cannot be used: {reason}. No token was asked for."


def test_the_limits_themselves_are_admitted() -> None:
    parameters = "&".join(f"a{number}=1" for number in range(30))
    assert check(read_query(f"code={'a' * 8192}&state={STATE}&{parameters}"), EXPECTED) == "a" * 8192


@pytest.mark.requirement("oauth.callback-checked")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (f"code={CODE}", "The callback's `state` is missing; the code was not used."),
        (f"code={CODE}&state=", "The callback's `state` is not the one that was sent; the code was not used."),
        (f"code={CODE}&state={STATE}x", "The callback's `state` is not the one that was sent; the code was not used."),
        (f"code={CODE}&state=%C3%A9", "The callback's `state` is not the one that was sent; the code was not used."),
        (
            "error=access_denied&state=other",
            (
                "The callback's `state` is not the one that was sent;"
                " the error `access_denied` beside it may be someone else's."
            ),
        ),
        (
            "error=made-up&error_description=by-anyone&state=other",
            "The callback's `state` is not the one that was sent; the error beside it may be someone else's.",
        ),
    ],
)
def test_a_wrong_state_ends_the_attempt_whatever_else_there_is(query: str, message: str) -> None:
    assert outcome(query) == (Code.OAUTH_STATE_MISMATCH, message)


@pytest.mark.requirement("oauth.callback-checked")
@pytest.mark.parametrize(
    ("expected", "issuer", "fits"),
    [
        (REQUIRED, ISSUER, True),
        (REQUIRED, None, False),
        (REQUIRED, "https://evil.example", False),
        (REQUIRED, ISSUER + "/", False),
        (REQUIRED, "https://AUTH.example.com", False),
        (REQUIRED, "", False),
        (EXPECTED, ISSUER, True),
        (EXPECTED, None, True),
        (EXPECTED, "https://evil.example", False),
        (EXPECTED, ISSUER + "/", False),
    ],
)
def test_the_issuer_of_a_callback_follows_the_four_cases_without_normalisation(
    expected: Callback, issuer: str | None, fits: bool
) -> None:
    query = f"code={CODE}&state={STATE}" + (f"&iss={quote_plus(issuer)}" if issuer is not None else "")
    if fits:
        assert check(read_query(query), expected) == CODE
    else:
        assert outcome(query, expected)[0] is Code.OAUTH_ISSUER_MISMATCH


@pytest.mark.requirement("oauth.callback-error")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("access_denied", "the error `access_denied` beside it may be someone else's"),
        ("server_error", "the error `server_error` beside it may be someone else's"),
        ("evil+text", "the error beside it may be someone else's"),
    ],
)
@pytest.mark.parametrize("expected", [EXPECTED, REQUIRED])
def test_of_an_error_from_another_issuer_its_registered_name_alone_is_told(
    expected: Callback, error: str, said: str
) -> None:
    query = f"error={error}&error_description=evil&state={STATE}&iss=https%3A%2F%2Fevil.example"
    assert outcome(query, expected) == (
        Code.OAUTH_ISSUER_MISMATCH,
        f"The callback's `iss` is not the issuer that the sign-in began with; {said}.",
    )


@pytest.mark.requirement("oauth.callback-error")
@pytest.mark.parametrize("state", [f"&state={STATE}", ""])
def test_an_error_without_the_promised_issuer_is_a_denial_that_says_so(state: str) -> None:
    assert outcome(f"error=access_denied{state}", REQUIRED) == (
        Code.OAUTH_CONSENT_DENIED,
        (
            "Consent was denied: the callback has the error `access_denied`."
            " It has no `iss`, although the issuer's metadata promises one."
        ),
    )
    assert outcome(f"error=server_error{state}", REQUIRED) == (
        Code.OAUTH_CONSENT_DENIED,
        f"{NO_CONSENT} the error `server_error`. It has no `iss`, although the issuer's metadata promises one.",
    )


def test_a_code_of_another_issuer_is_told_not_to_have_been_used() -> None:
    assert outcome(f"code={CODE}&state={STATE}&iss=https%3A%2F%2Fevil.example") == (
        Code.OAUTH_ISSUER_MISMATCH,
        "The callback's `iss` is not the issuer that the sign-in began with; the code was not used.",
    )
    assert outcome(f"code={CODE}&state={STATE}", REQUIRED) == (
        Code.OAUTH_ISSUER_MISMATCH,
        "The callback has no `iss`, although the issuer's metadata promises one; the code was not used.",
    )


@pytest.mark.requirement("oauth.callback-error")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        (
            f"error=access_denied&state={STATE}",
            "Consent was denied: the callback has the error `access_denied`.",
        ),
        ("error=access_denied", "Consent was denied: the callback has the error `access_denied`."),
        (
            f"error=invalid_scope&error_description=no+such+scope&state={STATE}",
            f"{NO_CONSENT} the error `invalid_scope`, described as `no such scope`.",
        ),
        (
            f"error=custom&state={STATE}",
            f"{NO_CONSENT} an unregistered error `custom`.",
        ),
        (
            f"error=server_error&error_description=state+{STATE}+is+bad&state={STATE}",
            f"{NO_CONSENT} the error `server_error`, with a description that repeats a private value.",
        ),
        (
            f"error=&state={STATE}",
            "The authorization server gave no consent: the callback has an error without a code.",
        ),
    ],
)
def test_an_error_is_a_denial_and_says_why(query: str, message: str) -> None:
    assert outcome(query) == (Code.OAUTH_CONSENT_DENIED, message)


def test_private_values_of_a_callback_are_found_in_both_spellings_and_in_a_malformed_query() -> None:
    query = "code=a%2Fb&code=second&c%6Fde=xyz%zz&state=theirs&iss=public&%&id_token=t"
    assert private_parameters(query) == ("a%2Fb", "a/b", "second", "xyz%zz", "t")


def test_what_a_callback_has_to_match_shows_nothing() -> None:
    assert repr(EXPECTED) == "<Callback>"


@pytest.mark.parametrize(
    ("private", "described"),
    [
        (("abc",), "an unregistered error `abcd`, with a description that repeats a private value"),
        (("abcd", ""), "an unregistered error that repeats a private value, described as `abc`"),
        (("abcdefgh",), "an unregistered error `abcd`, described as `abc`"),
    ],
)
def test_a_short_private_value_is_only_an_echo_when_it_is_the_whole_text(
    private: tuple[str, ...], described: str
) -> None:
    assert describe("abcd", "abc", private) == described


@given(st.text(max_size=80))
@settings(deadline=None, max_examples=300)
def test_every_query_that_is_not_ours_is_refused(query: str) -> None:
    private_parameters(query)
    with pytest.raises(Failed) as failed:  # no query holds this state by chance
        check(read_query(query), EXPECTED)
    assert str(failed.value.code).startswith("oauth_")


@given(st.dictionaries(st.text(min_size=1, max_size=8), st.text(max_size=8), max_size=6))
@settings(deadline=None, max_examples=200)
def test_what_a_form_encoder_writes_is_read_back(parameters: dict[str, str]) -> None:
    assert read_query(urlencode(parameters)) == parameters
