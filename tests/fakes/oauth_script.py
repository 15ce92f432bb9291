"""Plays a sign-in without a socket: every step is written down, and answered from a table of documents."""

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from host.sign_in_record import record_rows
from oauth.record import Entry, as_facts
from oauth.steps import Fetch, Flow, Learn, Listen, NoReply, Reply, Step, Wait
from protocol.failures import Code, Failed, Failure

PORT = 49152

#: What a URL gives: a reply, or what makes one of the request.
Page = Reply | NoReply | Callable[[Fetch], Reply | NoReply]


class Played(NamedTuple):
    """How it went: the steps in their order, and the result or the failure."""

    steps: list[Step]
    result: Any
    failure: Failure | None

    @property
    def fetched(self) -> list[str]:
        """Method and URL of each request."""
        return [f"{step.method} {step.url}" for step in self.steps if isinstance(step, Fetch)]

    @property
    def learnt(self) -> list[str]:
        return [value for step in self.steps if isinstance(step, Learn) for value in step.values]

    @property
    def kinds(self) -> list[str]:
        return [type(step).__name__ for step in self.steps]


def answer(value: Any, status: int = 200, kind: str = "application/json", **fields: str) -> Reply:
    """A JSON reply, or one with the bytes that are given."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    headers = (("content-type", kind), *((name.replace("_", "-"), text) for name, text in fields.items()))
    return Reply(status, headers, body)


NOT_FOUND = Reply(404, (("content-type", "text/html"),), b"<html>no</html>")
UNREACHABLE = NoReply(Code.UNREACHABLE, "No connection to the server: connection refused.", False)
LATE = NoReply(Code.TIMEOUT, "The deadline passed before the reply was complete.", True)


def shown(record: list[Entry]) -> str:
    """A sign-in record as a person reads it."""
    return "".join(f"{row}\n" for row in record_rows({"signIn": as_facts(record)}))


def play(flow: Flow[Any], site: Mapping[str, Page], callback: str | None = None) -> Played:
    """Drive a flow to its end. ``callback`` is the query that comes back, if one does."""
    steps: list[Step] = []
    sent: Any = None
    try:
        while True:
            step = flow.send(sent)
            steps.append(step)
            sent = None
            match step:
                case Fetch():
                    page = site.get(step.url, NOT_FOUND)
                    sent = page(step) if callable(page) else page
                case Listen():
                    sent = step.port or PORT
                case Wait():
                    sent = callback
    except StopIteration as end:
        return Played(steps, end.value, None)
    except Failed as failed:
        return Played(steps, None, failed.failure)
