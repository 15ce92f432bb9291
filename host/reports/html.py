"""One self-contained HTML page about a run: no script, no request, every foreign text escaped, under a strict CSP."""

import base64
import hashlib
from functools import cache
from typing import Any, Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from host.reports.difference import CLASSES, Difference, Diffs
from host.reports.difference import read as read_difference
from host.reports.expectations import Miss, misses
from host.reports.matrix import Matrix, matrix, tool
from host.reports.pretty import Excerpt, compact, pretty
from host.reports.run import EXITS, STEP_STATUSES, Flow, Problem, Run, Section, Step, entry, read
from host.reports.text import duration, plural, shortened, spans, visible

__all__ = ["PAGE_LIMIT", "VALUE_LIMIT", "render_html"]

#: Characters of one step's state or facts on the page; the evidence folder has them whole.
VALUE_LIMIT: Final = 60_000
#: Characters of all states and facts together. Browsers open ten million in about a second.
PAGE_LIMIT: Final = 8_000_000
#: Characters of a message.
_MESSAGE_LIMIT: Final = 8_000

_BAD: Final = frozenset({"failed", "unknown"})
#: Facts of HTTP in words; others keep the name that they have in the document.
_HTTP: Final = {
    "status": "Status",
    "contentType": "Content type",
    "reply": "Reply form",
    "bytes": "Bytes",
    "events": "Events",
    "challenge": "Challenge",
    "location": "Redirect to",
    "milliseconds": "Milliseconds",
    "ended": "Ended by",
}


class _Shown(NamedTuple):
    """A step as the page shows it."""

    anchor: str
    step: Step
    http: tuple[tuple[str, str], ...]
    inventory: str
    facts: Excerpt | None
    state: Excerpt | None
    misses: tuple[Miss, ...]
    drift: Difference | None

    @property
    def open(self) -> bool:
        """Whether it starts unfolded."""
        return self.step.status in _BAD

    @property
    def good(self) -> bool:
        """Whether nobody needs to look at it: it succeeded, and nothing drifted."""
        return self.step.status == "succeeded" and not self.drifted

    @property
    def subject(self) -> str:
        """What tells it from other steps of the same call: its name, else the tool."""
        return self.step.name or tool(self.step) or ""

    @property
    def empty(self) -> bool:
        """Whether unfolding it would show nothing."""
        parts = (self.http, self.facts, self.state, self.drift, self.step.capture is not None, entry(self.step.code))
        return not any(parts)

    @property
    def drifted(self) -> tuple[str, str] | None:
        """Its gravest class and a few words, when something drifted."""
        if self.drift is not None and self.drift.rows:
            return next(iter(self.drift.kinds)), self.drift.events
        counts = self.step.drift
        return (next(iter(counts)), ", ".join(f"{count} {kind}" for kind, count in counts.items())) if counts else None


class _Part(NamedTuple):
    section: Section
    steps: tuple[_Shown, ...]

    @property
    def good(self) -> bool:
        return all(shown.good for shown in self.steps)


class _Chapter(NamedTuple):
    """A flow as the page shows it."""

    anchor: str
    flow: Flow
    parts: tuple[_Part, ...]
    matrix: Matrix | None
    anchors: dict[str, str]
    problems: tuple[tuple[str, Problem], ...]

    @property
    def good(self) -> bool:
        return self.flow.status == "succeeded" and all(part.good for part in self.parts)


class _Room:
    """What is left of the page's limit; it shrinks as values are laid out.

    Half of it is kept for the steps that failed, so that what succeeded before them takes no room away.
    """

    def __init__(self) -> None:
        self._left = {True: PAGE_LIMIT // 2, False: PAGE_LIMIT // 2}

    def lay_out(self, value: Any, step: Step) -> Excerpt | None:
        if value is None or value == {}:
            return None
        bad = step.status in _BAD
        excerpt = pretty(value, min(VALUE_LIMIT, self._left[bad]))
        self._left[bad] -= len(excerpt.text)
        return excerpt


def render_html(document: Any, diffs: Diffs | None = None) -> str:
    """Write an `assay-run/1` document as one HTML page; ``diffs`` maps run id and step id to `assay-diff/1` documents.

    The page holds no script and loads nothing: its Content-Security-Policy admits its own style by hash, nothing else.
    Numbers are shown as they are spelled. Values are cut at ``VALUE_LIMIT`` and ``PAGE_LIMIT`` characters and say so.

    Raises ValueError when a document is of another form.
    """
    run = read(document)
    room = _Room()
    chapters = [_chapter(flow, f"f{at}", diffs or {}, room) for at, flow in enumerate(run.flows, 1)]
    style = _style()
    return (
        _environment()
        .get_template("run.html.j2")
        .render(
            run=run,
            chapters=chapters,
            verdict=_verdict(run),
            exits=EXITS,
            meaning=EXITS.get(run.exit, "unknown to this version"),
            counts={status: sum(step.status == status for step in run.steps) for status in reversed(STEP_STATUSES)},
            style=Markup(style),  # noqa: S704 - the page's own style sheet; a test holds that it ends no element
            style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
            classes=CLASSES,
        )
    )


def _verdict(run: Run) -> str:
    good = sum(flow.status == "succeeded" for flow in run.flows)
    if not run.flows:
        return "No flow was run"
    if good == len(run.flows):
        return "The flow succeeded" if good == 1 else f"All {good} flows succeeded"
    if len(run.flows) == 1:
        return _SINGLE[run.flows[0].status]
    return f"{good} of {len(run.flows)} flows succeeded"


_SINGLE: Final = {
    "failed": "The flow failed",
    "unknown": "The flow stopped at an unknown outcome",
    "error": "The flow could not be carried out",
    "refused": "The flow was refused",
    "interrupted": "The flow was interrupted",
}


def _chapter(flow: Flow, anchor: str, diffs: Diffs, room: _Room) -> _Chapter:
    anchors = {step.id: f"{anchor}s{at}" for at, step in enumerate(flow.steps, 1)}
    parts = tuple(
        _Part(section, tuple(_shown(step, anchors[step.id], flow, diffs, room) for step in section.steps))
        for section in flow.sections
    )
    problems = tuple((f"{problem.line}:{problem.column}" if problem.line else "", problem) for problem in flow.problems)
    return _Chapter(anchor, flow, parts, matrix(flow), anchors, problems)


def _shown(step: Step, anchor: str, flow: Flow, diffs: Diffs, room: _Room) -> _Shown:
    http = step.facts.get("http")
    rest = {name: value for name, value in step.facts.items() if name != "http" or not isinstance(http, dict)}
    diff = diffs.get((flow.run, step.id)) if flow.run is not None else None
    return _Shown(
        anchor=anchor,
        step=step,
        http=_http(http) if isinstance(http, dict) else (),
        inventory=_inventory(step.state),
        facts=room.lay_out(rest, step),
        state=room.lay_out(step.state, step),
        misses=misses(step),
        drift=None if diff is None else read_difference(diff),
    )


def _http(facts: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    # What a reply does not have (no redirect, no challenge) is left out here.
    return tuple((_HTTP.get(name, name), _fact(value)) for name, value in facts.items() if value not in (None, [], {}))


def _fact(value: Any) -> str:
    """A fact in words. Parsed challenges are written as the header had them, one a line."""
    challenges = value if isinstance(value, list) else [value]
    if all(isinstance(challenge, dict) and isinstance(challenge.get("scheme"), str) for challenge in challenges):
        return "\n".join(_challenge(challenge) for challenge in challenges)
    return compact(value, 2_000)


def _challenge(challenge: dict[str, Any]) -> str:
    parameters = challenge.get("parameters")
    pairs = parameters.items() if isinstance(parameters, dict) else ()
    written = ", ".join(f"{name}={compact(value)}" for name, value in pairs)
    more = {name: value for name, value in challenge.items() if name not in ("scheme", "parameters")}
    return " ".join(part for part in (challenge["scheme"], written, compact(more) if more else "") if part)


def _inventory(state: Any) -> str:
    """Such as `tools: 12 entries, complete`, for the state of an inventory; else nothing."""
    if not isinstance(state, dict) or not isinstance(state.get("inventory"), str) or "count" not in state:
        return ""
    words = [f"{state['inventory'].replace('_', ' ')}: {compact(state['count'], 20)} listed"]
    words += [
        text for name, text in (("declared", "not declared"), ("complete", "not complete")) if state.get(name) is False
    ]
    return ", ".join(words)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("host.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(prose=_prose, duration=duration, brief=_brief, plural=plural, advice=entry, clip=_clip)
    return environment


@cache
def _style() -> str:
    environment = _environment()
    assert environment.loader is not None
    return environment.loader.get_source(environment, "run.css")[0]


def _finalize(value: Any) -> Any:
    """Every text on its way into the page, before it is escaped."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _prose(text: str) -> Markup:
    """A sentence, with what stands between backticks as code."""
    parts = spans(shortened(visible(text), _MESSAGE_LIMIT))
    return Markup().join(Markup("<code>{}</code>").format(part) if code else escape(part) for part, code in parts)


def _clip(text: str) -> str:
    return shortened(text, _MESSAGE_LIMIT)


def _brief(text: str) -> str:
    return shortened(" ".join(text.split()), 300)
