"""What a failed sign-in advises, and what it calls what came back: only what is so."""

from typing import Any

import pytest

from oauth.authentication import Client
from oauth.challenge import Probe, ask
from oauth.discovery import Found, Target, discover
from oauth.metadata import ServerMetadata
from oauth.settings import Settings
from oauth.steps import NoReply, Reply
from oauth.token import by_secret
from protocol.failures import Code
from tests.fakes.oauth_script import LATE, NOT_FOUND, Page, Played, answer, play

MCP = "https://mcp.example.com"
ENDPOINT = f"{MCP}/mcp"
AUTH = "https://auth.example.com"
RESOURCE = f"{MCP}/.well-known/oauth-protected-resource"
COMPAT = "Set `compat` to `2025-03-26` for a server of that revision."
SILENCE = "Look at why there was no usable reply, and sign in again."
LARGE = NoReply(Code.RESPONSE_TOO_LARGE, "The reply has more than 262144 bytes.", True)
NOT_MODIFIED = Reply(304, (), b"")


def looked_for(first: Page, second: Page) -> Played:
    target = Target(ENDPOINT, Settings("listed"), frozenset({f"{MCP}:443", f"{AUTH}:443"}))
    return play(discover(target, None, []), {f"{RESOURCE}/mcp": first, RESOURCE: second})


@pytest.mark.parametrize(
    ("first", "second", "advice"),
    [
        (NOT_FOUND, NOT_FOUND, COMPAT),
        (answer(b"<html>a page for everything</html>", kind="text/html"), NOT_FOUND, COMPAT),
        (LATE, NOT_FOUND, SILENCE),
        (LARGE, NOT_FOUND, SILENCE),
        (NOT_FOUND, LARGE, SILENCE),
    ],
)
def test_a_server_that_did_not_answer_is_not_taken_for_an_old_one(first: Page, second: Page, advice: str) -> None:
    failure = looked_for(first, second).failure
    assert failure is not None
    assert failure.code == Code.OAUTH_DISCOVERY_FAILED
    assert failure.message.endswith(f". {advice}")


def test_a_reply_that_sends_nobody_anywhere_is_no_redirect() -> None:
    failure = looked_for(NOT_MODIFIED, Reply(302, (("location", "/x"),), b"")).failure
    assert failure is not None
    assert f"{RESOURCE}/mcp answered HTTP 304: refused; {RESOURCE} answered HTTP 302: a redirect," in failure.message
    record: list[Any] = []
    play(ask(Probe(ENDPOINT), record), {ENDPOINT: NOT_MODIFIED})
    assert record[0].reason == "the server refused `initialize`, and not for want of a token"
    server = ServerMetadata(
        AUTH, f"{AUTH}/authorize", f"{AUTH}/token", None, None, ("code",), None, ("none",), ("S256",), False, False
    )
    record = []
    flow = by_secret(Found(server, None, None), Client("client-1", "secret-1", "none", "binding"), (), record)
    play(flow, {f"{AUTH}/token": NOT_MODIFIED})
    assert record[0].reason.startswith("refused; ")
