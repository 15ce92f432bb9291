"""A sign-in in the browser: the page that is shown, what is kept to itself meanwhile, and the way to the callback."""

import base64
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.http_server import Peer, Request
from tests.fakes.pages import Website
from tests.fakes.plugin_driver import PluginDriver

MODULE = "host.providers.browser"
STATE = "state-9d2f71c4"
CODE = "code-7be31f90aa"


@pytest.fixture(scope="module")
def listener() -> Iterator[Website]:
    """The loopback callback of a sign-in, which leads on to a plain page."""
    served = Website()
    with served:
        yield served


@pytest.fixture(scope="module")
def issuer() -> Iterator[Website]:
    """An authorization server."""
    served = Website()
    with served:
        yield served


@pytest.fixture(scope="module")
def started(issuer: Website) -> Iterator[PluginDriver]:
    with PluginDriver(module=MODULE) as plugin:
        binding = {"timeoutMs": 2000, "private": {"name": "ada-lovelace"}}
        assert "result" in plugin.initialize([issuer.origin], site=binding)
        yield plugin
        assert plugin.end() == 0
        assert bytes(plugin.diagnostics) == b""


@pytest.fixture
def browser(started: PluginDriver, issuer: Website, listener: Website) -> PluginDriver:
    """The browser, with no sign-in under way, and a consent page that leads to the callback a moment after a click."""
    assert "result" in started.ask("consent/close", {"alias": "site"})
    back = f"{listener.origin}/callback?code={CODE}&state={STATE}"
    listener.pages = {"callback": (303, (("Location", "/done"),)), "done": "<p id=done>You may close this page.</p>"}
    issuer.pages = {
        "authorize": f"""<h1>May Assay read your tickets, {STATE}?</h1><input id=name>
            <button id=yes onclick="setTimeout(() => location.href = '/grant', 300)">Yes</button>
            <a id=no href="{listener.origin}/elsewhere">No</a>
            <a id=name2 href="{listener.origin.replace("127.0.0.1", "localhost")}/callback">No</a>
            <a id=other href="http://127.0.0.1:9/callback">No</a>""",
        "grant": (302, (("Location", back),)),
    }
    for each in (started.seen, listener.requests, issuer.requests):
        each.clear()
    return started


def show(plugin: PluginDriver, issuer: Website, listener: Website) -> dict[str, Any]:
    url = f"{issuer.origin}/authorize?state={STATE}&redirect_uri={listener.origin}/callback"
    return plugin.ask("consent/show", {"alias": "site", "url": url})


def told(result: dict[str, Any]) -> tuple[str, str | None]:
    return result["status"], result["code"]


def test_consent_reaches_the_callback_while_no_command_of_the_browser_runs(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    assert show(browser, issuer, listener)["result"] == {}
    assert browser.run("site", "wait", selector="#yes")["facts"] == {}
    assert browser.run("site", "fill_private", selector="#name", field="name")["status"] == "succeeded"
    assert browser.run("site", "click", selector="#yes")["status"] == "succeeded"
    # From here on it is another plugin that waits.
    listener.wait_for(lambda server: len(server.requests) >= 2)
    assert listener.paths == [f"/callback?code={CODE}&state={STATE}", "/done"]
    assert browser.run("site", "wait", selector="#done")["status"] == "succeeded"
    seen = bytes(browser.seen)
    assert [text for text in (STATE, CODE, "/authorize", "ada-lovelace") if text.encode() in seen] == []


@pytest.mark.requirement("oauth.private-channel")
def test_nothing_of_the_page_is_recorded_between_begin_and_finish(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    show(browser, issuer, listener)
    failed = browser.run("site", "expect_text", selector="h1", includes="something else")
    assert (told(failed), failed["facts"]) == (("failed", "expectation_failed"), {})
    refused = browser.run("site", "screenshot", name="consent")
    assert told(refused) == ("failed", "invalid_arguments")
    assert refused["message"].startswith("A screenshot is refused between `oauth_begin` and `oauth_finish`")
    assert refused["artifacts"] == []
    assert STATE.encode() not in browser.seen
    assert browser.ask("consent/close", {"alias": "site"})["result"] == {"blocked": []}
    # Nothing of the consent page is left to be seen.
    kept = browser.run("site", "screenshot", name="after")
    assert told(kept) == ("succeeded", None)
    assert len(base64.b64decode(kept["artifacts"][0]["base64"])) < 10_000
    assert told(browser.run("site", "wait", selector="h1")) == ("failed", "timeout")


def test_the_callback_is_admitted_as_exactly_what_was_announced_and_not_afterwards(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    show(browser, issuer, listener)
    assert told(browser.run("site", "click", selector="#other")) == ("failed", "origin_not_admitted")
    assert browser.refused("run", "site", "open", url=f"{listener.origin}/callback")[0] == "origin_not_admitted"
    browser.ask("consent/close", {"alias": "site"})
    browser.run("site", "open", url=f"{issuer.origin}/authorize")
    browser.run("site", "click", selector="#yes")
    assert told(browser.run("site", "wait", selector="#nowhere")) == ("failed", "origin_not_admitted")
    assert listener.requests == []


MISSED = "another address than the redirect that was asked for"


@pytest.mark.parametrize("link", ["#no", "#name2"])
def test_another_address_than_the_callbacks_is_told_as_that(
    browser: PluginDriver, issuer: Website, listener: Website, link: str
) -> None:
    show(browser, issuer, listener)
    clicked = browser.run("site", "click", selector=link)
    assert (told(clicked), clicked["facts"]) == (("failed", "oauth_callback_invalid"), {"blocked": MISSED})
    assert clicked["message"] == (
        f"The authorization server sent the page back to this machine, but to {MISSED}: another path, or another name"
        " of the host. Nobody listens there. Compare `callbackPath` and `callbackHost` with the redirect that the"
        " client is registered with."
    )
    assert listener.requests == []


def test_a_consent_page_that_leads_past_the_callback_at_once_is_told_as_that(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    issuer.pages["authorize"] = (302, (("Location", f"{listener.origin}/elsewhere?code={CODE}"),))
    error = show(browser, issuer, listener)["error"]
    assert error["data"]["code"] == "oauth_callback_invalid"
    assert CODE.encode() not in browser.seen


CLIENT = (
    "Most often its server does not know the client, or not with this redirect: compare `clientId`, `callbackPath`,"
    " `callbackPort` and `callbackHost` with what is registered there."
)
LOG = "Look at the authorization server's log."


@pytest.mark.parametrize("body", [b"", b"<p>private words</p>"])
@pytest.mark.parametrize(("status", "advice"), [(400, CLIENT), (404, CLIENT), (503, LOG)])
def test_a_consent_page_that_is_an_error_is_told_with_its_status(
    browser: PluginDriver, issuer: Website, listener: Website, status: int, body: bytes, advice: str
) -> None:
    issuer.pages["authorize"] = lambda request, peer: peer.reply(status, body, kind="text/html")
    error = show(browser, issuer, listener)["error"]
    assert (error["data"]["code"], error["message"]) == (
        "http_status",
        f"The consent page answered HTTP {status}, so nobody can consent there. {advice}",
    )
    assert STATE.encode() not in browser.seen
    assert b"private words" not in browser.seen


def test_a_callback_that_comes_once_more_is_no_trouble_of_the_consent_page(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    listener.pages = {"callback": (410, ())}
    issuer.pages["authorize"] = issuer.pages["grant"]
    assert show(browser, issuer, listener)["result"] == {}


def test_a_callback_that_the_listener_does_not_take_is_told_as_that(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    listener.pages = {"callback": (404, ())}
    issuer.pages["authorize"] = (302, (("Location", f"{listener.origin}/callback#code={CODE}"),))
    error = show(browser, issuer, listener)["error"]
    assert (error["data"]["code"], error["message"]) == (
        "oauth_callback_invalid",
        (
            "The authorization server sent the page back at once, and not with what a callback has:"
            " its parameters stand in the query of the redirect."
        ),
    )
    assert CODE.encode() not in browser.seen


def test_where_the_page_was_not_let_go_after_its_last_step_is_told_at_the_end(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    go, tried = threading.Event(), threading.Event()

    def wait(_: Request, peer: Peer) -> None:
        assert go.wait(15)
        peer.reply(200)

    def note(_: Request, peer: Peer) -> None:
        tried.set()
        peer.reply(200)

    # The page is told when it may go, and tells once it has long been refused.
    script = "fetch('/go').then(() => { location.href = 'http://127.0.0.1:9/x'; setTimeout(fetch, 1000, '/tried') })"
    issuer.pages |= {"leave": f"<p id=there>there</p><script>{script}</script>", "go": wait, "tried": note}
    show(browser, issuer, listener)
    assert told(browser.run("site", "open", url=f"{issuer.origin}/leave")) == ("succeeded", None)
    go.set()
    assert tried.wait(15)
    assert browser.ask("consent/close", {"alias": "site"})["result"] == {"blocked": ["http://127.0.0.1:9"]}
    assert listener.requests == []


def test_a_private_value_is_never_typed_into_the_callback(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    listener.pages["done"] = "<input id=name>"
    show(browser, issuer, listener)
    browser.run("site", "click", selector="#yes")
    listener.wait_for(lambda server: len(server.requests) >= 2)
    result = browser.run("site", "fill_private", selector="#name", field="name")
    assert told(result) == ("failed", "origin_not_admitted")


def test_a_browser_that_starts_while_signing_in_keeps_to_itself_as_well(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    show(browser, issuer, listener)
    identity = browser.send("run", {"alias": "site", "command": "wait", "arguments": {"selector": "#nowhere"}})
    browser.notify("cancel", {"id": identity})
    assert told(browser.reply()["result"]) == ("failed", "cancelled")
    assert told(browser.run("site", "open", url=f"{issuer.origin}/authorize")) == ("succeeded", None)
    assert told(browser.run("site", "screenshot", name="again")) == ("failed", "invalid_arguments")
    browser.ask("consent/close", {"alias": "site"})
    assert told(browser.run("site", "screenshot", name="again")) == ("succeeded", None)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"url": "https://evil.example/authorize?state=x"}, "origin_not_admitted", "is at https://evil.example:443,"),
        ({"url": "javascript:alert(1)"}, "origin_not_admitted", "a `javascript:` address"),
        ({"alias": "other"}, "invalid_arguments", "no binding for the alias `other`"),
    ],
)
def test_a_consent_page_that_may_not_be_shown_is_refused(
    browser: PluginDriver, issuer: Website, change: dict[str, str], code: str, words: str
) -> None:
    params = {"alias": "site", "url": f"{issuer.origin}/authorize"} | change
    error = browser.ask("consent/show", params)["error"]
    assert (error["data"]["code"], words in error["message"]) == (code, True), error
    assert issuer.requests == []


def test_a_consent_page_that_does_not_come_is_told_without_its_address(
    browser: PluginDriver, issuer: Website, listener: Website
) -> None:
    issuer.pages["authorize"] = lambda request, peer: peer.close()
    error = show(browser, issuer, listener)["error"]
    assert (error["data"]["code"], error["message"]) == ("reply_lost", "The page's server hung up (EMPTY_RESPONSE).")
    assert STATE.encode() not in browser.seen
    assert browser.ask("consent/show", {"alias": "site"})["error"]["code"] == -32602
    assert browser.ask("consent/close", {"alias": "site"})["result"] == {"blocked": []}


def test_closing_what_was_never_shown_does_nothing(browser: PluginDriver) -> None:
    assert browser.ask("consent/close", {"alias": "site"})["result"] == {"blocked": []}
