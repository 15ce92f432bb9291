"""Checks of a session that was opened: revision, server, capabilities, its id and end, and the GET stream."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from host.doctor.check import Check, ok, problem, skipped, warning
from protocol.values.document import integer
from protocol.wire.steps import StepResult

__all__ = ["SESSION_CHECKS", "agreed", "ended", "stream", "stream_answered"]

#: The checks that only an open session allows.
SESSION_CHECKS: Final = ("revision", "server", "capabilities", "session", "stream")
#: What can be said of a negotiated revision, beside that it is spoken.
_REVISIONS: Final = {
    "2025-11-25": "",
    "2025-06-18": "A newer revision, 2025-11-25, is what current clients ask for; nothing is wrong with this one.",
    "2025-03-26": "2025-06-18 took batches away and added structured results; newer clients fall back to this one.",
}


def agreed(connected: StepResult) -> list[Check]:
    """Return what the server said of itself."""
    session = connected.facts.get("session")
    said: Mapping[str, Any] = session if isinstance(session, dict) else {}
    return [_revision(str(said.get("protocol"))), _server(connected, said), _capabilities(said.get("capabilities"))]


def _revision(name: str) -> Check:
    if name in _REVISIONS:
        return ok("revision", f"It speaks MCP {name}.", _REVISIONS[name], {"revision": name})
    help_ = "That revision knows no Streamable HTTP: update the server's MCP library."
    return warning("revision", f"It speaks MCP {name}.", help_, {"revision": name})


def _server(connected: StepResult, said: Mapping[str, Any]) -> Check:
    server = said.get("server")
    known = server if isinstance(server, dict) else {}
    name, version = (str(known.get(word) or "").strip() for word in ("name", "version"))
    display = connected.display if isinstance(connected.display, dict) else {}
    result = display.get("result")
    facts = {"server": known, "instructions": isinstance(result, dict) and bool(result.get("instructions"))}
    if not name or not version:
        told = "It does not say what it is." if not name else f"{name} does not say its version."
        return warning("server", told, "Give `serverInfo` a name and a version: people report defects by them.", facts)
    return ok("server", f"{name} {version}.", facts=facts)


def _capabilities(value: Any) -> Check:
    known = value if isinstance(value, dict) else {}
    wrong = [name for name, member in known.items() if not isinstance(member, dict)]
    facts = {"capabilities": known}
    if wrong:
        told = f"A capability is an object, and `{'`, `'.join(wrong)}` is none."
        return problem("capabilities", told, 'Declare a capability as an object: `"tools": {}`.', facts)
    if not known:
        return warning(
            "capabilities", "It declares none.", "Clients then ask for nothing: declare what is there.", facts
        )
    return ok("capabilities", f"It declares {', '.join(known)}.", facts=facts)


def ended(disconnected: StepResult) -> Check:
    """Return the check of the session's id and its end."""
    state = disconnected.state if isinstance(disconnected.state, dict) else {}
    cleanup = state.get("cleanup")
    http = disconnected.facts.get("http")
    facts = {"cleanup": cleanup, "status": http.get("status") if isinstance(http, dict) else None}
    if cleanup == "not-needed":
        return ok("session", "It issues no session id, so there is no session to end.", facts=facts)
    if cleanup == "confirmed":
        return ok("session", "It issues a session id, and confirms the end of the session.", facts=facts)
    if cleanup == "server-managed":
        told = "It issues a session id, and ends sessions itself: DELETE is answered with HTTP 405."
        return ok("session", told, 'Bindings say so with `"sessionCleanup": "server-managed"`.', facts)
    help_ = "Answer DELETE with 2xx, or with 405 where clients cannot end sessions (MCP, Streamable HTTP)."
    return warning("session", f"The end of the session was not confirmed. {disconnected.message}", help_, facts)


def stream_answered(results: Sequence[StepResult]) -> bool:
    """Tell whether the last of a session's steps has seen what becomes of the GET stream, or there is none."""
    seen = _seen(results)
    return not seen or seen[-1].get("state") != "opening"


def _seen(results: Sequence[StepResult]) -> list[dict[str, Any]]:
    return [each for result in results if isinstance(each := result.facts.get("stream"), dict)]


def stream(results: Sequence[StepResult]) -> Check:
    """Return the check of the GET stream, from the steps of one session in their order."""
    seen = _seen(results)
    answered = [each for each in seen if each.get("status") is not None] or seen
    if not answered:
        return skipped("stream", "There was no session to listen in.")
    last = next((each for each in reversed(answered) if each.get("state") != "stopped"), answered[-1])
    status = integer(last.get("status"))
    told = _STREAMS.get(str(last.get("state")))
    if status == 405:
        return ok("stream", "GET is answered with HTTP 405: it sends nothing out of turn.", facts=last)
    if told is not None and status is not None:
        return ok("stream", told, facts=last)
    if last.get("state") == "failed":
        told = f"The GET stream broke off ({last.get('code')})."
        return warning("stream", told, "Look at the server's log; what it sends out of turn is lost.", last)
    if status is None:
        help_ = "Send the head of the response at once; some clients wait for it."
        return warning("stream", "GET for messages out of turn had no answer so far.", help_, last)
    help_ = "Answer GET with an event stream, or with 405 where there is none (MCP, Streamable HTTP)."
    return warning(
        "stream", f"GET is answered with HTTP {status} ({last.get('contentType') or 'no type'}).", help_, last
    )


_STREAMS: Final = {
    "open": "GET opens a stream for messages out of turn.",
    "stopped": "GET opens a stream for messages out of turn.",
    "ended": "GET opens a stream, and the server ends it.",
}
