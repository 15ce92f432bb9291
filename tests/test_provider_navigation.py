"""Whatever navigates a page, it reaches admitted origins only: each way out is tried, and nobody else is asked."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.providers.browser.admission import Admission, place
from tests.fakes.pages import Website
from tests.fakes.plugin_driver import PluginDriver

MODULE = "host.providers.browser"
#: What a server answers that wants to be shown ahead of a click.
WILLING = ("Supports-Loading-Mode", "credentialed-prerender")


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Website]:
    """A website of an origin that is not admitted. Its paths that begin with `in` are loaded by pages, not shown."""
    served = Website(x="<p>reached</p>", out=(302, (("Location", "/x"),)), worker=(200, ()))
    with served:
        yield served


@pytest.fixture(scope="module")
def site(elsewhere: Website) -> Iterator[Website]:
    away = f"{elsewhere.origin}/x"
    served = Website()
    home = f"http://localhost:{served.port}"
    served.pages |= {
        "": "<p id=home>home</p>",
        "two": "<p id=two>two</p>",
        "three": f"<p id=three>three</p><a id=go href='{away}'>go</a>",
        "redirect": (302, (("Location", away),)),
        "kept": (307, (("Location", away),)),
        "around": (302, (("Location", f"{home}/redirect"),)),
        "inside": (302, (("Location", f"{home}/two"),)),
        "file": (302, (("Location", "file:///etc/passwd"),)),
        "meta": f"<meta http-equiv=refresh content='0;url={away}'>",
        "header": lambda request, peer: peer.reply(200, b"x", ("Refresh", f"0;url={away}"), kind="text/html"),
        "script": f"<script>location.href = '{away}'</script>",
        "history": f"<script>history.pushState(0, '', '/two'); location.replace('{away}')</script>",
        "frame": f"<iframe src='{home}/breaker' width=300 height=300></iframe>",
        "breaker": f"<a id=go target=_top href='{away}'>go</a>",
        "link": f"<a id=go href='{away}'>go</a>",
        "redirected": "<a id=go href=/redirect>go</a>",
        "download": f"<a id=go download href='{away}'>go</a>",
        "downloaded": "<a id=go download href=/redirect>go</a>",
        "form": f"<form method=post action='{away}'><input name=a value=b><button id=go>go</button></form>",
        "reposted": "<form method=post action=/kept><input name=a value=b><button id=go>go</button></form>",
        "blank": f"<a id=go target=_blank href='{away}'>go</a>",
        "named": f"<a id=go target=other href='{away}'>go</a>",
        "opener": f"<a id=go target=_blank rel=opener href='{away}'>go</a>",
        "window": f"<button id=go onclick=\"window.open('{away}')\">go</button>",
        "windowed": "<button id=go onclick=\"window.open('/redirect')\">go</button>",
        "empty": f"<button id=go onclick=\"w = window.open('about:blank'); w.location = '{away}'\">go</button>",
        "post": f"<form method=post target=_blank action='{away}'><button id=go>go</button></form>",
        "admitted": "<a id=go target=_blank href=/two>go</a>",
        "data": "<a id=go href='data:text/html,<p id=two>x</p>'>go</a>",
        "local": "<a id=go href='file:///etc/passwd'>go</a>",
        "mail": "<a id=go href='mailto:somebody@example.com'>go</a>",
        "speculation": _speculation(away, "/redirect"),
        "worker": f"""<p id=said>?</p><script>navigator.serviceWorker.register('/worker.js')
            .then(() => said.textContent = 'registered', () => said.textContent = 'refused');
            setTimeout(() => location.href = '{away}', 300)</script>""",
        "worker.js": lambda request, peer: peer.reply(
            200, b"self.addEventListener('fetch', e => 0)", kind="text/javascript"
        ),
    }
    with served:
        yield served


def _speculation(*urls: str) -> str:
    listed = ",".join(f'"{url}"' for url in urls)
    rules = (
        f'{{"prerender":[{{"source":"list","urls":[{listed}]}}],"prefetch":[{{"source":"list","urls":[{listed}]}}]}}'
    )
    links = "".join(f"<link rel=prerender href='{url}'>" for url in urls)
    return f"<script type=speculationrules>{rules}</script>{links}<a id=go href='{urls[0]}'>go</a>"


@pytest.fixture(scope="module")
def browser(site: Website) -> Iterator[PluginDriver]:
    with PluginDriver(module=MODULE) as plugin:
        # Two origins of two sites: a navigation between them changes the process that shows the page.
        assert "result" in plugin.initialize([site.origin, f"http://localhost:{site.port}"], site={"timeoutMs": 5000})
        yield plugin
        assert plugin.end() == 0
        assert bytes(plugin.diagnostics) == b""


@pytest.fixture
def at(browser: PluginDriver, site: Website) -> Any:
    """Opens a page, and returns its outcome."""

    def opened(path: str) -> dict[str, Any]:
        return browser.run("site", "open", url=f"{site.origin}/{path}")

    return opened


def refused(result: dict[str, Any], elsewhere: Website) -> str:
    """Hold a result to its refusal, and return the message."""
    assert (result["status"], result["code"]) == ("failed", "origin_not_admitted"), result
    assert result["facts"] == {"blocked": elsewhere.origin}
    return str(result["message"])


@pytest.mark.parametrize("path", ["redirect", "kept", "around", "meta", "header", "script", "history"])
def test_a_page_that_leads_away_by_itself_is_stopped(
    at: Any, browser: PluginDriver, elsewhere: Website, path: str
) -> None:
    told = refused(at(path), elsewhere)
    assert told == f"The page tried to go to {elsewhere.origin}, which is not admitted."
    assert elsewhere.requests == []
    # The page is where it was, and the alias goes on.
    assert at("two")["status"] == "succeeded"


@pytest.mark.parametrize("path", ["link", "redirected", "download", "downloaded", "form", "reposted"])
def test_a_click_that_leads_away_is_stopped(at: Any, browser: PluginDriver, elsewhere: Website, path: str) -> None:
    assert at(path)["status"] == "succeeded"
    told = refused(browser.run("site", "click", selector="#go"), elsewhere)
    assert told == f"The page tried to go to {elsewhere.origin}, which is not admitted."
    assert elsewhere.requests == []
    assert browser.run("site", "wait", selector="#go")["status"] == "succeeded"


@pytest.mark.parametrize("path", ["blank", "named", "opener", "window", "post"])
def test_a_second_window_is_refused_at_its_first_request(
    at: Any, browser: PluginDriver, elsewhere: Website, path: str
) -> None:
    assert at(path)["status"] == "succeeded"
    told = refused(browser.run("site", "click", selector="#go"), elsewhere)
    assert told == f"The page tried to open a second window to {elsewhere.origin}; this browser has one page."
    assert elsewhere.requests == []


def test_a_second_window_is_refused_also_where_it_would_show_an_admitted_page(
    at: Any, browser: PluginDriver, site: Website, elsewhere: Website
) -> None:
    for path in ("admitted", "windowed"):
        at(path)
        seen = len(site.requests)
        told = browser.run("site", "click", selector="#go")
        assert told["message"] == f"The page tried to open a second window to {site.origin}; this browser has one page."
        assert len(site.requests) == seen
    assert elsewhere.requests == []


def test_a_second_window_that_begins_empty_is_refused_before_it_can_go_on(
    at: Any, browser: PluginDriver, elsewhere: Website
) -> None:
    at("empty")
    result = browser.run("site", "click", selector="#go")
    if result["status"] == "succeeded":
        # Such a window makes no request that could be refused, so it is noticed a moment later.
        result = browser.run("site", "click", selector="#nowhere", optional="true")
    assert result["code"] == "origin_not_admitted"
    assert result["facts"]["blocked"] in ("a blank page", elsewhere.origin)
    assert elsewhere.requests == []


@pytest.mark.parametrize("path", ["data", "local", "mail"])
def test_an_address_without_a_server_is_not_shown(at: Any, browser: PluginDriver, path: str) -> None:
    at(path)
    browser.run("site", "click", selector="#go")
    assert browser.run("site", "wait", selector="#go")["status"] == "succeeded"


def test_a_redirect_to_a_file_is_not_followed(at: Any) -> None:
    assert at("file")["status"] == "failed"


def test_a_frame_of_an_admitted_origin_cannot_lead_the_page_away(
    at: Any, browser: PluginDriver, elsewhere: Website
) -> None:
    at("frame")
    refused(browser.run("site", "click", selector="iframe >> internal:control=enter-frame >> #go"), elsewhere)
    assert elsewhere.requests == []


def test_a_navigation_between_admitted_sites_is_followed_and_the_guard_goes_along(
    at: Any, browser: PluginDriver, site: Website, elsewhere: Website
) -> None:
    assert at("inside")["status"] == "succeeded"
    assert browser.run("site", "wait", selector="#two")["status"] == "succeeded"
    assert browser.run("site", "open", url=f"http://localhost:{site.port}/three")["status"] == "succeeded"
    refused(browser.run("site", "click", selector="#go"), elsewhere)
    assert elsewhere.requests == []


def test_nothing_is_fetched_or_shown_ahead_of_a_click(at: Any, browser: PluginDriver, elsewhere: Website) -> None:
    elsewhere.pages["x"] = lambda request, peer: peer.reply(200, b"<p>reached</p>", WILLING, kind="text/html")
    at("speculation")
    # Long enough for a page to be prepared: a prepared one would come up without a request that can be stopped.
    assert browser.run("site", "click", selector="#nowhere", optional="true")["status"] == "succeeded"
    assert elsewhere.requests == []
    refused(browser.run("site", "click", selector="#go"), elsewhere)
    assert elsewhere.requests == []


def test_no_service_worker_stands_between_a_page_and_its_guard(
    at: Any, browser: PluginDriver, site: Website, elsewhere: Website
) -> None:
    at("worker")
    assert browser.run("site", "click", selector="#nowhere", optional="true")["code"] == "origin_not_admitted"
    assert "/worker.js" not in site.paths
    assert elsewhere.requests == []


def test_what_was_stopped_between_two_commands_is_told_by_the_next_one(
    at: Any, browser: PluginDriver, site: Website, elsewhere: Website
) -> None:
    site.pages["slow"] = (
        f"<p id=here>x</p><script>setTimeout(() => location.href = '{elsewhere.origin}/x', 400)</script>"
    )
    assert at("slow")["status"] == "succeeded"
    results = [browser.run("site", "wait", selector="#here")]
    while results[-1]["status"] == "succeeded":
        results.append(browser.run("site", "wait", selector="#here"))
    told = refused(results[-1], elsewhere)
    assert told in (
        f"The page tried to go to {elsewhere.origin}, which is not admitted.",
        f"The page tried to go to {elsewhere.origin}, which is not admitted. Nothing of this step was done.",
    )
    assert elsewhere.requests == []
    assert browser.run("site", "wait", selector="#here")["status"] == "succeeded"


def test_what_a_page_loads_from_elsewhere_is_not_a_navigation(
    at: Any, browser: PluginDriver, site: Website, elsewhere: Website
) -> None:
    site.pages["assets"] = (
        f"<p id=here>x</p><img src='{elsewhere.origin}/in.png'><iframe src='{elsewhere.origin}/in'></iframe>"
    )
    assert at("assets")["status"] == "succeeded"
    elsewhere.wait_for(lambda server: len(server.requests) >= 2)
    assert sorted(elsewhere.paths) == ["/in", "/in.png"]
    assert at("two")["status"] == "succeeded"


# Admission, pure

CONSENT = "http://auth.example:80/authorize?redirect_uri="


@pytest.mark.parametrize(
    ("url", "admitted", "trusted"),
    [
        ("http://a.example/x", True, True),
        ("HTTP://A.EXAMPLE:80/x?y#z", True, True),
        ("http://a.example:81/", False, False),
        ("https://a.example/", False, False),
        ("http://a.example.evil.example/", False, False),
        ("http://a.example@evil.example/", False, False),
        ("http://user@a.example/", False, False),
        # A backslash is a slash to a browser (WHATWG URL), so what follows it is a path.
        ("http://a.example\\@evil.example/", True, True),
        ("blob:http://a.example/1-2-3", False, False),
        ("filesystem:http://a.example/x", False, False),
        ("about:blank", True, False),
        ("", True, False),
        ("about:srcdoc", False, False),
        ("chrome://settings", False, False),
        ("http://", False, False),
        (f"http://a.example/{'x' * 100_000}", True, True),
    ],
)
def test_a_url_is_admitted_by_its_origin_alone(url: str, admitted: bool, trusted: bool) -> None:
    admission = Admission(frozenset({"http://a.example:80"}))
    assert (admission.admits(url), admission.trusts(url)) == (admitted, trusted)


@pytest.mark.parametrize(
    ("redirect_uri", "callback", "admitted"),
    [
        ("http%3A%2F%2F127.0.0.1%3A5000%2Fcallback", "http://127.0.0.1:5000/callback?code=1&state=2", True),
        ("http%3A%2F%2F127.0.0.1%3A5000%2Fcallback", "http://127.0.0.1:5000/done", True),
        ("http%3A%2F%2F127.0.0.1%3A5000%2Fcallback", "http://127.0.0.1:5000/other", False),
        ("http%3A%2F%2F127.0.0.1%3A5000%2Fcallback", "http://127.0.0.1:5001/callback", False),
        ("http%3A%2F%2F127.0.0.1%3A5000%2Fcallback", "http://localhost:5000/callback", False),
        ("http://localhost:5000/cb", "http://localhost:5000/cb", True),
        ("http://[::1]:5000/cb", "http://[::1]:5000/cb", True),
        ("http://192.0.2.1:5000/cb", "http://192.0.2.1:5000/cb", False),
        ("http://evil.example/cb", "http://evil.example/cb", False),
        ("app://callback", "app://callback", False),
        ("http://127.0.0.1:1/a&redirect_uri=http://127.0.0.1:2/b", "http://127.0.0.1:1/a", False),
        ("", "http://127.0.0.1:5000/callback", False),
    ],
)
def test_a_callback_is_admitted_while_signing_in_and_trusted_with_nothing(
    redirect_uri: str, callback: str, admitted: bool
) -> None:
    admission = Admission(frozenset({"http://auth.example:80"}))
    admission.begin(CONSENT + redirect_uri)
    assert (admission.admits(callback), admission.trusts(callback)) == (admitted, False)
    admission.end()
    assert admission.admits(callback) is False
    assert admission.admits("http://auth.example/") is True


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40), st.sampled_from(["", "http://", "https://", "http://a.example", "blob:"]))
def test_any_text_has_a_place_and_an_answer(text: str, beginning: str) -> None:
    url = beginning + text
    admission = Admission(frozenset({"http://a.example:80"}))
    assert admission.trusts(url) <= admission.admits(url)
    admission.begin(url)
    named = place(url)
    assert named.startswith(("http://", "https://", "a `", "a blank page", "an address"))
    assert len(named) < 120
