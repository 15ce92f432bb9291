"""JUnit XML for GitLab, Jenkins and whatever else reads it: a flow is a suite, a step a case. See docs/junit.xsd."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from host.reports.expectations import Miss, misses
from host.reports.pretty import compact
from host.reports.run import Flow, Problem, Step, entry, read
from host.reports.text import defused, line, shortened

__all__ = ["render_junit"]

#: Characters of a text. GitLab takes files up to 30 MB, and readers of reports give up long before.
_TEXT_LIMIT: Final = 16_384
#: Characters of an attribute: a name, or a message on one line.
_ATTRIBUTE_LIMIT: Final = 1000

_VERDICTS: Final = {"failed": "failure", "unknown": "error", "skipped": "skipped"}


class _Case(NamedTuple):
    """One case. ``verdict`` is the name of its element, None when it passed; ``kind`` and ``message`` go with it."""

    group: str
    name: str
    line: int
    verdict: str | None
    kind: str
    message: str
    body: str = ""
    output: str = ""
    milliseconds: float | None = None
    properties: tuple[tuple[str, str | None], ...] = ()


def render_junit(document: Any) -> bytes:
    """Write an `assay-run/1` document as JUnit XML in UTF-8, valid against docs/junit.xsd.

    A failed step is a failure; an unknown outcome, a step that could not be carried out (codes of exit 2, 4 and 5),
    each refused problem and an interrupted flow are errors; a flow that was not run because another one was refused is
    skipped. Times are seconds, left out where the facts have none.
    Characters that XML forbids are dropped, and `[[ATTACHMENT|` is broken up: GitLab and Jenkins would publish a file.

    Raises ValueError when the document is of another form.
    """
    run = read(document)
    names = Counter(flow.name for flow in run.flows)
    root = ElementTree.Element("testsuites", {"name": "assay"})
    for flow in run.flows:
        root.append(_suite(flow, flow.name if names[flow.name] == 1 else f"{flow.name} ({flow.file})"))
    totals = {name: str(sum(int(suite.get(name, "0")) for suite in root)) for name in _TOTALS}
    times = [flow.milliseconds for flow in run.flows if flow.milliseconds is not None]
    _attributes(root, {**totals, "time": _seconds(sum(times) if times else None)})
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'.encode()


_TOTALS: Final = ("tests", "failures", "errors", "skipped")


def _suite(flow: Flow, name: str) -> ElementTree.Element:
    cases = [*_cases(flow)]
    verdicts = Counter(case.verdict for case in cases)
    counts = (len(cases), verdicts["failure"], verdicts["error"], verdicts["skipped"])
    suite = ElementTree.Element("testsuite")
    _attributes(suite, {"name": name, **{total: str(count) for total, count in zip(_TOTALS, counts, strict=True)}})
    _attributes(suite, {"time": _seconds(flow.milliseconds), "file": flow.file})
    _properties(suite, (("run", flow.run), ("status", flow.status), ("code", flow.code)))
    for case in cases:
        suite.append(_element(case, f"{name}.{case.group}", flow.file))
    return suite


def _cases(flow: Flow) -> Iterator[_Case]:
    places: Counter[tuple[int, int]] = Counter()
    for problem in flow.problems:
        places[problem.line, problem.column] += 1
        yield _refusal(problem, flow, places[problem.line, problem.column])
    yield from (_of_step(step, flow) for step in flow.steps)
    if flow.needs_a_word:
        kind = flow.code or flow.status
        body = _body(flow.message, flow.code, (), flow.file)
        verdict = "skipped" if flow.is_innocent else "error"
        yield _Case("flow", flow.status, 0, verdict, kind, flow.message or kind, body)


def _refusal(problem: Problem, flow: Flow, nth: int) -> _Case:
    place = ":".join([flow.file, *(str(number) for number in (problem.line, problem.column) if number)])
    body = "\n".join(part for part in (f"{place}: {problem.message}", problem.help) if part)
    # GitLab keeps the first of several cases of one name and drops the others.
    name = place if nth == 1 else f"{place} ({nth})"
    return _Case("refused", name, problem.line, "error", flow.code or "refused", problem.message, body)


def _of_step(step: Step, flow: Flow) -> _Case:
    return _Case(
        group=step.section,
        name=step.label,
        line=step.line,
        verdict="error" if step.is_error else _VERDICTS.get(step.status),
        kind=step.code or step.status,
        message=step.message or step.code or step.status,
        body=_body(step.message, step.code, misses(step), f"{flow.file}:{step.line}" if step.line else flow.file),
        output=_output(step),
        milliseconds=step.milliseconds,
        properties=(
            ("id", step.id),
            ("command", step.call),
            ("effect", step.effect or None),
            ("status", step.status),
            ("code", step.code),
            ("capture", step.capture),
        ),
    )


def _body(message: str, code: str | None, missed: Iterable[Miss], place: str) -> str:
    """What GitLab shows of a failure is this text alone, so it says everything once more."""
    known = entry(code)
    advice = (f"{code}: {known.meaning}", known.remedy) if known else (code or "",)
    return "\n".join(part for part in (message, *map(str, missed), *advice, place) if part)


def _output(step: Step) -> str:
    parts = [f"capture: {step.capture}"] if step.capture is not None else []
    if "http" in step.facts:
        parts.append(f"http: {compact(step.facts['http'], _TEXT_LIMIT)}")
    return "\n".join(parts)


def _element(case: _Case, classname: str, file: str) -> ElementTree.Element:
    element = ElementTree.Element("testcase")
    _attributes(element, {"classname": classname, "name": case.name, "file": file})
    _attributes(element, {"line": str(case.line) if case.line else None, "time": _seconds(case.milliseconds)})
    _properties(element, case.properties)
    if case.verdict:
        verdict = ElementTree.SubElement(element, case.verdict)
        _attributes(verdict, {"message": case.message, "type": None if case.verdict == "skipped" else case.kind})
        verdict.text = _text(case.body) if case.verdict != "skipped" else None
    if case.output:
        ElementTree.SubElement(element, "system-out").text = _text(case.output)
    return element


def _properties(parent: ElementTree.Element, pairs: Iterable[tuple[str, str | None]]) -> None:
    kept = [(name, value) for name, value in pairs if value is not None]
    if kept:
        properties = ElementTree.SubElement(parent, "properties")
        for name, value in kept:
            _attributes(ElementTree.SubElement(properties, "property"), {"name": name, "value": value})


def _attributes(element: ElementTree.Element, values: dict[str, str | None]) -> None:
    """Set attributes in order, leaving out those without a value; each is one line."""
    for name, value in values.items():
        if value is not None:
            element.set(name, line(defused(value), _ATTRIBUTE_LIMIT))


def _text(text: str) -> str:
    return shortened(defused(text), _TEXT_LIMIT)


def _seconds(milliseconds: float | None) -> str | None:
    return None if milliseconds is None else f"{milliseconds / 1000:.3f}"
