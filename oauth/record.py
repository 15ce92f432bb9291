"""The sign-in record: every document that was asked for, what came back, and why it was taken or passed over."""

import re
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from oauth.steps import NoReply
from protocol.failures import Code, Failed

__all__ = ["Entry", "as_facts", "failed", "quoted", "unanswered"]

#: Characters of a foreign text that a reason quotes. A reader recognises a URL by then, and a page of HTML is no use.
QUOTE_LIMIT: Final = 200
_UNQUOTABLE: Final = re.compile(r"[^ -~]")


class Entry(NamedTuple):
    """One request, or one decision, on the way to a token.

    ``document`` says what was asked for, ``status`` is the HTTP status (None when there was no reply, or no request),
    ``reason`` says why it was taken or passed over. URLs are as they were used: redact before keeping.
    """

    document: str
    url: str
    status: int | None
    reason: str
    taken: bool

    def __repr__(self) -> str:
        return f"<Entry {self.document}>"


def as_facts(record: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return the record as ``facts`` hold it, unredacted."""
    return [entry._asdict() for entry in record]


def quoted(text: str) -> str:
    """Quote a foreign text: in backticks, cut at the limit, with everything but printable ASCII replaced."""
    shown = _UNQUOTABLE.sub("?", text).replace("`", "'")
    return f"`{shown}`" if len(shown) <= QUOTE_LIMIT else f"`{shown[:QUOTE_LIMIT]}` (cut)"


def unanswered(reply: NoReply) -> str:
    """Return the reason of a request that no usable reply came to."""
    return f"no usable reply: {reply.message.rstrip('.')}"


def failed(code: Code, entry: Entry, advice: str = "", *, unknown: bool = False) -> Failed:
    """Return the failure that an entry leads to: document, status and reason in one sentence, and what to do.

    ``unknown`` marks a request that may have been carried out although no reply came; it stands in the failure's data.
    """
    status = f" answered HTTP {entry.status}" if entry.status is not None else ""
    message = f"The {entry.document} ({entry.url}){status}: {entry.reason}."
    if advice:
        message += f" {advice}"
    return Failed(code, message, data={"unknown": True} if unknown else None)
