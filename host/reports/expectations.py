"""The expectations of a step that did not hold, as its state or facts keep them: places and fixed reasons."""

from typing import Any, NamedTuple

from host.reports.pretty import compact
from host.reports.run import Step
from protocol.values.document import integer

__all__ = ["Miss", "misses"]


class Miss(NamedTuple):
    """One expectation that did not hold: ``what`` names it (`json[1]: /id equals`), ``reason`` is a fixed word."""

    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what}: {self.reason}"


def misses(step: Step) -> tuple[Miss, ...]:
    """Return every expectation of a step that did not hold, in the order of its record; other forms are left out."""
    state = step.state if isinstance(step.state, dict) else {}
    kept = (*_objects(state.get("failedExpectations")), *_objects(step.facts.get("failedExpectations")))
    assertions = _objects(state.get("assertions"))
    return tuple(Miss(_what(entry, assertions), _reason(entry)) for entry in kept)


def _objects(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _what(entry: dict[str, Any], assertions: list[dict[str, Any]]) -> str:
    name, index = compact(entry.get("expectation")), integer(entry.get("index"))
    if index is None:
        return name
    if name != "json" or not 0 <= index < len(assertions):
        return f"{name}[{index}]"
    pointer, operator = (compact(assertions[index].get(part)) for part in ("pointer", "operator"))
    return f"json[{index}]: {pointer or 'the whole'} {operator}"


def _reason(entry: dict[str, Any]) -> str:
    names = entry.get("names")
    listed = ", ".join(compact(name) for name in names) if isinstance(names, list) else ""
    more = integer(entry.get("more"))
    rest = f" and {more} more" if more else ""
    return compact(entry.get("reason")) + (f" ({listed}{rest})" if listed else "")
