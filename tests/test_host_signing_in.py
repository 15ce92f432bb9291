"""A sign-in while a flow runs: the page goes to the one browser and nowhere else, and nothing waits for a lost one."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from host.executable import Executable
from host.interruption import Interruption
from host.private import Private
from host.session import Identities, Session
from host.signing_in import SignIns
from protocol.failures import Code, Failed
from protocol.wire.steps import StepResult
from tests.fakes.plugins import FakePlugin
from tests.host_flows import flow

URL = "https://auth.example.com/authorize?state=state-of-the-sign-in"
ORIGINS = ("http://127.0.0.1:1", "https://auth.example.com:443")
ASKING = [{"consent": {"alias": "api", "url": URL}}, {"result": {}}]
COMMANDS = 'api.oauth_begin\nsite.click selector="x"\napi.oauth_finish'
STEPS = {step.command: step for step in flow(("Sign in", COMMANDS), aliases="api site:Browser").steps}


class Stage:
    """A session with two fake plugins, and the sign-ins of a flow on it. ``run`` does with a step as an engine does."""

    def __init__(self, folder: Path, mcp: dict[str, Any], browser: dict[str, Any] | None) -> None:
        self.mcp = FakePlugin(folder, "mcp", commands=mcp)
        plugins = {"MCP": self.mcp}
        configurations: dict[str, dict[str, Any]] = {"MCP": {"api": {"endpoint": "http://x/"}}}
        if browser is not None:
            self.browser = plugins["Browser"] = FakePlugin(folder, "browser", provider="Browser", **browser)
            configurations["Browser"] = {"site": {}}
        executables = {name: Executable(name, (str(plugin.path),), {}) for name, plugin in plugins.items()}
        private = Private(dict.fromkeys(plugins, ()))
        identities = Identities(ORIGINS, configurations, frozenset())
        self.session = Session(executables, dict(os.environ), identities, private, Interruption())
        self.sign_ins = SignIns(self.session)

    def run(self, command: str, seconds: float = 20.0) -> StepResult:
        step = STEPS[command]
        provider, deadline = self.session.provider(step.provider), time.monotonic() + seconds
        consent = self.sign_ins.consent(step, deadline, lambda: False)

        def stop() -> bool:
            self.sign_ins.look_after(step)
            return False

        try:
            result = provider.run(step.alias, command, {}, deadline=deadline, stop=stop, on_consent=consent)
        except Failed as failed:
            result = StepResult(status="failed", code=str(failed.code), message=str(failed), effect="mutate")
        self.sign_ins.ran(step, provider, result)
        return result

    @property
    def answers(self) -> list[Any]:
        """What the plugin was answered to its own requests."""
        answered = [entry for entry in self.mcp.log if entry.get("id") == "plugin-1"]
        return [entry.get("result", entry.get("error")) for entry in answered]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Any]:
    made: list[Stage] = []

    def make(browser: dict[str, Any] | None = {}, **mcp: Any) -> Stage:  # noqa: B006 - an empty behaviour
        made.append(Stage(tmp_path / str(len(made)), mcp, browser))
        return made[-1]

    yield make
    for each in made:
        each.session.end()


@pytest.mark.requirement("command.oauth-begin", "oauth.private-channel")
def test_a_consent_page_goes_to_the_browser_and_its_end_is_told(stage: Any) -> None:
    on = stage(oauth_begin=[ASKING])
    assert on.run("oauth_begin").status == "succeeded"
    assert on.answers == [{}]
    assert on.browser.sent("consent/show") == [{"alias": "site", "url": URL}]
    assert on.browser.sent("consent/close") == []
    assert on.session.private.leaks(URL.encode())
    assert on.run("click").status == "succeeded"
    assert on.run("oauth_finish").status == "succeeded"
    assert on.browser.sent("consent/close") == [{"alias": "site"}]
    assert on.mcp.sent("cancel") == []


def test_a_page_that_is_not_admitted_is_not_shown(stage: Any) -> None:
    asking = [{"consent": {"alias": "api", "url": URL.replace("auth.", "evil.")}}, {"result": {}}]
    on = stage(oauth_begin=[asking])
    on.run("oauth_begin")
    ((error),) = on.answers
    assert error["data"] == {"code": "origin_not_admitted"}
    assert "state-of-the-sign-in" not in error["message"]
    assert on.browser.sent("consent/show") == []


def test_a_browser_that_does_not_show_the_page_says_why(stage: Any) -> None:
    refused = {"code": -32000, "message": "There is no Chromium.", "data": {"code": "browser_missing"}}
    on = stage({"consent/show": [{"error": refused}]}, oauth_begin=[ASKING])
    on.run("oauth_begin")
    assert on.answers == [{"code": -32000, "message": "There is no Chromium.", "data": {"code": "browser_missing"}}]


def test_a_flow_without_a_browser_shows_nothing(stage: Any) -> None:
    on = stage(None, oauth_begin=[ASKING])
    on.run("oauth_begin")
    assert [answer["data"] for answer in on.answers] == [{"code": "browser_missing"}]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        ({"method": "consent/open", "params": {"alias": "api", "url": 7}}, -32602),
        ({"method": "consent/open", "params": {"url": URL}}, -32602),
        ({"method": "shell/run", "params": {"alias": "api", "url": URL}}, -32601),
    ],
)
def test_what_is_no_request_for_a_page_is_refused(stage: Any, request_: Any, code: int) -> None:
    on = stage(oauth_begin=[[{"request": request_}, {"result": {}}]])
    on.run("oauth_begin")
    on.session.end()
    assert [answer["code"] for answer in on.answers] == [code]
    assert on.browser.sent("consent/show") == []


@pytest.mark.requirement("oauth.private-channel")
def test_no_page_is_shown_for_another_command(stage: Any) -> None:
    on = stage(oauth_finish=[ASKING])
    on.run("oauth_finish")
    assert [answer["code"] for answer in on.answers] == [-32601]


GONE = "The browser of the consent page was gone before consent came; no token was asked for."


def run(on: Stage, command: str) -> int:
    """The id of the request that ran a command."""
    (found,) = [entry for entry in on.mcp.log if entry.get("params", {}).get("command") == command if "id" in entry]
    return int(found["id"])


LATE: Any = {"result": {"status": "failed", "code": "oauth_consent_timeout", "message": "Late."}}


@pytest.mark.parametrize(
    ("closed", "message"),
    [
        ({"blocked": []}, "Late."),
        ({}, "Late."),
        (
            {"blocked": ["https://a.example:443", "a `javascript:` address"]},
            (
                "Late. Its page tried to go to https://a.example:443, a `javascript:` address, which is not admitted. "
                "Add `--allow-origin https://a.example:443` if it is meant."
            ),
        ),
        (
            {"blocked": ["another address than the redirect that was asked for"]},
            "Late. Its page was sent to another address than the redirect that was asked for.",
        ),
        ({"blocked": ["a blank page"]}, "Late. Its page tried to go to a blank page, which is not admitted."),
    ],
)
def test_consent_that_never_came_is_told_with_where_its_page_was_not_let_go(
    stage: Any, closed: dict[str, Any], message: str
) -> None:
    on = stage({"consent/close": [{"raw_result": closed}]}, oauth_begin=[ASKING], oauth_finish=[[LATE]])
    on.run("oauth_begin")
    finished = on.run("oauth_finish")
    assert (finished.code, finished.message) == ("oauth_consent_timeout", message)


def test_a_beginning_that_fails_after_its_page_was_shown_closes_it(stage: Any) -> None:
    failed = {"result": {"status": "failed", "code": "timeout", "message": "Late."}}
    on = stage(oauth_begin=[[ASKING[0], failed]])
    on.run("oauth_begin")
    assert on.browser.sent("consent/close") == [{"alias": "site"}]


def test_a_finish_that_is_skipped_gives_the_sign_in_up(stage: Any) -> None:
    on = stage(oauth_begin=[ASKING])
    on.run("oauth_begin")
    on.sign_ins.skip(STEPS["click"])
    assert on.mcp.sent("cancel") == []
    on.sign_ins.skip(STEPS["oauth_finish"])
    on.session.end()
    (run,) = [entry for entry in on.mcp.log if entry.get("method") == "run"]
    assert on.mcp.sent("cancel") == [{"id": run["id"]}]
    assert on.browser.sent("consent/close") == [{"alias": "site"}]


def test_a_browser_that_loses_its_page_gives_the_sign_in_up_and_the_finish_does_not_run(stage: Any) -> None:
    gone = [{"notify": {"method": "consent/gone", "params": {"alias": "site"}}}, {"result": {}}]
    on = stage({"commands": {"click": [gone]}}, oauth_begin=[ASKING])
    on.run("oauth_begin")
    assert on.sign_ins.reason(STEPS["oauth_finish"]) is None
    on.run("click")
    assert on.sign_ins.reason(STEPS["oauth_finish"]) == (
        "The sign-in of `api` was given up: The browser of its consent page is gone."
    )
    assert on.sign_ins.reason(STEPS["click"]) is None
    on.run("oauth_begin")
    assert on.sign_ins.reason(STEPS["oauth_finish"]) is None


def test_a_browser_that_dies_while_consent_is_awaited_has_the_finish_cancelled(stage: Any, tmp_path: Path) -> None:
    waiting = str(tmp_path / "waiting")
    dying = {"consent/show": [{"raw_result": {}}, {"wait_for_file": waiting}, {"exit": 3}]}
    finish = [{"touch": waiting}, {"wait_for_cancel": {"status": "failed"}}]
    on = stage(dying, oauth_begin=[ASKING], oauth_finish=[finish])
    on.run("oauth_begin")
    started = time.monotonic()
    finished = on.run("oauth_finish", seconds=60)
    assert (finished.status, finished.code, finished.message) == ("failed", "cancelled", GONE)
    assert time.monotonic() - started < 20
    # It is the sign-in that is given up, not the request for its end: consent may have come a moment before.
    assert on.mcp.sent("cancel") == [{"id": run(on, "oauth_begin")}]


def test_a_sign_in_that_was_given_up_just_before_its_finish_ran_says_why(stage: Any, tmp_path: Path) -> None:
    waiting = str(tmp_path / "waiting")
    dying = {"consent/show": [{"raw_result": {}}, {"wait_for_file": waiting}, {"exit": 3}]}
    finish = [{"touch": waiting}, {"wait_for_cancel": {"status": "failed", "code": "oauth_required"}}]
    on = stage(dying, oauth_begin=[ASKING], oauth_finish=[finish])
    on.run("oauth_begin")
    finished = on.run("oauth_finish", seconds=60)
    assert (finished.status, finished.code, finished.message) == ("failed", "cancelled", GONE)


def test_a_browser_that_dies_once_consent_has_come_changes_nothing(stage: Any, tmp_path: Path) -> None:
    waiting = str(tmp_path / "waiting")
    dying = {"consent/show": [{"raw_result": {}}, {"wait_for_file": waiting}, {"exit": 3}]}
    finish = [{"touch": waiting}, {"wait_for_cancel": {"status": "succeeded", "code": None, "message": "Signed in."}}]
    on = stage(dying, oauth_begin=[ASKING], oauth_finish=[finish])
    on.run("oauth_begin")
    finished = on.run("oauth_finish", seconds=60)
    assert (finished.status, finished.message) == ("succeeded", "Signed in.")
    assert on.sign_ins.reason(STEPS["oauth_finish"]) is None


def test_an_exchange_that_is_in_doubt_is_left_so_when_its_browser_is_gone(stage: Any, tmp_path: Path) -> None:
    waiting = str(tmp_path / "waiting")
    dying = {"consent/show": [{"raw_result": {}}, {"wait_for_file": waiting}, {"exit": 3}]}
    finish = [{"touch": waiting}, {"wait_for_cancel": {}}]
    on = stage(dying, oauth_begin=[ASKING], oauth_finish=[finish])
    on.run("oauth_begin")
    finished = on.run("oauth_finish", seconds=60)
    assert (finished.status, finished.code, finished.message) == ("unknown", "cancelled", "Cancelled.")


def test_without_a_page_a_lost_browser_changes_nothing(stage: Any) -> None:
    on = stage({"commands": {"click": [[{"exit": 3}]]}})
    on.run("oauth_begin")
    assert on.run("click").code == Code.PLUGIN_DIED
    assert on.run("oauth_finish").status == "succeeded"
    assert on.mcp.sent("cancel") == []
