"""Taking up a reply stream that its server ended early, to be asked again (MCP 2025-11-25, basic/transports)."""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from protocol.failures import Code, Failed
from protocol.mcp.attempts import Attempt, Late
from protocol.mcp.http import Opened
from protocol.mcp.sse import SseDecoder

__all__ = ["Resume", "may_resume", "take_up"]

#: Asks for the rest of a stream after the event of an id. Raises Failed.
Resume: TypeAlias = Callable[[str, Attempt], Opened]

_ID: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?\Z")  # what a header can carry


def may_resume(decoder: SseDecoder, status: int) -> bool:
    """Tell whether a stream that ended in order asked to be taken up: its events had an id, and it said when."""
    return status == 200 and decoder.retry is not None and _ID.match(decoder.last_id) is not None


def take_up(resume: Resume, event: str, seconds: float, attempt: Attempt) -> Opened:
    """Wait for ``seconds``, then ask for the rest, once; the attempt's deadline holds for all of it.

    Raises Failed: ``timeout`` or ``cancelled``, and ``reply_lost`` for whatever else goes wrong on the way.
    """
    try:
        attempt.pause(seconds)
        return resume(event, attempt)
    except Late as late:
        code = Code.CANCELLED if attempt.interrupt.is_set else Code.TIMEOUT
        raise Failed(code, f"The event stream ended early and was to be taken up: {late}.") from None
    except Failed as failed:
        code = failed.code if failed.code in (Code.CANCELLED, Code.TIMEOUT) else Code.REPLY_LOST
        text = f"The event stream ended early, and taking it up failed. {failed.failure.message}"
        raise Failed(code, text) from None
