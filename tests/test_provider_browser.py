"""Browser on its wire with a real Chromium: what each command does and says, what is shown, and nothing left behind."""

import base64
import contextlib
import os
import signal
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
import trustme

from host.providers.browser.binding import read_binding
from host.providers.browser.finding import find_chromium
from host.providers.browser.troubles import explain
from protocol.failures import Failed
from tests.fakes.http_server import HttpServer, Peer, Request
from tests.fakes.pages import Website, read_png
from tests.fakes.plugin_driver import PluginDriver, step
from tests.fakes.processes import children, command_line, descendants, gone, until

MODULE = "host.providers.browser"
PASSWORD = "hunter2 & søn"

FORM = """<title>form</title><style>body { margin: 0 } input, p { position: absolute; left: 0;
 width: 300px; height: 40px; margin: 0; border: 0; background: #fff }</style>
<form action="/taken"><input id="name" name="name" value="old" style="top: 0">
<input id="password" name="password" style="top: 100px"><input id="other" style="top: 200px">
<button id="send" style="position: absolute; top: 300px">Send</button></form>
<p id="echo" style="top: 400px; background: #0f0"></p>
<p style="top: 500px; background: #00f">public</p>
<script>password.oninput = () => { echo.textContent = 'you typed ' + password.value;
 other.value = password.value }</script>"""
LATER = """<p id="text">before</p><p id="clicks">0</p><button id="gone" onclick="this.remove()">Gone</button>
<script>setTimeout(() => { text.textContent = 'after'; document.body.insertAdjacentHTML('beforeend',
 '<button id=late onclick="clicks.textContent++">Late</button>') }, 300)</script>"""


def hold(_request: Request, peer: Peer) -> None:
    peer.hold()


@pytest.fixture(scope="module")
def site() -> Iterator[Website]:
    pages: dict[str, Any] = {
        "": "<h1>Home</h1><p class=many>first</p><p class=many>second</p><p id=hidden hidden>x</p>",
        "form": FORM,
        "taken": "<p id=taken>Taken</p>",
        "later": LATER,
        "empty-404": (404, ()),
        "gone": (410, (("Content-Type", "text/html"),)),
        "no-content": (204, ()),
        "loop": (302, (("Location", "/loop"),)),
        "download": lambda request, peer: peer.reply(
            200, b"data", ("Content-Disposition", "attachment; filename=x.bin"), kind="application/octet-stream"
        ),
        "hang": hold,
        "stuck": "<p>There</p><img src=/hang>",
        "cut": lambda request, peer: peer.close(),
    }
    served = Website(**pages)
    with served:
        yield served


@pytest.fixture(scope="module")
def other() -> Iterator[Website]:
    """A website that is admitted nowhere."""
    served = Website(form=FORM)
    with served:
        yield served


@pytest.fixture(scope="module")
def untrusted() -> Iterator[HttpServer]:
    """A server with a certificate of an authority that nobody knows."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with HttpServer(lambda request, peer: peer.reply(200), tls=context) as server:
        yield server


@contextlib.contextmanager
def short_folder() -> Iterator[Path]:
    """A folder whose name is short enough for a browser to keep its socket below it: pytest's are not."""
    with tempfile.TemporaryDirectory(prefix="tmp-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def temporary() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def browser(site: Website, untrusted: HttpServer, temporary: Path) -> Iterator[PluginDriver]:
    environment = {"TMPDIR": str(temporary), "DEBUG": "pw:*", "http_proxy": "http://127.0.0.1:9"}
    with PluginDriver(module=MODULE, environment=environment) as plugin:
        bindings = {
            "site": {"browser": "chromium", "private": {"password": PASSWORD}},
            "quick": {"timeoutMs": 1500},
            "camera": {"private": {"password": PASSWORD}},
            "fresh": {},
        }
        assert "result" in plugin.initialize([site.origin, "http://127.0.0.1:9", untrusted.origin], **bindings)
        yield plugin
        assert plugin.ask("shutdown")["result"] == {}
        assert plugin.end() == 0
        assert bytes(plugin.diagnostics) == b""
        assert PASSWORD.encode() not in plugin.seen
        assert list(temporary.iterdir()) == []


@pytest.fixture
def page(browser: PluginDriver, site: Website) -> Callable[..., Callable[..., dict[str, Any]]]:
    """Opens a page of the site, and then runs commands in it."""

    def opened(path: str, alias: str = "site") -> Callable[..., dict[str, Any]]:
        def run(command: str, **arguments: str) -> dict[str, Any]:
            return browser.run(alias, command, **arguments)

        assert run("open", url=f"{site.origin}/{path}")["status"] == "succeeded"
        return run

    return opened


def told(result: dict[str, Any]) -> tuple[str, str | None]:
    return result["status"], result["code"]


# open


def test_open_shows_a_page_and_tells_its_status_and_not_its_address(browser: PluginDriver, site: Website) -> None:
    assert browser.run("site", "open", url=f"{site.origin}/?token=abc") == {
        "status": "succeeded",
        "code": None,
        "message": "The page is open.",
        "effect": "observe",
        "state": {"kind": "page", "status": 200},
        "facts": {"http": {"status": 200}},
        "capture": None,
        "artifacts": [],
        "display": None,
    }


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/nowhere", "http_status", "The page answered HTTP 404."),
        ("/empty-404", "http_status", "The page answered HTTP 404."),
        ("/gone", "http_status", "The page answered HTTP 410."),
        ("/no-content", "protocol_error", "There is no page at the address: a download, or an empty answer (ABORTED)."),
        ("/download", "protocol_error", "There is no page at the address but a download, which is refused."),
        ("/loop", "http_status", "The page redirects without an end (TOO_MANY_REDIRECTS)."),
        ("/cut", "reply_lost", "The page's server hung up (EMPTY_RESPONSE)."),
    ],
)
def test_an_address_without_a_page_fails_by_what_it_is(
    browser: PluginDriver, site: Website, path: str, code: str, message: str
) -> None:
    result = browser.run("site", "open", url=site.origin + path)
    assert (*told(result), result["message"]) == ("failed", code, message)


def test_a_server_that_is_not_there_and_one_that_is_not_trusted_have_codes_of_their_own(
    browser: PluginDriver, untrusted: HttpServer
) -> None:
    assert told(browser.run("site", "open", url="http://127.0.0.1:9/")) == ("failed", "unreachable")
    assert told(browser.run("site", "open", url=f"{untrusted.origin}/")) == ("failed", "tls_failed")
    assert untrusted.requests == []


def test_a_page_that_never_answers_ends_at_the_deadline(browser: PluginDriver, site: Website) -> None:
    result = browser.run("quick", "open", url=f"{site.origin}/hang")
    assert told(result) == ("failed", "timeout")
    assert "timeoutMs" in result["message"]
    assert browser.run("quick", "open", url=f"{site.origin}/")["status"] == "succeeded"


def test_what_a_page_loads_beside_itself_is_not_waited_for(page: Any) -> None:
    assert page("stuck")("wait", selector="text=There")["status"] == "succeeded"


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
        ("https://example.com/x?y", "https://example.com:443"),
        ("file:///etc/passwd", "a `file:` address"),
        ("data:text/html,hello", "a `data:` address"),
        ("javascript:alert(1)", "a `javascript:` address"),
        ("about:config", "a `about:` address"),
        ("/relative", "an address without a scheme"),
    ],
)
def test_an_address_that_is_not_admitted_is_refused_before_contact(browser: PluginDriver, url: str, place: str) -> None:
    for method in ("check", "run"):
        code, message = browser.refused(method, "site", "open", url=url)
        assert (code, message) == ("origin_not_admitted", f"`url` leads to {place}, which is not admitted.")


# Elements


def test_a_form_is_filled_sent_and_answered(page: Any, site: Website) -> None:
    run = page("form")
    assert run("fill", selector="#name", value='A "quoted" <name>')["state"] == {"kind": "filled"}
    assert run("fill_private", selector="#password", field="password")["state"] == {"kind": "filled"}
    assert run("press", selector="#name", key="End")["state"] == {"kind": "pressed"}
    assert run("press", selector="#name", key="!")["status"] == "succeeded"
    assert run("click", selector="text=Send")["state"] == {"kind": "clicked"}
    assert run("wait", selector="#taken")["state"] == {"kind": "visible"}
    sent = parse_qs(site.requests[-1].path.partition("?")[2])
    assert sent == {"name": ['A "quoted" <name>!'], "password": [PASSWORD]}


def test_an_element_that_comes_later_is_waited_for_and_clicked_once(page: Any) -> None:
    run = page("later")
    assert run("click", selector="#late")["status"] == "succeeded"
    assert run("expect_text", selector="#text", includes="after")["status"] == "succeeded"
    assert run("expect_text", selector="#clicks", includes="1")["status"] == "succeeded"


@pytest.mark.parametrize(
    ("command", "arguments", "code", "words"),
    [
        ("click", {"selector": "#nowhere"}, "timeout", "in time"),
        ("wait", {"selector": "#hidden"}, "timeout", "in time"),
        ("expect_text", {"selector": "#nowhere", "includes": "x"}, "timeout", "in time"),
        ("fill", {"selector": "#nowhere", "value": ""}, "timeout", "in time"),
        ("click", {"selector": ".many"}, "expectation_failed", "matches 2 elements"),
        ("expect_text", {"selector": ".many", "includes": "first"}, "expectation_failed", "matches 2 elements"),
        ("fill", {"selector": "h1", "value": "x"}, "expectation_failed", "no field"),
        ("click", {"selector": "h1[["}, "invalid_arguments", "`selector` is none"),
        ("wait", {"selector": "sizzle=h1"}, "invalid_arguments", "`selector` is none"),
        ("press", {"selector": "h1", "key": "NoSuchKey"}, "invalid_arguments", "`key` is no key's name"),
    ],
)
def test_what_cannot_be_done_fails_by_its_reason(
    browser: PluginDriver, site: Website, command: str, arguments: dict[str, str], code: str, words: str
) -> None:
    browser.run("quick", "open", url=f"{site.origin}/")
    result = browser.run("quick", command, **arguments)
    assert (*told(result), words in result["message"]) == ("failed", code, True), result["message"]
    assert all(value not in result["message"] for name, value in arguments.items() if value and name != "key")


def test_an_optional_element_may_stay_away_or_be_clicked(page: Any) -> None:
    run = page("later")
    assert run("click", selector="#gone", optional="true")["state"] == {"kind": "clicked"}
    assert run("click", selector="#gone", optional="true")["state"] == {"kind": "absent"}


def test_a_text_that_does_not_include_what_it_has_to_is_shown_redacted(browser: PluginDriver, site: Website) -> None:
    browser.notify("secrets/learnt", {"values": ["Home"]})
    browser.run("quick", "open", url=f"{site.origin}/")
    result = browser.run("quick", "expect_text", selector="h1", includes="Elsewhere")
    assert told(result) == ("failed", "expectation_failed")
    assert result["state"] == {"kind": "text", "includes": False}
    assert result["facts"] == {"text": "[redacted]", "truncated": False}


def test_a_long_text_is_shown_by_its_beginning(browser: PluginDriver, site: Website) -> None:
    site.pages["long"] = f"<p>{'x' * 600}</p>"
    browser.run("quick", "open", url=f"{site.origin}/long")
    result = browser.run("quick", "expect_text", selector="p", includes="y")
    assert result["facts"] == {"text": "x" * 512, "truncated": True}


@pytest.mark.parametrize("leads_to", ["download", "no-content", "#here", "javascript:void 0"])
def test_a_click_that_leads_to_no_other_page_ends_at_once(
    page: Any, site: Website, browser: PluginDriver, leads_to: str
) -> None:
    site.pages["away"] = f"<a id=go href='{leads_to}'>go</a><a id=save download href='{leads_to}'>save</a>"
    run = page("away")
    began = time.monotonic()
    assert told(run("click", selector="#go")) == ("succeeded", None)
    assert told(run("click", selector="#save")) == ("succeeded", None)
    assert time.monotonic() - began < 10  # the deadline is fifteen seconds


def test_a_click_is_no_less_done_when_the_page_that_it_leads_to_does_not_come(
    browser: PluginDriver, site: Website
) -> None:
    site.pages["toward"] = "<a id=go href=/hang>go</a>"
    browser.run("quick", "open", url=f"{site.origin}/toward")
    assert told(browser.run("quick", "click", selector="#go")) == ("succeeded", None)
    assert told(browser.run("quick", "wait", selector="#never")) == ("failed", "timeout")


# Private values and pictures


def picture(result: dict[str, Any], name: str) -> Any:
    (artifact,) = result["artifacts"]
    assert set(artifact) == {"name", "base64"}
    assert artifact["name"] == name
    return read_png(base64.b64decode(artifact["base64"], validate=True))


def test_a_picture_blacks_out_private_fields_and_whatever_shows_their_values(page: Any) -> None:
    run = page("form", "camera")
    before = picture(run("screenshot", name="before"), "before.png")
    assert (before.width, before.height) == (1280, 720)
    white, black, blue = (255, 255, 255), (0, 0, 0), (0, 0, 255)
    places = {"name": 20, "password": 120, "other": 220, "echo": 420, "public": 520}
    assert before.pixel(290, places["password"]) == white
    assert before.pixel(290, places["echo"]) == (0, 255, 0)
    run("fill_private", selector="#password", field="password")
    after = picture(run("screenshot", name="after-1_x"), "after-1_x.png")
    assert {name: after.pixel(290, y) for name, y in places.items()} == {
        "name": white,
        "password": black,
        "other": black,
        "echo": black,
        "public": blue,
    }
    # Not one pixel of what was typed: the boxes are whole.
    assert {after.pixel(x, y) for x in range(300) for y in range(100, 140)} == {black}


def test_a_picture_blacks_out_hints_and_labels_that_show_a_private_value(browser: PluginDriver, site: Website) -> None:
    style = "position: absolute; left: 0; width: 300px; height: 40px; border: 0; background: white; top"
    site.pages["hints"] = (
        f"<input placeholder='{PASSWORD}' style='{style}: 0'><input placeholder=public style='{style}: 100px'>"
        f"<select style='{style}: 200px'><option value=1>{PASSWORD}</option></select>"
    )
    browser.run("camera", "open", url=f"{site.origin}/hints")
    shown = picture(browser.run("camera", "screenshot", name="hints"), "hints.png")
    assert [shown.pixel(250, y) for y in (20, 120, 220)] == [(0, 0, 0), (255, 255, 255), (0, 0, 0)]


def test_a_private_value_is_not_typed_into_a_page_of_another_origin(
    browser: PluginDriver, site: Website, other: Website
) -> None:
    site.pages["framed"] = f"<iframe src='{other.origin}/form' width=600 height=600></iframe>"
    browser.run("site", "open", url=f"{site.origin}/framed")
    inside = "iframe >> internal:control=enter-frame >> #password"
    assert browser.run("site", "wait", selector=inside)["status"] == "succeeded"
    result = browser.run("site", "fill_private", selector=inside, field="password")
    assert told(result) == ("failed", "origin_not_admitted")
    assert browser.run("site", "screenshot", name="frame")["status"] == "succeeded"


def test_only_a_field_takes_a_private_value_and_only_one_that_the_binding_has(page: Any, browser: PluginDriver) -> None:
    run = page("form")
    assert told(run("fill_private", selector="#send", field="password")) == ("failed", "expectation_failed")
    refused = browser.refused("check", "site", "fill_private", selector="#name", field="pin")
    assert refused == ("invalid_arguments", "`field` names no value of the binding's `private`.")
    # A plan may not know the binding: without one the step tells.
    params = step("fresh", "fill_private", selector="#name", field="pin")
    assert browser.ask("check", params)["result"] == {"effect": "mutate"}


def test_an_argument_with_a_private_value_is_refused(browser: PluginDriver, site: Website) -> None:
    for command, arguments in (
        ("fill", {"selector": "#x", "value": f"my {PASSWORD}"}),
        ("expect_text", {"selector": "#x", "includes": PASSWORD}),
        ("open", {"url": f"{site.origin}/?p=hunter2%20%26%20s%C3%B8n"}),
    ):
        code, message = browser.refused("check", "site", command, **arguments)
        assert (code, PASSWORD in message) == ("private_operand", False)


@pytest.mark.parametrize(
    ("command", "arguments", "words"),
    [
        ("open", {}, "`url` is required"),
        ("click", {"selector": ""}, "1 to 16384 characters"),
        ("click", {"selector": "x" * 16385}, "1 to 16384 characters"),
        ("fill", {"selector": "x", "value": "y" * 16385}, "0 to 16384 characters"),
        ("click", {"selector": "x", "optional": "yes"}, "`optional` is `true` or `false`"),
        ("screenshot", {"name": "UP"}, "`name` has 1 to 59"),
        ("screenshot", {"name": "../up"}, "`name` has 1 to 59"),
        ("screenshot", {"name": "x" * 60}, "`name` has 1 to 59"),
        ("fill_private", {"selector": "x", "field": "a b"}, "`field` is a letter"),
        ("click", {"selector": "x", "force": "true"}, "takes no argument `force`"),
    ],
)
def test_arguments_out_of_their_form_are_refused(
    browser: PluginDriver, command: str, arguments: dict[str, str], words: str
) -> None:
    code, message = browser.refused("check", "site", command, **arguments)
    assert (code, words in message) == ("invalid_arguments", True), message


# The browser's life


def test_a_command_before_any_page_is_open_is_not_connected(browser: PluginDriver) -> None:
    result = browser.run("fresh", "wait", selector="h1")
    assert told(result) == ("failed", "not_connected")
    assert "`open`" in result["message"]


def test_each_alias_is_a_browser_of_its_own(browser: PluginDriver, site: Website) -> None:
    site.pages["cookie"] = lambda request, peer: peer.reply(
        200, request.headers.get("cookie", "none").encode(), ("Set-Cookie", "a=1"), kind="text/html"
    )
    for alias in ("site", "quick"):
        browser.run(alias, "open", url=f"{site.origin}/cookie")
    browser.run("site", "open", url=f"{site.origin}/cookie")
    assert browser.run("site", "expect_text", selector="body", includes="a=1")["status"] == "succeeded"
    assert browser.run("quick", "expect_text", selector="body", includes="none")["status"] == "succeeded"


def driver_of(plugin: PluginDriver) -> int:
    """The process of a plugin's driver."""
    (driver,) = [pid for pid in children(plugin.process.pid) if command_line(pid).partition(" ")[0].endswith("/node")]
    return driver


def chromium_of(plugin: PluginDriver) -> list[int]:
    """The processes of a plugin's browsers, the oldest first."""
    return sorted(descendants(driver_of(plugin)))


def test_a_cancelled_command_ends_its_browser_and_another_open_starts_one(site: Website, temporary: Path) -> None:
    with PluginDriver(module=MODULE, environment={"TMPDIR": str(temporary)}) as plugin:
        plugin.initialize([site.origin], site={})
        plugin.run("site", "open", url=f"{site.origin}/")
        before = chromium_of(plugin)
        identity = plugin.send("run", step("site", "click", selector="#nowhere"))
        check = plugin.send("check", step("site", "wait", selector="h1"))
        assert plugin.reply()["id"] == check
        plugin.notify("cancel", {"id": identity})
        assert told(plugin.reply()["result"]) == ("failed", "cancelled")
        until(lambda: all(map(gone, before)))
        assert told(plugin.run("site", "wait", selector="h1")) == ("failed", "not_connected")
        assert plugin.run("site", "open", url=f"{site.origin}/")["status"] == "succeeded"
        # A browser that dies is noticed as well, and loses nobody's reply.
        identity = plugin.send("run", step("site", "wait", selector="#nowhere"))
        os.kill(chromium_of(plugin)[0], signal.SIGKILL)
        assert told(plugin.reply()["result"]) == ("failed", "reply_lost")
        assert told(plugin.run("site", "wait", selector="h1")) == ("failed", "not_connected")
        assert plugin.run("site", "open", url=f"{site.origin}/")["status"] == "succeeded"
        # So is the end of the driver, which takes its browsers along.
        identity = plugin.send("run", step("site", "wait", selector="#nowhere"))
        os.kill(driver_of(plugin), signal.SIGKILL)
        assert told(plugin.reply()["result"]) == ("failed", "reply_lost")
        assert told(plugin.run("site", "wait", selector="h1")) == ("failed", "not_connected")
        assert plugin.run("site", "open", url=f"{site.origin}/")["status"] == "succeeded"
        assert plugin.end() == 0
        assert plugin.diagnostics == b""


@pytest.mark.parametrize("how", ["input", "SIGTERM", "SIGKILL"])
def test_no_browser_outlives_the_plugin(site: Website, how: str) -> None:
    with short_folder() as folder, PluginDriver(module=MODULE, environment={"TMPDIR": str(folder)}) as plugin:
        plugin.initialize([site.origin], site={})
        plugin.run("site", "open", url=f"{site.origin}/")
        started = sorted(descendants(plugin.process.pid))
        assert len(started) > 2
        identity = plugin.send("run", step("site", "wait", selector="#nowhere"))
        if how == "input":
            assert plugin.end() == 0
        else:
            plugin.process.send_signal(signal.Signals[how])
            assert plugin.process.wait(timeout=20) == (-9 if how == "SIGKILL" else 0)
        until(lambda: all(map(gone, started)))
        if how != "SIGKILL":
            assert plugin.reply()["id"] == identity
            assert list(folder.iterdir()) == []


def test_a_plan_starts_no_browser(site: Website, tmp_path: Path) -> None:
    with PluginDriver(module=MODULE, environment={"TMPDIR": str(tmp_path)}) as plugin:
        plugin.initialize([site.origin], site={})
        assert plugin.ask("check", step("site", "open", url=f"{site.origin}/"))["result"] == {"effect": "observe"}
        assert descendants(plugin.process.pid) == set()
        assert plugin.end() == 0


# Without a browser


@pytest.mark.linux
def test_the_driver_and_the_browser_get_a_small_environment_and_work_in_a_folder_of_their_own(
    browser: PluginDriver, site: Website, temporary: Path
) -> None:
    browser.run("site", "open", url=f"{site.origin}/")
    for pid in descendants(browser.process.pid):
        try:
            environment = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
            place = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        names = {entry.partition(b"=")[0] for entry in environment}
        assert names & {b"DEBUG", b"http_proxy", b"PYTHONPATH", b"NODE_OPTIONS"} == set()
        assert not place.startswith(str(Path(__file__).resolve().parents[1]))
    assert all(entry.name.startswith("assay-") and entry.stat().st_mode & 0o77 == 0 for entry in temporary.iterdir())


def make_program(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_chromium_is_playwrights_own_then_the_named_one_then_the_systems(tmp_path: Path) -> None:
    own, named = make_program(tmp_path, "own"), make_program(tmp_path, "named")
    (tmp_path / "bin").mkdir()
    google = make_program(tmp_path / "bin", "google-chrome")
    path = {"PATH": str(tmp_path / "bin")}
    assert find_chromium(own, path | {"ASSAY_CHROMIUM": named}) == own
    assert find_chromium(str(tmp_path / "none"), path | {"ASSAY_CHROMIUM": named}) == named
    assert find_chromium("", path) == google
    assert find_chromium("", path) != make_program(tmp_path / "bin", "chromium") == find_chromium("", path)


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"PATH": "/nowhere"}, "No Chromium was found."),
        ({"PATH": "/nowhere", "ASSAY_CHROMIUM": "/nowhere/chromium"}, "ASSAY_CHROMIUM names no program"),
    ],
)
def test_without_chromium_it_says_what_to_install(environment: dict[str, str], words: str) -> None:
    with pytest.raises(Failed) as raised:
        find_chromium("", environment)
    assert raised.value.failure.code == "browser_missing"
    assert words in raised.value.failure.message
    assert "playwright install chromium" in raised.value.failure.message


def test_a_long_temporary_folder_is_no_obstacle(site: Website, tmp_path: Path) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    with PluginDriver(module=MODULE, environment={"TMPDIR": str(long)}) as plugin:
        plugin.initialize([site.origin], site={})
        assert plugin.run("site", "open", url=f"{site.origin}/")["status"] == "succeeded"
        assert plugin.end() == 0


def test_a_browser_that_does_not_start_is_told_without_its_output(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho private-output-of-chromium >&2\nexit 7\n")
    program.chmod(0o755)
    environment = {"TMPDIR": str(tmp_path), "ASSAY_CHROMIUM": str(program), "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path)}
    with PluginDriver(module=MODULE, environment=environment) as plugin:
        plugin.initialize(["http://127.0.0.1:9"], site={})
        result = plugin.run("site", "open", url="http://127.0.0.1:9/")
        assert told(result) == ("failed", "browser_missing")
        assert "did not start" in result["message"]
        assert plugin.end() == 0
        assert b"private-output" not in plugin.seen + plugin.diagnostics
        assert sorted(tmp_path.iterdir()) == [program]


@pytest.mark.parametrize(
    ("configuration", "words"),
    [
        ("x", "is not an object"),
        ({"browser": "firefox"}, "`browser` of the binding `b` must be `chromium`"),
        ({"headless": False}, "unknown field `headless`"),
        ({"private": []}, "must be an object of at most 64 members"),
        ({"private": {f"f{number}": "long enough" for number in range(65)}}, "must be an object of at most 64 members"),
        ({"private": {"pin": "abc"}}, "strings of 4 to 16384 characters"),
        ({"private": {"pin": "x" * 16385}}, "strings of 4 to 16384 characters"),
        ({"private": {"pin": 1234}}, "strings of 4 to 16384 characters"),
        ({"private": {"1pin": "long enough"}}, "has a name that is no letter"),
        ({"timeoutMs": 99}, "must be an integer from 100 to 600000"),
    ],
)
def test_a_wrong_binding_is_refused_and_quoted_nowhere(configuration: Any, words: str) -> None:
    with pytest.raises(Failed) as raised:
        read_binding("b", configuration)
    assert raised.value.failure.code == "invalid_binding"
    assert words in raised.value.failure.message
    assert "long enough" not in raised.value.failure.message


def test_a_binding_may_be_empty_and_shows_nothing_of_itself() -> None:
    assert tuple(read_binding("b", {})) == (None, 15.0)
    assert repr(read_binding("b", {"private": {"pin": "1234"}})) == "<Binding>"


@pytest.mark.parametrize(
    ("effect", "acting", "expected"),
    [("mutate", True, "unknown"), ("mutate", False, "failed"), ("observe", True, "failed")],
)
@pytest.mark.parametrize(
    ("text", "timeout", "over", "code"),
    [
        ("Timeout 30000ms exceeded", True, False, "timeout"),
        ("Target page, context or browser has been closed", False, True, "reply_lost"),
        ("net::ERR_CONNECTION_REFUSED at http://secret/", False, False, "unreachable"),
        ("net::ERR_CERT_AUTHORITY_INVALID at https://secret/", False, False, "tls_failed"),
        ("something about http://secret/", False, False, "expectation_failed"),
    ],
)
def test_what_broke_off_is_unknown_only_where_it_may_have_changed_something(
    text: str, timeout: bool, over: bool, code: str, effect: Any, acting: bool, expected: str
) -> None:
    outcome = explain(text, effect, timeout=timeout, over=over, acting=acting)
    assert (outcome.status, outcome.code) == (expected, code)
    assert "secret" not in outcome.message
