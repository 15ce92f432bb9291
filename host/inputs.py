"""What `--input name=value` gives, and that some flow takes each of it."""

from collections.abc import Collection, Iterable
from typing import Final

from host.problems import quoted, suggestion
from host.rfl import NAME
from protocol.failures import Code, Failed
from protocol.values.document import has_lone_surrogate

__all__ = ["read_inputs", "require_taken"]

_FORM: Final = "Write `--input name=value`."


def read_inputs(given: Iterable[str]) -> dict[str, str]:
    """Read the values of `--input`, each `name=value`; all after the first `=` is the value.

    Raises Failed (`invalid_arguments`): no `=`, a malformed or repeated name, bytes that are not UTF-8. A value is
    never quoted.
    """
    inputs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not NAME.fullmatch(name):
            raise Failed(
                Code.INVALID_ARGUMENTS, f"An input's name is a-z, then a-z, 0-9 or _, 64 characters at most. {_FORM}"
            )
        if name in inputs:
            raise Failed(Code.INVALID_ARGUMENTS, f"The input {quoted(name)} is given twice. Keep one of them.")
        if has_lone_surrogate(value):
            raise Failed(Code.INVALID_ARGUMENTS, f"The value of the input {quoted(name)} is not UTF-8.")
        inputs[name] = value
    return inputs


def require_taken(given: Iterable[str], declared: Collection[str]) -> None:
    """Raise Failed (`invalid_arguments`) when a name is given that none of the flows declares."""
    unknown = [name for name in given if name not in declared]
    if unknown:
        advice = suggestion(unknown[0], declared, "inputs")
        raise Failed(Code.INVALID_ARGUMENTS, f"No flow takes the input {quoted(unknown[0])}. {advice}")
