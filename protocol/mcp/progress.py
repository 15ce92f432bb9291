"""What a ``notifications/progress`` says (2025-11-25, basic/utilities/progress)."""

import math
from typing import Any, Final

import msgspec

from protocol.mcp.messages import Notification

__all__ = ["progress"]

#: Bytes of a number's spelling that are looked at: a float has no use for more.
_NUMBER_LIMIT: Final = 64


def progress(message: Notification) -> tuple[float, float | None] | None:
    """Return (done, total or None); None when it is another notification, or its numbers are none."""
    if message.method != "notifications/progress":
        return None
    done = _number(message.params.get("progress"))
    return None if done is None else (done, _number(message.params.get("total")))


def _number(value: Any) -> float | None:
    if not isinstance(value, msgspec.Raw) or len(spelling := bytes(value)) > _NUMBER_LIMIT:
        return None
    number = float(spelling)
    return number if math.isfinite(number) else None
