"""Compares the answer to a request with its `expect`: evaluates every key, and shows neither operands nor targets."""

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from plugin.checks.assertions import evaluate
from plugin.checks.expectation import Expect
from plugin.checks.observation import Observation, only_block
from plugin.checks.texts import search

__all__ = ["Findings", "compare_reply"]


class Findings(NamedTuple):
    """What `expect` came to: each failed part, and a record of every `json` assertion."""

    failures: list[dict[str, Any]]
    assertions: list[dict[str, Any]]

    @property
    def message(self) -> str:
        """The failures in one sentence, for people."""
        parts = [self._told(failure) for failure in self.failures]
        noun = "expectation" if len(parts) == 1 else "expectations"
        return f"{len(parts)} {noun} failed: {', '.join(parts)}."

    def _told(self, failure: dict[str, Any]) -> str:
        expectation, reason = failure["expectation"], failure["reason"]
        if "index" not in failure:
            return f"{expectation} ({reason})"
        place = f"{expectation}[{failure['index']}]"
        if expectation != "json":
            return f"{place} ({reason})"
        # The operator is left out: before the pointer it would read as if that were what it compares with.
        return f"{place} at {self.assertions[failure['index']]['pointer'] or 'the whole'}: {reason}"


def compare_reply(expect: Expect, observation: Observation, is_private: Callable[[str], bool]) -> Findings:
    """Evaluate every key of ``expect`` on what came back.

    ``is_private`` tells whether a string of the reply holds a private value or a terminal control.
    """
    assertions = list(_assertions(expect.get("json", ()), observation, is_private))
    failures = [
        {"expectation": key, **found}
        for key, operand in expect.items()
        if key != "json"
        for found in _EVALUATORS[key](operand, observation)
    ]
    failures += [
        {"expectation": "json", "index": index, "reason": entry["reason"]}
        for index, entry in enumerate(assertions)
        if not entry["passed"]
    ]
    return Findings(failures, assertions)


def _assertions(
    assertions: Any, observation: Observation, is_private: Callable[[str], bool]
) -> Iterator[dict[str, Any]]:
    source = only_block(observation) if assertions else None
    for assertion in assertions:
        reason = evaluate(assertion, source, is_private)
        yield {
            "pointer": assertion.pointer,
            "operator": assertion.operator,
            "passed": reason is None,
            "reason": reason,
        }


_Found = Iterator[dict[str, Any]]
_UNAVAILABLE: Final = {"reason": "reply-unavailable"}


def _rpc_error(operand: int, observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
    elif observation.kind == "result":
        yield {"reason": "not-refused"}
    elif observation.code != operand:
        yield {"reason": "other-code"}


def _is_error(operand: bool, observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
    elif observation.kind == "rpc-error":
        yield {"reason": "refused"}
    elif observation.is_error != operand:
        yield {"reason": "tool-error" if observation.is_error else "no-tool-error"}


def _text_includes(operand: tuple[str, ...], observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
        return
    for index, text in enumerate(operand):
        if text not in observation.text:
            yield {"index": index, "reason": "not-included"}


def _text_excludes(operand: tuple[str, ...], observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
        return
    for index, occurs in enumerate(search(observation.whole, operand)):
        if occurs:
            yield {"index": index, "reason": "included"}


def _redacted(operand: bool, observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
    elif observation.redacted != operand:
        yield {"reason": "redacted" if observation.redacted else "not-redacted"}


def _count(operand: int, observation: Observation) -> _Found:
    if observation.kind == "unavailable":
        yield _UNAVAILABLE
    elif observation.kind == "rpc-error":
        yield {"reason": "refused"}
    elif observation.length != operand:
        yield {"reason": f"count-is-{observation.length}"}


_EVALUATORS: Final[dict[str, Callable[[Any, Observation], _Found]]] = {
    "count": _count,
    "rpcError": _rpc_error,
    "isError": _is_error,
    "textIncludes": _text_includes,
    "textExcludes": _text_excludes,
    "redacted": _redacted,
}
