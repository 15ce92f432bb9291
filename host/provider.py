"""A running plugin as its host sees it: one request at a time over the wire, and what counts as its death."""

import itertools
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from host.answering import OnConsent, answer
from host.child import Child, ending
from host.executable import Executable
from host.inbox import ENDED, Event, Gone, Inbox, Progress
from host.outcome import code_named
from host.private import Private
from protocol.failures import Code, Failed
from protocol.values.document import integer
from protocol.version import VERSION
from protocol.wire.framing import HOST_LINE_LIMIT
from protocol.wire.messages import (
    INVALID_PARAMS,
    PROTOCOL,
    Request,
    Response,
    encode_notification,
    encode_request,
)
from protocol.wire.steps import StepResult

__all__ = ["Provider"]

#: Seconds for a request that contacts nothing: reading tables, comparing states of 7 MiB.
REPLY_SECONDS: Final = 60.0
#: Seconds that a browser gets to start and to show a consent page; the plugin that asked waits for 60.
CONSENT_SECONDS: Final = 45.0
#: Seconds that a plugin gets to answer a cancelled `run`, before it is killed.
CANCEL_SECONDS: Final = 5.0
#: Seconds for `shutdown`, and more for each session that may get its DELETE (1.5 s at most).
SHUTDOWN_SECONDS: Final = 3.0
SESSION_SECONDS: Final = 1.5
#: Seconds between the end of a program's output and its exit status.
ENDING_SECONDS: Final = 0.2
#: Characters of a plugin's diagnostics that are shown beside `plugin_died`, the last ones.
DIAGNOSTICS_SHOWN: Final = 2000

_ARTIFACT: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
#: Names that the host itself writes beside a step's artifacts.
_RESERVED: Final = re.compile(r"(?:observation|snapshot|[a-z_]+-diff)\.json")


def _nothing(*_anything: Any) -> None:
    return None


def _never() -> bool:
    return False


class Provider:
    """One plugin process. Raises Failed (``provider_missing``) when it cannot be started.

    Requests are made from one thread. ``interrupt`` may be called from a signal handler, ``learn`` from any thread.
    ``on_learnt`` is called on the reading thread, before the reply that the values precede is delivered; ``on_gone`` on
    the same one, when its consent page or all of it is gone.
    ``codes`` gives the exit status of the codes that plugins describe, for what is refused with one of their own.
    """

    def __init__(
        self,
        executable: Executable,
        environment: Mapping[str, str],
        private: Private,
        *,
        on_learnt: Callable[["Provider", list[str]], None] = _nothing,
        on_progress: Callable[[Progress], None] = _nothing,
        on_gone: Callable[[], None] = _nothing,
        codes: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.name = executable.provider
        self._codes = codes
        self._private = private
        self._on_learnt = on_learnt
        self._inbox = Inbox(self._learnt, on_progress, on_gone)
        self._ids = itertools.count(1)
        self._death: tuple[str, dict[str, Any]] | None = None
        self._ended = False
        self._sessions = 0
        self._last = 0
        self._child = Child(executable.argv, environment, self._inbox.receive)

    @property
    def alive(self) -> bool:
        """Whether it can still be talked to, as far as is known."""
        return self._death is None and not self._ended

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def last(self) -> int:
        """The id of the last request: with it a sign-in is given up later."""
        return self._last

    def initialize(
        self, origins: Sequence[str], bindings: Mapping[str, Any], stop: Callable[[], bool] = _never
    ) -> dict[str, Any]:
        """Hand over admission and bindings; return what the plugin says it is.

        Raises Failed: what the plugin refuses, ``provider_missing`` for another protocol or provider.
        """
        self._sessions = len(bindings)
        params = {
            "protocol": PROTOCOL,
            "host": {"name": "assay", "version": VERSION},
            "origins": list(origins),
            "bindings": dict(bindings),
        }
        result = self._ask("initialize", params, stop=stop)
        plugin = result.get("plugin") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(plugin, dict):
            raise self._lost("answered `initialize` without saying what it is")
        if integer(result.get("protocol")) != PROTOCOL:
            raise Failed(
                Code.PROVIDER_MISSING,
                f"The {self.name} plugin speaks another version of the host protocol; this host speaks {PROTOCOL}.",
            )
        if plugin.get("provider") != self.name:
            raise Failed(
                Code.PROVIDER_MISSING, f"The executable is no {self.name} plugin; it says that it is another provider."
            )
        return plugin

    def check(
        self,
        alias: str,
        command: str,
        arguments: Mapping[str, str],
        still_open: Sequence[str],
        stop: Callable[[], bool] = _never,
    ) -> str:
        """Have a command looked at without contacting anything; return its effect. Raises Failed: what is refused."""
        params = {"alias": alias, "command": command, "arguments": dict(arguments), "open": list(still_open)}
        result = self._ask("check", params, stop=stop)
        effect = result.get("effect") if isinstance(result, dict) else None
        if effect not in ("observe", "mutate"):
            raise self._lost("answered `check` without an effect")
        return str(effect)

    def run(
        self,
        alias: str,
        command: str,
        arguments: Mapping[str, str],
        *,
        deadline: float,
        stop: Callable[[], bool] = _never,
        on_consent: OnConsent | None = None,
    ) -> StepResult:
        """Run one command and return its result, without the private values of other providers.

        At ``deadline`` (monotonic seconds), or once ``stop`` is true, the command is cancelled. ``on_consent`` shows
        the page that the command asks for. Raises Failed: ``plugin_died``, or what the plugin refuses; ``data["sent"]``
        says whether the request was handed over.
        """
        params = {"alias": alias, "command": command, "arguments": dict(arguments)}
        return self._step("run", params, deadline, stop, on_consent)

    def discover(self, alias: str, *, deadline: float, stop: Callable[[], bool] = _never) -> StepResult:
        """Have an alias's authorization server looked for, without consent. Raises Failed as ``run`` does."""
        return self._step("discover", {"alias": alias}, deadline, stop, None)

    def _step(
        self,
        method: str,
        params: dict[str, Any],
        deadline: float,
        stop: Callable[[], bool],
        on_consent: OnConsent | None,
    ) -> StepResult:
        value = self._ask(method, params, deadline=deadline, stop=stop, cancellable=True, on_consent=on_consent)
        try:
            result = StepResult.read(value)
        except ValueError as error:
            raise self._lost(f"answered `{method}` outside the protocol ({error})") from None
        names = [artifact.name for artifact in result.artifacts]
        wrong = [name for name in names if not _ARTIFACT.fullmatch(name) or _RESERVED.fullmatch(name)]
        if wrong or len(set(names)) != len(names):
            raise self._lost("named its artifacts outside the protocol")
        return self._private.clean(self.name, result)

    def compare(
        self,
        inventory: str,
        before: Any,
        after: Any,
        catalogs: Any = None,
        stop: Callable[[], bool] = _never,
    ) -> dict[str, Any]:
        """Return the diff of two succeeded states of one inventory, with texts where ``catalogs`` has both sides'.

        Raises Failed.
        """
        params = {"inventory": inventory, "before": before, "after": after}
        result = self._ask("compare", params if catalogs is None else params | {"catalogs": catalogs}, stop=stop)
        if not isinstance(result, dict):
            raise self._lost("answered `compare` without a diff")
        return result

    def show_consent(self, alias: str, url: str, *, deadline: float, stop: Callable[[], bool]) -> None:
        """Have a browser show a consent page, in private. Raises Failed."""
        until = min(deadline, time.monotonic() + CONSENT_SECONDS)
        self._ask("consent/show", {"alias": alias, "url": url}, deadline=until, stop=stop, cancellable=True)

    def close_consent(self, alias: str) -> list[str]:
        """Tell a browser that the sign-in is over; return the origins that its page was refused. Raises Failed."""
        result = self._ask("consent/close", {"alias": alias})
        blocked = result.get("blocked") if isinstance(result, dict) else None
        return [each for each in blocked if isinstance(each, str)] if isinstance(blocked, list) else []

    def give_up(self, request: int) -> None:
        """Have the plugin give up the sign-in that this request began."""
        self._child.send(encode_notification("cancel", {"id": request}))

    def learn(self, values: Iterable[str]) -> None:
        """Tell the plugin what another one learnt."""
        self._child.send(encode_notification("secrets/learnt", {"values": list(values)}))

    def wake(self) -> None:
        """Have whoever waits for a reply look again at whether to stop."""
        self._inbox.wake()

    def interrupt(self, level: int) -> None:
        """Wake whoever waits for a reply; from the second time on, kill. Safe in a signal handler."""
        if level > 1:
            self._child.kill()
        self._inbox.wake()

    def end(self) -> None:
        """Shut the plugin down, gently where that still works. Nothing of it is left when this returns."""
        patience = SHUTDOWN_SECONDS + SESSION_SECONDS * self._sessions
        if self.alive:
            try:
                self._ask("shutdown", {}, deadline=time.monotonic() + patience)
            except Failed:
                patience = 0.0
        self._child.end(patience if self.alive else 0.0)
        self._ended = True

    def _ask(
        self,
        method: str,
        params: dict[str, Any],
        *,
        deadline: float | None = None,
        stop: Callable[[], bool] = _never,
        cancellable: bool = False,
        on_consent: OnConsent | None = None,
    ) -> Any:
        identity = self._last = next(self._ids)
        line = self._ready(identity, method, params)
        self._child.send(line)
        until = time.monotonic() + REPLY_SECONDS if deadline is None else deadline
        cancelled = False
        while True:
            if not cancelled and (stop() or time.monotonic() >= until):
                if not cancellable:
                    raise self._unanswered(method, stop())
                cancelled, until = True, time.monotonic() + CANCEL_SECONDS
                self._child.send(encode_notification("cancel", {"id": identity}))
            event = self._inbox.get(until - time.monotonic())
            if event is None and cancelled:
                raise self._lost(f"did not answer `cancel` within {CANCEL_SECONDS:.0f} seconds")
            if isinstance(event, Response) and event.id == identity:
                return self._result(event)
            self._look_at(event, sent=True, on_consent=on_consent)

    def _ready(self, identity: int, method: str, params: dict[str, Any]) -> bytes:
        """Look at what arrived unasked, and give the line to send. Raises Failed with ``sent`` false."""
        while self.alive and (event := self._inbox.get(0)) is not None:
            self._look_at(event, sent=False)
        if not self.alive:
            raise self._lost(ENDED, sent=False)
        line = encode_request(identity, method, params)
        if len(line) > HOST_LINE_LIMIT:
            raise Failed(
                Code.EVIDENCE_TOO_LARGE if method == "compare" else Code.INVALID_ARGUMENTS,
                f"The request `{method}` has {len(line)} bytes; a line of the host protocol has at most"
                f" {HOST_LINE_LIMIT}.",
                data={"sent": False},
            )
        return line

    def _look_at(self, event: Event | None, *, sent: bool, on_consent: OnConsent | None = None) -> None:
        """Answer a request of the plugin. Raises Failed for what means its end."""
        if isinstance(event, Request):
            self._child.send(answer(event, on_consent))
        if isinstance(event, Response):
            raise self._lost("answered a request that was not asked, or answered one twice", sent=sent)
        if isinstance(event, Gone):
            raise self._lost(event.reason, sent=sent)

    def _learnt(self, values: list[str]) -> None:
        self._private.learn(self.name, values)
        self._on_learnt(self, values)

    def _result(self, response: Response) -> Any:
        error = response.error
        if error is None:
            return response.result
        data = error.get("data")
        named = data.get("code") if isinstance(data, dict) else None
        number, message = integer(error.get("code")), error.get("message")
        where = data.get("where") if isinstance(data, dict) else None
        code = code_named(named) if isinstance(named, str) else None
        own: dict[str, Any] = {}
        if code is None and isinstance(named, str) and named in self._codes:
            code, own = Code.INVALID_ARGUMENTS, {"ownCode": named, "ownExit": self._codes[named]}
        elif code is None and number == INVALID_PARAMS:
            code = Code.INVALID_ARGUMENTS
        raise Failed(
            code or Code.INTERNAL,
            self._private.text(message) if isinstance(message, str) else f"The {self.name} plugin refused.",
            where=where if isinstance(where, str) else None,
            data={"sent": code in (None, Code.INTERNAL), **own},
        )

    def _unanswered(self, method: str, stopped: bool) -> Failed:
        if stopped:
            # Its answer may come at any time now, so nothing more can be asked.
            self._ended = True
            return Failed(Code.CANCELLED, "Interrupted before anything was contacted.", data={"sent": False})
        return self._lost(f"did not answer `{method}` in time")

    def _lost(self, reason: str, *, sent: bool = True) -> Failed:
        """Give up on the plugin: kill what is left of it and say what was seen, the first time and ever after."""
        if self._death is None:
            # The output of a program that ends is closed a moment before its exit status is known.
            ended = reason == ENDED and self._child.wait(ENDING_SECONDS)
            status = self._child.end(0.0)
            # Redacted before it is cut: half a private value would not be recognised.
            diagnostics = self._private.text(self._child.diagnostics())[-DIAGNOSTICS_SHOWN:].strip()
            facts: dict[str, Any] = {"diagnostics": diagnostics}
            self._death = (ending(status) if ended else reason, facts | ({"exit": status} if ended else {}))
        how, facts = self._death
        return Failed(Code.PLUGIN_DIED, f"The {self.name} plugin {how}.", data={"sent": sent, **facts})
