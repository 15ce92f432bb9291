"""The environment of a command: the user's, and inputs and captures as `RFL_<NAME>`."""

import re
from collections.abc import Mapping
from typing import Any, Final

from protocol.failures import Code, Failed
from protocol.values.document import has_lone_surrogate

__all__ = ["PREFIX", "check_values", "command_environment"]

PREFIX: Final = "RFL_"
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")
#: Variables that only say where the shell that started Assay was.
_PLACES: Final = frozenset({"OLDPWD", "_"})


def check_values(values: Mapping[str, Any]) -> None:
    """Raise Failed (`invalid_arguments`) unless every value may be an environment variable."""
    for name, value in values.items():
        if not _NAME.fullmatch(name) or not isinstance(value, str):
            raise _refuse("holds a name that is none of an input or capture, or a value that is no string")
        if "\0" in value:
            raise _refuse(f"holds a NUL character in `{name}`, which no environment variable can")
        if has_lone_surrogate(value):
            raise _refuse(f"holds half of a surrogate pair in `{name}`")


def command_environment(
    inherited: Mapping[str, str], values: Mapping[str, str], cwd: str, own_path: str
) -> dict[str, str]:
    """Return what a command's environment is.

    ``inherited`` is the plugin's own environment, ``own_path`` the folder that the host put first on PYTHONPATH for the
    plugin to find itself by, if it did: a command is not to import Assay's packages in place of its own.
    """
    kept = {name: value for name, value in inherited.items() if not name.startswith(PREFIX) and name not in _PLACES}
    first, separator, rest = kept.get("PYTHONPATH", "").partition(":")
    if first == own_path:
        kept.pop("PYTHONPATH")
        kept |= {"PYTHONPATH": rest} if separator else {}
    return kept | {"PWD": cwd} | {f"{PREFIX}{name.upper()}": value for name, value in values.items()}


def _refuse(rule: str) -> Failed:
    return Failed(Code.INVALID_ARGUMENTS, f"`environment` {rule}.", where="environment")
