"""The `http` expectation: that the server refuses this very request with an HTTP status, and with which challenge."""

from typing import Any, Final, NamedTuple

from plugin.checks.texts import has_terminal_control
from protocol.failures import Code, Failed
from protocol.values.document import integer

__all__ = ["REFUSAL_RANGE", "Refusal", "compare_refusal", "read_refusal"]

#: HTTP statuses that refuse a request and leave the connection open.
REFUSAL_RANGE: Final = (400, 499)
#: "The server gave up waiting" says nothing about what became of the request, so it is a lost reply.
_REQUEST_TIMEOUT: Final = 408
_PARAMETERS: Final = ("scope", "error")


class Refusal(NamedTuple):
    """An expected HTTP refusal; ``scope`` and ``error`` are those of its challenge, None where any will do."""

    status: int
    scope: str | None = None
    error: str | None = None


def read_refusal(value: Any) -> Refusal:
    """Read the parsed value of `http`. Raises Failed (`invalid_expectation`), naming the place."""
    if not isinstance(value, dict) or "status" not in value:
        raise _invalid("http", "is an object with a `status`, and may have a `scope` and an `error`")
    for name in value:
        if name not in ("status", *_PARAMETERS):
            raise _invalid("http", "takes `status`, `scope` and `error` only")
    status = integer(value["status"])
    least, most = REFUSAL_RANGE
    if status is None or not least <= status <= most or status == _REQUEST_TIMEOUT:
        raise _invalid("http.status", f"takes an integer from {least} to {most}, and not {_REQUEST_TIMEOUT}")
    for name in _PARAMETERS:
        if name in value:
            _check_text(value[name], f"http.{name}")
    return Refusal(status, value.get("scope"), value.get("error"))


def _check_text(value: Any, where: str) -> None:
    if not isinstance(value, str) or not value.strip():
        raise _invalid(where, "takes a string that is not blank")
    if has_terminal_control(value):
        raise _invalid(where, "holds a terminal control; those are stripped from replies and cannot be matched")


def _invalid(where: str, rule: str) -> Failed:
    return Failed(Code.INVALID_EXPECTATION, f"`{where}` {rule}.", where=where)


def compare_refusal(wanted: Refusal, http: dict[str, Any]) -> str | None:
    """Return None when a refusal is the one that is wanted, else the fixed reason why not.

    ``http`` is ``facts.http``. One challenge has to have all that is named; scopes compare as sets, for their order
    says nothing (RFC 6749, section 3.3). A challenge that is malformed proves nothing.
    """
    if http.get("status") != wanted.status:
        return "other-status"
    if wanted.scope is None and wanted.error is None:
        return None
    challenges = [challenge["parameters"] for challenge in http.get("challenge", ()) if "fault" not in challenge]
    if not challenges:
        return "no-challenge"
    if wanted.error is not None and all(challenge.get("error") != wanted.error for challenge in challenges):
        return "other-error"
    return None if any(_holds(wanted, challenge) for challenge in challenges) else "other-scope"


def _holds(wanted: Refusal, challenge: dict[str, str]) -> bool:
    if wanted.error is not None and challenge.get("error") != wanted.error:
        return False
    return wanted.scope is None or set(challenge.get("scope", "").split()) == set(wanted.scope.split())
