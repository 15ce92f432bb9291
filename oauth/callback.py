"""The callback's parameters: read strictly, and checked in the order that gives nothing away to a forged one."""

import hmac
import re
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from oauth.grammar import is_printable
from oauth.refusal import ERRORS, describe
from protocol.failures import Code, Failed

__all__ = ["Callback", "check", "private_parameters", "read_query"]

#: Parameters of one callback, and characters of the query: far more than any server sends.
PARAMETERS_LIMIT: Final = 32
QUERY_LIMIT: Final = 16_384
#: Longest code, in characters.
CODE_LIMIT: Final = 8_192

_BAD_ESCAPE: Final = re.compile(r"%(?![0-9A-Fa-f]{2})")
#: What of a callback is a credential. Our own state is known; another one is whatever its sender chose.
_PRIVATE: Final = ("code", "access_token", "id_token", "refresh_token")


class Callback(NamedTuple):
    """What a callback has to match. ``issuer_required``: the issuer advertises RFC 9207."""

    state: str
    issuer: str
    issuer_required: bool

    def __repr__(self) -> str:
        return "<Callback>"


def read_query(query: str) -> dict[str, str]:
    """Read a form-encoded query. Raises Failed (`oauth_callback_invalid`) for a repeated name, or a malformed one.

    Every parameter may stand once (RFC 6749, section 3.1), whether we know it or not.
    """
    if len(query) > QUERY_LIMIT:
        raise _invalid("it is too long")
    pairs = [pair for pair in query.split("&") if pair]
    if len(pairs) > PARAMETERS_LIMIT:
        raise _invalid(f"it has more than {PARAMETERS_LIMIT} parameters")
    parameters: dict[str, str] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        name = _decode(name)
        if name in parameters:
            shown = f"`{name}`" if name in ("code", "error", "iss", "state") else "a parameter"
            raise _invalid(f"it repeats {shown}")
        parameters[name] = _decode(value)
    return parameters


def private_parameters(query: str) -> tuple[str, ...]:
    """Return every credential in a query, in both spellings, however malformed the rest of it is; total."""
    values: list[str] = []
    for pair in query[:QUERY_LIMIT].split("&"):
        name, _, value = pair.partition("=")
        if unquote_to_bytes(name).decode("utf-8", "replace") in _PRIVATE and value:
            decoded = unquote_to_bytes(value.replace("+", " ")).decode("utf-8", "replace")
            values += [value, decoded]
    return tuple(dict.fromkeys(value for value in values if value.isprintable()))


def check(parameters: dict[str, str], expected: Callback, private: tuple[str, ...] = ()) -> str:
    """Return the code of a callback that is ours. Raises Failed.

    `oauth_callback_invalid`: neither code nor error, or both. `oauth_state_mismatch`: a wrong state, or none beside a
    code; compared in constant time. `oauth_issuer_mismatch`: by the four cases of RFC 9207, section 2.4, as raw
    strings. Either names a registered error and shows nothing else of it, for it may be anyone's.
    `oauth_consent_denied`: the server said no (error `access_denied`) or could not say yes (any other). An error needs
    no promised ``iss``: that it is missing is told, and nothing follows but the end.
    """
    code, error, state = parameters.get("code"), parameters.get("error"), parameters.get("state")
    if code is not None and error is not None:
        raise _invalid("it has both `code` and `error`")
    if code is None and error is None:
        raise _invalid("it has neither `code` nor `error`")
    # An error without a state is a refusal all the same: nothing is gained by forging it but an end.
    if not (state is None and error is not None) and not hmac.compare_digest(
        (state or "").encode(), expected.state.encode()
    ):
        what = "is not the one that was sent" if state is not None else "is missing"
        raise Failed(Code.OAUTH_STATE_MISMATCH, f"The callback's `state` {what}; {_unused(error)}.")
    issuer = parameters.get("iss")
    if issuer is not None and issuer != expected.issuer:
        text = f"The callback's `iss` is not the issuer that the sign-in began with; {_unused(error)}."
        raise Failed(Code.OAUTH_ISSUER_MISMATCH, text)
    if error is not None:
        unsigned = issuer is None and expected.issuer_required
        raise _denied(error, parameters.get("error_description"), private, unsigned=unsigned)
    if issuer is None and expected.issuer_required:
        text = "The callback has no `iss`, although the issuer's metadata promises one; the code was not used."
        raise Failed(Code.OAUTH_ISSUER_MISMATCH, text)
    if not is_printable(code or "") or len(code or "") > CODE_LIMIT:
        raise _invalid("its `code` is empty, too long, or not of printable ASCII characters")
    return code or ""


def _unused(error: str | None) -> str:
    """Say what was not made use of: the code, or an error that may be anyone's, by its name where it has one."""
    if error is None:
        return "the code was not used"
    named = f"the error `{error}`" if error in ERRORS else "the error"
    return f"{named} beside it may be someone else's"


def _denied(error: str, description: str | None, private: tuple[str, ...], *, unsigned: bool) -> Failed:
    said = describe(error, description, private)
    what = "Consent was denied" if error == "access_denied" else "The authorization server gave no consent"
    doubt = " It has no `iss`, although the issuer's metadata promises one." if unsigned else ""
    return Failed(Code.OAUTH_CONSENT_DENIED, f"{what}: the callback has {said}.{doubt}")


def _invalid(reason: str) -> Failed:
    return Failed(Code.OAUTH_CALLBACK_INVALID, f"The callback cannot be used: {reason}. No token was asked for.")


def _decode(text: str) -> str:
    if _BAD_ESCAPE.search(text):
        raise _invalid("it holds a malformed percent-encoding")
    try:
        return unquote_to_bytes(text.replace("+", " ")).decode("utf-8")
    except UnicodeDecodeError:
        raise _invalid("it is not UTF-8") from None
