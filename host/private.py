"""What must be neither kept nor shown during one run: private binding values, and what plugins learn on the way."""

import threading
from collections.abc import Iterable, Mapping
from typing import Final

from protocol.values.leaks import LeakScanner
from protocol.values.redaction import Redactor
from protocol.wire.steps import StepResult

__all__ = ["Private"]

#: Characters of the shortest value that is looked for of an identity which no plugin has looked at: a shorter one
#: would be redacted everywhere.
PRIVATE_MINIMUM: Final = 4


class Private:
    """Private values by the provider that they belong to, in memory only. Every method may be called from any thread.

    A provider redacts its own values; what the host removes is what *other* providers hold. A provider's own value in
    its own result is a defect that the leak scan has to find, so it is left in place there. ``others`` are the values
    of identities that no provider was given: a server that echoes one of them knows it from elsewhere.
    """

    def __init__(self, bound: Mapping[str, Iterable[str]], others: Iterable[str] = ()) -> None:
        values = {owner: tuple(own) for owner, own in bound.items()}
        held = {value for own in values.values() for value in own}
        unheld = [value for value in others if value not in held and len(value) >= PRIVATE_MINIMUM]
        everything = [*(value for own in values.values() for value in own), *unheld]
        self._lock = threading.Lock()
        self._foreign = {
            owner: Redactor([*(value for other, own in values.items() if other != owner for value in own), *unheld])
            for owner in values
        }
        self._all = Redactor(everything)
        self._scanner = LeakScanner(everything)

    def learn(self, owner: str, values: Iterable[str]) -> None:
        """Add what one provider learnt."""
        learnt = [value for value in values if value]
        with self._lock:
            self._all.add(*learnt)
            self._scanner.add(*learnt)
            for other, redactor in self._foreign.items():
                if other != owner:
                    redactor.add(*learnt)

    def leaks(self, buffer: bytes) -> bool:
        """Tell whether a buffer holds a private value of 8 bytes or more, in any of the forms that are scanned for."""
        with self._lock:
            return self._scanner.find(buffer)

    def text(self, text: str) -> str:
        """Return a text that may be shown: no private value of any provider."""
        with self._lock:
            return str(self._all.text(text).value)

    def clean(self, owner: str, result: StepResult) -> StepResult:
        """Return a provider's result without the private values of the others."""
        with self._lock:
            redactor = self._foreign[owner]
            if not redactor.values:
                return result
            facts = redactor.redact(result.facts).value
            return StepResult(
                status=result.status,
                code=result.code,
                message=redactor.text(result.message).value,
                effect=result.effect,
                state=redactor.redact(result.state).value,
                facts=facts if isinstance(facts, dict) else {"redacted": facts},
                capture=None if result.capture is None else redactor.text(result.capture).value,
                artifacts=[entry.redacted(lambda value: redactor.redact(value).value) for entry in result.artifacts],
                display=redactor.redact(result.display).value,
            )

    def __repr__(self) -> str:
        return "<Private>"
