"""GitHub Actions: annotations as the runner decodes them, and a job summary that nothing gets out of."""

from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from markdown_it import MarkdownIt

from host.reports.github import SUMMARY_LIMIT, annotations, summary
from host.reports.text import visible
from tests.fakes.runs import COMPARISON, DIFF, DIFFS, HOSTILE, document, flow, problem, sample, step


def decoded(command: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does: level, properties, message."""
    assert command.startswith("::")
    head, _, data = command[2:].partition("::")
    level, _, rest = head.partition(" ")
    pairs = (pair.partition("=") for pair in rest.split(",") if pair)
    properties = {name: unescaped(value, "%0D\r", "%0A\n", "%3A:", "%2C,", "%25%") for name, _, value in pairs}
    return level, properties, unescaped(data, "%0D\r", "%0A\n", "%25%")


def unescaped(text: str, *codes: str) -> str:
    for code in codes:
        text = text.replace(code[:3], code[3:])
    return text


def test_a_failed_step_is_an_error_on_its_line_with_what_to_do() -> None:
    run = document(
        flow(step(status="failed", code="timeout", message="50% of it, line: 1\nthen none"), status="failed")
    )
    assert annotations(run) == [
        (
            "::error file=flows/support.md,line=9,title=Support%3A api.tools failed (timeout)::"
            "50%25 of it, line: 1%0Athen none%0A"
            "The reply was not complete within the deadline; keepalives do not extend it. "
            "Raise `timeoutMs` in the binding if the server may take that long."
        )
    ]


def test_properties_are_escaped_more_than_messages() -> None:
    run = document(
        flow(flow="a,b:c%", file="flows/a,b:c%.md", status="refused", problems=[problem(3, 5, "a,b:c%", "")])
    )
    assert annotations(run) == [
        "::error file=flows/a%2Cb%3Ac%25.md,line=3,col=5,title=a%2Cb%3Ac%25%3A refused::a,b:c%25"
    ]


def test_a_problem_of_the_whole_file_has_no_line() -> None:
    run = document(flow(status="refused", problems=[problem(0, 0, "not UTF-8", "save it as UTF-8")]), exit_status=2)
    assert annotations(run) == ["::error file=flows/support.md,title=Support%3A refused::not UTF-8%0Asave it as UTF-8"]


def test_skipped_steps_of_one_reason_share_a_warning() -> None:
    skipped = [step(f"look/{at}.api.call", "skipped", message="An earlier step failed.", line=at) for at in (3, 4)]
    other = step("more/1.api.call", "skipped", message="It needs `id`.", line=7)
    assert annotations(document(flow(*skipped, other))) == [
        (
            "::warning file=flows/support.md,line=3,title=Support%3A 2 steps skipped::"
            "3.api.call, 4.api.call: An earlier step failed."
        ),
        "::warning file=flows/support.md,line=7,title=Support%3A 1 step skipped::1.api.call: It needs `id`.",
    ]


DRIFTED = {"comparison": COMPARISON}


def test_drift_is_a_warning_with_its_counts_or_what_the_diff_names() -> None:
    run = document(flow(step(facts=DRIFTED), step("look/2.api.tools")))
    assert annotations(run) == [
        (
            "::warning file=flows/support.md,line=9,title=Support%3A api.tools drifted::"
            "2 breaking, 1 unclassified, 1 risk, 1 routing, 1 additive"
        )
    ]
    assert annotations(run, {("r1", "look/1.api.tools"): DIFF, ("r1", "look/2.api.tools"): {**DIFF, "added": []}}) == [
        (
            "::warning file=flows/support.md,line=9,title=Support%3A api.tools drifted::"
            "removed list_queues (breaking)%0Achanged delete_ticket (risk)%0Achanged search_tickets (breaking)"
            "%0Aadded export_report (additive)"
        )
    ]


def test_a_step_that_failed_by_its_drift_has_no_warning_besides() -> None:
    run = document(flow(step(status="failed", code="expectation_failed", facts=DRIFTED), status="failed"))
    assert [decoded(command)[0] for command in annotations(run, {("r1", "look/1.api.tools"): DIFF})] == ["error"]


def test_a_flow_that_another_one_kept_from_running_is_a_warning() -> None:
    run = document(flow(status="refused", run=None, message="Not run: another flow was refused."), exit_status=2)
    assert annotations(run) == [
        "::warning file=flows/support.md,title=Support%3A refused::Not run: another flow was refused."
    ]
    assert "<td>not run</td>" in summary(run)
    assert "another flow" not in summary(run)


def test_a_flow_whose_steps_show_no_reason_is_an_error_of_the_file() -> None:
    run = document(flow(step(), status="interrupted", message="Interrupted by Ctrl-C."), exit_status=130)
    assert annotations(run) == ["::error file=flows/support.md,title=Support%3A interrupted::Interrupted by Ctrl-C."]


def test_a_run_that_succeeded_has_no_annotations() -> None:
    assert annotations(document(flow(step(), step("look/2.api.call")))) == []


ANY_TEXT = some.text(some.characters(exclude_categories=()), max_size=60) | some.just(HOSTILE[:90])


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
@settings(deadline=None)
def test_the_runner_reads_one_command_a_line_with_the_texts_as_they_were(name: str, file: str, message: str) -> None:
    run = document(flow(step(status="failed", code="x", message=message), flow=name, file=file, status="failed"))
    (command,) = annotations(run)
    assert command.splitlines() == [command]
    level, properties, data = decoded(command)
    place = " ".join(visible(file).split())
    expected = {"file": place, "line": "9", "title": " ".join(visible(f"{name or file}: api.tools failed (x)").split())}
    assert (level, properties, data) == (
        "error",
        {key: value for key, value in expected.items() if value},
        visible(message).strip(),
    )


def test_a_long_message_and_title_are_cut() -> None:
    bad = step(status="failed", code="timeout", message="%" * 10_000)
    (command,) = annotations(document(flow(bad, flow="n" * 999, status="failed")))
    _, properties, data = decoded(command)
    assert len(properties["title"]) < 240
    assert len(data) < 4_040


class Tags(HTMLParser):
    """The tags and the texts of a page, and what of the text stands outside of `code`."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = self.outside = ""
        self.depth = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(f"{tag} {attrs}" if attrs else tag)
        self.depth += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self.depth -= tag == "code"

    def handle_data(self, data: str) -> None:
        self.text += data
        self.outside += "" if self.depth else data


def rendered(markdown: str) -> Tags:
    """The summary as Markdown makes it, with tables, links and raw HTML on, as GitHub has them."""
    return Tags(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown))


def test_a_summary_says_what_happened_and_what_to_do() -> None:
    run = document(
        flow(step(), step("a/2.api.call", "failed", "cancelled", message="Late.", line=10), status="failed"),
        flow(flow="Other", file="flows/other.md", status="refused", run=None, problems=[problem()]),
        exit_status=2,
    )
    row = "<td>10</td><td><code>2.api.call</code><br>failed</td><td><code>cancelled</code></td>"
    row = f"<tr>{row}<td><code>Late.</code><br>Run it again.</td></tr>"
    expected = f"""## Assay: 0 of 2 flows succeeded

Exit 2: a flow, binding or option was refused, nearly always before contact.

<table>
<tr><th>Flow</th><th>Status</th><th>Steps</th><th>Failed</th><th>Unknown</th><th>Skipped</th></tr>
<tr><td><code>Support</code><br><code>flows/support.md</code></td><td>failed</td><td>2</td><td>1</td><td>0</td><td>0</td></tr>
<tr><td><code>Other</code><br><code>flows/other.md</code></td><td>refused</td><td>0</td><td>0</td><td>0</td><td>0</td></tr>
</table>

<h3><code>Support</code></h3>
<table>
<tr><th>Line</th><th>Step</th><th>Code</th><th>What and what to do</th></tr>
{row}
</table>

<h3><code>Other</code></h3>
<table>
<tr><th>Place</th><th>Refused</th><th>Instead</th></tr>
<tr><td>3:5</td><td><code>unknown key</code></td><td><code>write `name`</code></td></tr>
</table>
"""
    assert summary(run) == expected


def test_a_summary_names_what_was_skipped_what_drifted_and_flows_without_a_step_to_blame() -> None:
    text = summary(sample(), DIFFS)
    assert "<details><summary>1 step skipped</summary>\n<table>" in text
    assert "<td><code>list_queues</code></td><td>removed</td><td>breaking: a caller that worked may fail</td>" in text
    assert "<td>error</td><td><code>plugin_died</code></td><td><code>The plugin ended with signal 9" in text
    assert "A flow can assert a refusal (<code>expect={&quot;status&quot;:401}</code>)." in text
    assert summary(document()) == "## Assay: 0 of 0 flows succeeded\n\nExit 0: everything succeeded.\n"


def hostile(text: str) -> dict[str, Any]:
    bad = step(f"a/{text}", "failed", text, message=text)
    skipped = step(f"b/{text}", "skipped", message=text)
    refused = flow(flow=text, file=text, status="refused", problems=[problem(1, 1, text, text)])
    ended = flow(flow=text, file=text, status="error", code=text, message=text)
    return document(flow(bad, skipped, flow=text, file=text, status="failed"), refused, ended)


def with_diff(text: str) -> dict[tuple[str, str], Any]:
    return {("r1", f"a/{text}"): {"format": "assay-diff/1", "inventory": text, "removed": [{"name": text}]}}


def test_hostile_texts_stay_texts_in_a_summary() -> None:
    page = rendered(summary(hostile(HOSTILE), with_diff(HOSTILE)))
    assert page.tags == rendered(summary(hostile("x"), with_diff("x"))).tags
    assert page.text.count(" ".join(visible(HOSTILE).split())) == 20


@given(ANY_TEXT)
@settings(deadline=None, max_examples=50)
def test_no_text_changes_the_structure_of_a_summary(text: str) -> None:
    text = f"x{text}"
    assert (
        rendered(summary(hostile(text), with_diff(text))).tags == rendered(summary(hostile("x"), with_diff("x"))).tags
    )


def test_every_foreign_text_stands_in_code_where_github_makes_no_links() -> None:
    page = rendered(summary(hostile("@octocat"), with_diff("@octocat")))
    assert page.text.count("@octocat") > 15
    assert "@octocat" not in page.outside


@pytest.mark.parametrize("steps", [99, 100, 101])
def test_a_table_of_a_summary_has_a_hundred_rows_at_most(steps: int) -> None:
    bad = [step(f"a/{at}.api.call", "failed", "timeout", message="m") for at in range(steps)]
    text = summary(document(flow(*bad, status="failed")))
    assert text.count("<td><code>timeout</code></td>") == min(steps, 100)
    assert ("and 1 more: see the HTML report" in text) is (steps > 100)


def test_a_summary_stays_under_githubs_limit_and_says_what_it_leaves_out() -> None:
    bad = [step(f"a/{at}.api.call", "failed", "timeout", message="\u20ac" * 3000) for at in range(100)]
    text = summary(document(*(flow(*bad, status="failed") for _ in range(3))))
    assert len(text.encode()) <= SUMMARY_LIMIT
    assert text.endswith("\n\n2 tables left out for length: see the HTML report.\n")
