"""What an authorization server says when it says no, without repeating anything private that it may echo."""

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import unquote_plus

from oauth.metadata import MetadataError, read_object
from oauth.record import quoted
from oauth.steps import Reply

__all__ = ["ERRORS", "describe", "refusal"]

#: Registered error codes (RFC 6749, 6750, 7591, 8707, 9449; OpenID Connect Core 1.0).
#: Another text in their place is a description at best, and may be anything.
ERRORS: Final = frozenset(
    (
        "access_denied",
        "account_selection_required",
        "consent_required",
        "insufficient_scope",
        "interaction_required",
        "invalid_client",
        "invalid_client_metadata",
        "invalid_dpop_proof",
        "invalid_grant",
        "invalid_redirect_uri",
        "invalid_request",
        "invalid_request_object",
        "invalid_request_uri",
        "invalid_scope",
        "invalid_software_statement",
        "invalid_target",
        "invalid_token",
        "login_required",
        "registration_not_supported",
        "request_not_supported",
        "request_uri_not_supported",
        "server_error",
        "temporarily_unavailable",
        "unapproved_software_statement",
        "unauthorized_client",
        "unmet_authentication_requirements",
        "unsupported_grant_type",
        "unsupported_response_type",
        "unsupported_token_type",
        "use_dpop_nonce",
    )
)
#: Characters of a text that are looked at, and so the most that can be quoted.
_LOOKED_AT: Final = 1000
#: A run of this many characters that stands in a private value as well is taken for an echo of it.
_ECHO: Final = 8


def describe(error: Any, description: Any, private: Iterable[str]) -> str:
    """Put an ``error`` and its ``error_description`` into words (RFC 6749, sections 4.1.2.1 and 5.2).

    An unregistered error is quoted like a description: cut, in printable ASCII, and not at all when it shares eight
    characters in a row with one of the ``private`` values, as it came or percent-decoded.
    """
    if not isinstance(error, str) or not error:
        return "an error without a code"
    secrets = tuple(private)
    said = f"the error `{error}`"
    if error not in ERRORS:
        said = "an unregistered error" + _public(error, secrets, " {}", " that repeats a private value")
    if isinstance(description, str) and description:
        said += _public(description, secrets, ", described as {}", ", with a description that repeats a private value")
    return said


def refusal(reply: Reply, private: Iterable[str]) -> str:
    """Put the error body of a token or registration endpoint into words; a body of another form is named as such."""
    try:
        document = read_object(reply.body)
    except MetadataError as error:
        kind = reply.field("content-type").partition(";")[0].strip()
        return f"refused; {error.reason} (content type {quoted(kind)})" if kind else f"refused; {error.reason}"
    return describe(document.get("error"), document.get("error_description"), private)


def _public(text: str, private: tuple[str, ...], shown: str, withheld: str) -> str:
    """Return ``shown`` with the text quoted in it, or ``withheld`` when the text may not be shown."""
    text = text[:_LOOKED_AT]
    if any(_echoes(form, value) for form in (text, unquote_plus(text)) for value in private):
        return withheld
    return shown.format(quoted(text))


def _echoes(text: str, value: str) -> bool:
    if len(value) < _ECHO:
        return bool(value) and text == value
    return any(value[start : start + _ECHO] in text for start in range(len(value) - _ECHO + 1))
