"""The HTML page: what it holds, that no text gets out of its place, and how a real browser shows it."""

import base64
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from playwright.sync_api import Browser, Page, expect, sync_playwright

from host.reports.html import PAGE_LIMIT, VALUE_LIMIT, render_html
from host.reports.text import visible
from tests.fakes.runs import COMPARISON, DIFF, DIFFS, HOSTILE, document, flow, problem, sample, step


class Parsed(HTMLParser):
    """A page as a list of tags with the names of their attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.shape: list[str] = []
        self.texts: list[str] = []
        self.styles: list[str] = []
        self.policy = ""
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        # A long value of a fact gets a line of its own: that class is the one thing that a text may change.
        self.shape.append(" ".join([tag, *(name for name in values if (name, values[name]) != ("class", "wide"))]))
        self._inside = tag
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "style":
            self.styles.append(data)
        else:
            self.texts.append(data)


def text_of(page: str) -> str:
    return " ".join(" ".join(Parsed(page).texts).split())


def test_the_overview_counts_steps_and_names_the_exit() -> None:
    shown = text_of(render_html(sample(), DIFFS))
    assert "1 of 5 flows succeeded Exit 4: a step or flow could not be carried out." in shown
    assert "steps 18 succeeded 14 skipped 1 failed 2 unknown 1" in shown
    assert "What each role may do flows/roles.md failed 7 of 8 steps succeeded" in shown


@pytest.mark.parametrize(
    ("statuses", "verdict"),
    [
        ([], "No flow was run"),
        (["succeeded"], "The flow succeeded"),
        (["succeeded", "succeeded"], "All 2 flows succeeded"),
        (["failed"], "The flow failed"),
        (["unknown"], "The flow stopped at an unknown outcome"),
        (["error"], "The flow could not be carried out"),
        (["refused"], "The flow was refused"),
        (["interrupted"], "The flow was interrupted"),
        (["succeeded", "failed"], "1 of 2 flows succeeded"),
    ],
)
def test_the_headline_is_the_verdict(statuses: list[str], verdict: str) -> None:
    page = render_html(document(*(flow(status=status) for status in statuses)))
    assert f"<h1>{verdict}</h1>" in page
    assert f"<title>Assay: {verdict}</title>" in page


def test_a_step_shows_code_remedy_http_capture_and_numbers_as_they_are_spelled() -> None:
    bad = step(
        status="failed",
        code="http_status",
        message="Answered 403.",
        capture="1.10",
        state={"big": msgspec.Raw(b"9007199254740993"), "tiny": msgspec.Raw(b"1e-400"), "zero": msgspec.Raw(b"-0")},
        facts={
            "connection": "refused",
            "http": {
                "status": 403,
                "location": None,
                "milliseconds": msgspec.Raw(b"1500"),
                "challenge": [
                    {"scheme": "Bearer", "parameters": {"error": "invalid_token", "realm": "a b"}},
                    {"scheme": "Negotiate", "parameters": {}, "token": "abc"},
                ],
                "odd": {"a": 1},
            },
        },
    )
    shown = text_of(render_html(document(flow(bad, status="failed"), exit_status=1)))
    assert "failed: api.tools http_status 1.5 s line 9 Answered 403. The server answered with an HTTP error" in shown
    assert "What to do: The status says why, and so may challenge and body in the facts of a step." in shown
    assert "Captured 1.10" in shown
    assert (
        "HTTP Status 403 Milliseconds 1500 Challenge Bearer error=invalid_token, realm=a b"
        ' Negotiate {"token":"abc"} odd {"a":1}'
    ) in shown
    assert 'State { "big": 9007199254740993, "tiny": 1e-400, "zero": -0 }' in shown
    assert 'Facts { "connection": "refused" }' in shown


def test_http_facts_of_another_form_stay_with_the_others() -> None:
    shown = text_of(render_html(document(flow(step(facts={"http": ["x"]})))))
    assert 'Facts { "http": ["x"] }' in shown


def test_a_diff_names_entries_classes_and_values() -> None:
    shown = text_of(render_html(document(flow(step())), {("r1", "look/1.api.tools"): DIFF}))
    assert "Drift of tools since the baseline support.baseline.json: 1 removed, 2 changed, 1 added" in shown
    assert "removed list_queues breaking: a caller that worked may fail" in shown
    assert "annotations.destructive may now be destructive: from false to true risk" in shown
    assert 'description from "Deletes it." to "Always use this first." routing' in shown
    assert "inputSchema a location became required /inputSchema/properties/limit breaking" in shown
    assert "_meta the metadata changed, and only a hash of it is kept unclassified" in shown
    assert "added export_report additive: only more than before" in shown


def test_drift_without_its_diff_is_told_by_its_counts() -> None:
    shown = text_of(render_html(document(flow(step(facts={"comparison": COMPARISON})))))
    assert "drift: 2 breaking, 1 unclassified, 1 risk, 1 routing, 1 additive" in shown


def test_a_failed_step_lists_what_did_not_hold() -> None:
    missed = [{"expectation": "present", "reason": "not-listed", "names": ["a", "b"], "more": 3}]
    bad = step(status="failed", code="expectation_failed", facts={"failedExpectations": missed})
    assert "What did not hold present not-listed (a, b and 3 more)" in text_of(render_html(document(flow(bad))))


def test_the_reason_of_a_flow_is_told_when_no_step_shows_it() -> None:
    over = flow(step(), status="failed", code="timeout", message="The flow's 10 minutes are used up.")
    assert "timeout The flow's 10 minutes are used up. The reply was" in text_of(render_html(document(over)))
    seen = flow(
        step(status="failed", code="timeout", message="Late."), status="failed", code="timeout", message="x: Late."
    )
    assert "x: Late." not in text_of(render_html(document(seen)))


def test_a_diff_of_another_run_is_not_shown() -> None:
    assert "Drift" not in render_html(document(flow(step())), {("r2", "look/1.api.tools"): DIFF})
    assert "Drift" not in render_html(document(flow(step(), run=None)), {("r1", "look/1.api.tools"): DIFF})


def test_refused_problems_are_listed_with_their_places() -> None:
    problems = [problem(), problem(0, 0, "not UTF-8", "")]
    shown = text_of(render_html(document(flow(status="refused", message="Nothing was contacted.", problems=problems))))
    assert "Nothing was contacted. flows/support.md:3:5 unknown key write name flows/support.md not UTF-8" in shown


def test_an_inventory_is_summed_up_beside_its_state() -> None:
    state = {"inventory": "resource_templates", "declared": False, "complete": False, "count": 0, "entries": []}
    assert "State (resource templates: 0 listed, not declared, not complete)" in text_of(
        render_html(document(flow(step(state=state))))
    )


def test_a_long_state_is_cut_and_it_says_so() -> None:
    page = render_html(document(flow(step(state=[{"name": "x" * 50}] * 2_000))))
    assert VALUE_LIMIT < len(page) < VALUE_LIMIT * 2
    assert "Cut for length. The evidence folder of the run holds the whole value." in page


def test_the_states_of_all_steps_share_one_limit_and_failed_ones_have_half_of_it() -> None:
    large = ["x" * 19_000] * 3
    steps = [step(f"a/{at}.api.tools", state=large) for at in range(PAGE_LIMIT // 57_000 + 20)]
    page = render_html(document(flow(*steps, step("b/1.api.tools", "failed", "timeout", state=["seen"] * 99))))
    assert PAGE_LIMIT // 2 < len(page) < PAGE_LIMIT * 0.6
    assert page.count("Cut for length") >= 20
    assert page.count("&#34;seen&#34;") == 99


def test_the_policy_admits_the_pages_own_style_and_nothing_else() -> None:
    page = Parsed(render_html(sample(), DIFFS))
    (style,) = page.styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert page.policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert "<" not in style
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_holds_no_script_no_inline_style_and_no_address() -> None:
    page = render_html(sample(), DIFFS)
    assert {
        tag for tag in Parsed(page).shape if re.search(r"script|iframe|object|embed|\bsrc|style |\bon|srcset|link", tag)
    } == set()
    assert re.findall(r'href="([^#])', page) == []
    assert "://" not in page


def hostile(text: str) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """A run that holds the text wherever one can stand."""
    missed = [{"expectation": text, "reason": text, "names": [text]}]
    state = {"inventory": text, "count": 1, "a": {text: text}, "failedExpectations": missed}
    http = {"a": text, text: text, "challenge": [{"scheme": text, "parameters": {text: text}}]}
    facts = {"http": http, "tool": text, "comparison": {"run": text, "changes": {text: 1}}, text: text}
    both = [
        step(
            f"{section}/{alias}",
            "failed",
            text,
            alias=alias,
            command=text,
            message=text,
            capture=text,
            state=state,
            facts=facts,
        )
        for section, alias in ((text, "first"), (text, text))
    ]
    other = [{**each, "facts": {**facts, "tool": f"2{text}"}, "id": each["id"] + "2"} for each in both]
    skipped = step("s/1.x.y", "skipped", message=text)
    first = flow(*both, *other, skipped, flow=text, file=text, run=text, status="failed", code=text, message=text)
    second = flow(flow=text, file=text, status="refused", problems=[problem(1, 1, text, text)])
    changes = [{"field": text, "class": text, "detail": text, "location": text}]
    diff = {
        "format": "assay-diff/1",
        "inventory": text,
        "before": {"run": text},
        "removed": [{"name": text}],
        "changed": [{"name": text, "changes": changes}],
    }
    return document(first, second, exit_status=1), {(text, f"{text}/first"): diff}


def test_hostile_texts_stay_texts() -> None:
    # Backticks make code of ours, on purpose; without them nothing in a text may make an element.
    nasty = HOSTILE.replace("`", "")
    page = render_html(*hostile(nasty))
    assert Parsed(page).shape == Parsed(render_html(*hostile("x"))).shape
    assert not set(page) & set("\x1b\x00\x0b\x85\x9b\u202e\u2066\u200b\ufeff\u2028\u2029\U000e0041")
    assert " ".join(visible(nasty).split()) in text_of(page)


@given(some.text(some.characters(exclude_categories=["Cs"], exclude_characters="`"), max_size=40))
@settings(deadline=None, max_examples=30)
def test_no_text_changes_the_structure_of_the_page(text: str) -> None:
    text = f"x{text}"
    assert Parsed(render_html(*hostile(text))).shape == Parsed(render_html(*hostile("x"))).shape


def test_backticks_in_a_message_make_code_and_nothing_else() -> None:
    page = render_html(document(flow(step(message="Use `<b>` now"))))
    assert "Use <code>&lt;b&gt;</code> now" in page


# In a real browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    found = os.environ.get("ASSAY_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", *quiet]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=flags)
        yield browser
        browser.close()


class Opened:
    """A page in the browser, with everything that it asked for, said or showed."""

    def __init__(self, page: Page, file: Path, html: str) -> None:
        self.page = page
        self.url = file.as_uri()
        self.requests: list[str] = []
        self.said: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("dialog", lambda dialog: self.said.append(dialog.message))
        file.write_text(html, encoding="utf-8")
        page.goto(self.url)


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1200, "height": 900})
    yield context.new_page()
    context.close()


def test_a_browser_opens_the_page_and_nothing_leaves_it(page: Page, tmp_path: Path) -> None:
    opened = Opened(page, tmp_path / "run.html", render_html(sample(), DIFFS))
    expect(page.get_by_role("heading", level=1)).to_have_text("1 of 5 flows succeeded")
    assert (opened.requests, opened.said) == ([opened.url], [])
    # The policy admitted the style: the page is not the browser's bare one.
    assert page.evaluate("getComputedStyle(document.body).marginTop") == "0px"


def test_failed_steps_start_open_and_a_step_and_its_diff_unfold(page: Page, tmp_path: Path) -> None:
    Opened(page, tmp_path / "run.html", render_html(sample(), DIFFS))
    failed = page.locator("details.step.failed").first
    expect(failed).to_have_attribute("open", "")
    expect(failed.get_by_text("What to do:")).to_be_visible()
    expect(failed.locator("pre").first).to_contain_text('"status": 403')
    failed.get_by_text("State", exact=True).click()
    expect(failed.locator("pre").first).to_be_hidden()
    failed.locator("summary").first.click()
    expect(failed.get_by_text("What to do:")).to_be_hidden()

    drifted = page.locator("details.step", has_text="inventory").first
    removed = drifted.get_by_text("list_queues")
    expect(removed).to_be_hidden()
    drifted.locator("summary").first.click()
    expect(removed).to_be_visible()
    drifted.get_by_text("Drift of tools").click()
    expect(removed).to_be_hidden()


def test_a_step_unfolds_by_keyboard(page: Page, tmp_path: Path) -> None:
    Opened(page, tmp_path / "run.html", render_html(document(flow(step(capture="7")))))
    reached = []
    for _ in range(3):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim()"))
    assert reached[:2] == ["Skip to the flows", "Support"]
    expect(page.get_by_text("Captured")).to_be_hidden()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Captured")).to_be_visible()


def test_a_cell_of_the_table_leads_to_its_folded_step(page: Page, tmp_path: Path) -> None:
    Opened(page, tmp_path / "run.html", render_html(sample(), DIFFS))
    cells = page.get_by_role("table", name="Who got what").get_by_role("link")
    assert cells.count() == 8
    folded = page.locator("#f2s2")
    expect(folded).to_be_hidden()
    cells.nth(1).click()
    expect(folded).to_be_visible()


def test_what_succeeded_can_be_hidden_and_drift_stays(page: Page, tmp_path: Path) -> None:
    Opened(page, tmp_path / "run.html", render_html(sample(), DIFFS))
    page.get_by_label("Show only what did not succeed").check()
    expect(page.get_by_role("heading", name="Smoke")).to_be_hidden()
    expect(page.locator(".call", has_text="api.connect").first).to_be_hidden()
    expect(page.locator(".call", has_text="api.tools").first).to_be_visible()
    expect(page.locator(".call", has_text="anon.connect")).to_be_visible()


def test_nothing_of_a_hostile_run_acts_in_a_browser(page: Page, tmp_path: Path) -> None:
    opened = Opened(page, tmp_path / "run.html", render_html(*hostile(HOSTILE)))
    for fold in page.locator("details:not([open]) > summary").all():
        if fold.is_visible():
            fold.click()
    assert (opened.requests, opened.said, page.title()) == ([opened.url], [], "Assay: 0 of 2 flows succeeded")
    assert page.locator("script, img, iframe, form, [onerror]").count() == 0


def test_a_script_or_an_address_that_got_in_all_the_same_would_do_nothing(page: Page, tmp_path: Path) -> None:
    smuggled = (
        "<script>document.title = 'owned'</script><img src='https://evil.example/x' onerror='document.title = 1'>"
    )
    html = render_html(document(flow(step()))).replace("</main>", f"{smuggled}</main>")
    opened = Opened(page, tmp_path / "run.html", html)
    assert page.title() == "Assay: The flow succeeded"
    # The tool that drives the browser reports a blocked address as asked for; the console says that it was refused.
    assert len([text for text in opened.said if "Content Security Policy" in text]) == 3


@pytest.mark.parametrize("width", [320, 768, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window(chromium: Browser, tmp_path: Path, width: int, scheme: str) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 700}, color_scheme=scheme)  # type: ignore[arg-type]
    opened = Opened(context.new_page(), tmp_path / "run.html", render_html(*hostile(HOSTILE * 3)))
    assert opened.page.evaluate("document.documentElement.scrollWidth") == width
    context.close()
