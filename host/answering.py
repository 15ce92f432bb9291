"""Answers to what a plugin asks of its host: a consent page, while it runs a command that may need one."""

from collections.abc import Callable
from typing import TypeAlias

from protocol.failures import Failed
from protocol.wire.messages import (
    FAILURE,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    Request,
    encode_error,
    encode_result,
)

__all__ = ["OnConsent", "answer"]

#: Shows a consent page, given alias and URL. Raises Failed when it does not.
OnConsent: TypeAlias = Callable[[str, str], None]


def answer(request: Request, on_consent: OnConsent | None) -> bytes:
    """Return the answer to a request of a plugin. Nothing of it is kept, and its URL stands in no message."""
    if request.method != "consent/open" or on_consent is None:
        return encode_error(request.id, METHOD_NOT_FOUND, "This host answers no such request now.")
    alias, url = request.params.get("alias"), request.params.get("url")
    if not isinstance(alias, str) or not isinstance(url, str):
        return encode_error(request.id, INVALID_PARAMS, "`consent/open` takes the strings `alias` and `url`.")
    try:
        on_consent(alias, url)
    except Failed as failed:
        return encode_error(request.id, FAILURE, failed.failure.message, {"code": str(failed.code)})
    return encode_result(request.id, {})
