"""What GitHub Actions shows of a run: annotations on the flow files' lines, and a job summary."""

import html
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, Final

from host.reports.difference import CLASSES, Diffs
from host.reports.difference import read as read_difference
from host.reports.run import EXITS, Flow, Problem, Run, Step, entry, read
from host.reports.text import line, plural, shortened, spans, visible

__all__ = ["SUMMARY_LIMIT", "annotations", "summary"]

#: Bytes of a job summary. GitHub drops one of more than 1 MiB entirely; the rest is room for what other tools wrote.
SUMMARY_LIMIT: Final = 900_000
#: Characters of an annotation's title and message. GitHub takes 255 and 64 KiB, and shows far less.
_TITLE_LIMIT: Final = 200
_MESSAGE_LIMIT: Final = 4_000
#: Characters of one cell in the summary.
_CELL_LIMIT: Final = 2_000

#: Rows of one table in the summary.
_ROW_LIMIT: Final = 100

# The runner decodes `%25` last, so it has to be encoded first. Its rules for messages and for properties differ.
_DATA: Final = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_PROPERTY: Final = (*_DATA, (":", "%3A"), (",", "%2C"))


def annotations(document: Any, diffs: Diffs | None = None) -> list[str]:
    """Write an `assay-run/1` document as workflow commands, one a line and without its newline, to print to stdout.

    Errors for what failed, is unknown, was refused or interrupted; warnings for skipped steps (those with one reason in
    one section share a warning: GitHub shows ten of each kind for a step of a job) and for drift in ``diffs``, which
    maps run id and step id to an `assay-diff/1` document.

    Raises ValueError when a document is of another form.
    """
    run = read(document)
    return [command for flow in run.flows for command in (*_errors(flow), *_skipped(flow), *_drift(flow, diffs or {}))]


def _errors(flow: Flow) -> Iterator[str]:
    for problem in flow.problems:
        title = f"{flow.name}: refused"
        yield _command("error", flow, problem.line, title, f"{problem.message}\n{problem.help}", problem.column)
    for step in flow.steps:
        if step.status in ("failed", "unknown"):
            title = f"{flow.name}: {step.call} {step.status} ({step.code or 'no code'})"
            yield _command("error", flow, step.line, title, _advice(step.message, step.code))
    if flow.needs_a_word:
        level = "warning" if flow.is_innocent else "error"
        yield _command(level, flow, 0, f"{flow.name}: {flow.status}", _advice(flow.message or flow.status, flow.code))


def _skipped(flow: Flow) -> Iterator[str]:
    skipped = (step for step in flow.steps if step.status == "skipped")
    for _, group in groupby(skipped, key=lambda step: (step.section, step.message)):
        steps = list(group)
        names = ", ".join(step.label for step in steps)
        title = f"{flow.name}: {plural(len(steps), 'step')} skipped"
        yield _command("warning", flow, steps[0].line, title, f"{names}: {steps[0].message or 'skipped'}")


def _drift(flow: Flow, diffs: Diffs) -> Iterator[str]:
    told = {step.id: difference for step, difference in _differences(flow, diffs)}
    for step in flow.steps:
        # A step that failed because of its drift has its error already.
        if step.drift and step.status == "succeeded":
            counts = ", ".join(f"{count} {kind}" for kind, count in step.drift.items())
            rows = told[step.id].rows if step.id in told else ()
            message = "\n".join(f"{row.event} {line(row.name, _TITLE_LIMIT)} ({row.kind})" for row in rows)
            yield _command("warning", flow, step.line, f"{flow.name}: {step.call} drifted", message or counts)


def _differences(flow: Flow, diffs: Diffs) -> Iterator[tuple[Step, Any]]:
    for step in flow.steps:
        document = diffs.get((flow.run, step.id)) if flow.run is not None else None
        if document is not None and (difference := read_difference(document)).rows:
            yield step, difference


def _advice(message: str, code: str | None) -> str:
    known = entry(code)
    return f"{message}\n{known.meaning} {known.remedy}" if known else message


def _command(level: str, flow: Flow, number: int, title: str, message: str, column: int = 0) -> str:
    place = {
        "file": line(flow.file),
        "line": str(number) if number else "",
        "col": str(column) if number and column else "",
        "title": line(title, _TITLE_LIMIT),
    }
    properties = ",".join(f"{name}={_escaped(value, _PROPERTY)}" for name, value in place.items() if value)
    return f"::{level} {properties}::{_escaped(shortened(visible(message).strip(), _MESSAGE_LIMIT), _DATA)}"


def _escaped(text: str, table: tuple[tuple[str, str], ...]) -> str:
    for plain, encoded in table:
        text = text.replace(plain, encoded)
    return text


def summary(document: Any, diffs: Diffs | None = None) -> str:
    """Write an `assay-run/1` document as Markdown for the file that GITHUB_STEP_SUMMARY names, to be appended there.

    Foreign text stands only inside HTML blocks, escaped and in `code` elements, where neither Markdown nor GitHub's
    links, mentions and emoji apply. At most ``SUMMARY_LIMIT`` bytes: what does not fit is left out, and it says so.

    Raises ValueError when a document is of another form.
    """
    run = read(document)
    good = sum(flow.status == "succeeded" for flow in run.flows)
    verdict = f"## Assay: {good} of {plural(len(run.flows), 'flow')} succeeded"
    meaning = f"Exit {run.exit}: {EXITS.get(run.exit, 'unknown to this version')}."
    kept = [verdict, meaning]
    left_out = 0
    room = SUMMARY_LIMIT - 1_000
    for block in _blocks(run, diffs or {}):
        room -= len(block.encode()) + 2
        if room < 0:
            left_out += 1
        else:
            kept.append(block)
    if left_out:
        kept.append(f"{plural(left_out, 'table')} left out for length: see the HTML report.")
    return "\n\n".join(kept) + "\n"


def _blocks(run: Run, diffs: Diffs) -> Iterator[str]:
    """HTML blocks without a blank line: the first would end the block, and Markdown would begin."""
    if run.flows:
        yield _table(_FLOW_HEAD, [_flow_row(flow) for flow in run.flows])
    for flow in run.flows:
        bad = [step for step in flow.steps if step.status in ("failed", "unknown")]
        if flow.problems:
            rows = [_problem_row(problem) for problem in flow.problems]
            yield _titled(flow, _table(("Place", "Refused", "Instead"), rows))
        if bad or (flow.needs_a_word and not flow.is_innocent):
            rows = [_step_row(step) for step in bad]
            if flow.needs_a_word:
                rows.append(("", flow.status, _code(flow.code), _said(flow.message, flow.code)))
            yield _titled(flow, _table(("Line", "Step", "Code", "What and what to do"), rows))
        skipped = [step for step in flow.steps if step.status == "skipped"]
        if skipped:
            rows = [(_line(step), _code(step.label), _code(step.message)) for step in skipped]
            yield _folded(f"{plural(len(skipped), 'step')} skipped", _table(("Line", "Step", "Why"), rows))
        for step, difference in _differences(flow, diffs):
            rows = [(_code(row.name), row.event, f"{row.kind}: {CLASSES[row.kind]}") for row in difference.rows]
            yield _titled(flow, _table((f"Drift at line {step.line}", "Change", "Class"), rows))


_FLOW_HEAD: Final = ("Flow", "Status", "Steps", "Failed", "Unknown", "Skipped")


def _flow_row(flow: Flow) -> tuple[str, ...]:
    status = "not run" if flow.is_innocent else flow.status
    counts = (str(flow.count(status)) for status in ("failed", "unknown", "skipped"))
    return (f"{_code(flow.name)}<br>{_code(flow.file)}", status, str(len(flow.steps)), *counts)


def _problem_row(problem: Problem) -> tuple[str, ...]:
    place = f"{problem.line}:{problem.column}" if problem.line else "file"
    return place, _code(problem.message), _code(problem.help)


def _step_row(step: Step) -> tuple[str, ...]:
    return _line(step), f"{_code(step.label)}<br>{step.status}", _code(step.code), _said(step.message, step.code)


def _said(message: str, code: str | None) -> str:
    known = entry(code)
    remedy = spans(known.remedy) if known else ()
    advice = "".join(_code(part) if quoted else html.escape(part) for part, quoted in remedy)
    return "<br>".join(part for part in (_code(message), advice) if part)


def _line(step: Step) -> str:
    return str(step.line) if step.line else ""


def _table(head: Iterable[str], rows: Sequence[tuple[str, ...]]) -> str:
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    kept = ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[:_ROW_LIMIT]]
    if len(rows) > _ROW_LIMIT:
        kept.append(f"<tr><td></td><td>and {len(rows) - _ROW_LIMIT} more: see the HTML report</td></tr>")
    return "\n".join(["<table>", f"<tr>{cells}</tr>", *kept, "</table>"])


def _titled(flow: Flow, table: str) -> str:
    return f"<h3>{_code(flow.name)}</h3>\n{table}"


def _folded(title: str, table: str) -> str:
    return f"<details><summary>{title}</summary>\n{table}\n</details>"


def _code(text: str | None) -> str:
    """Foreign text, inert: no newline to end the block, no markup, in an element that GitHub's filters pass over."""
    escaped = html.escape(line(text or "", _CELL_LIMIT))
    return f"<code>{escaped}</code>" if escaped else ""
