"""Asks a server what `assay doctor` wants to know: one session, and a fresh one for each inventory that closes it."""

import time
from collections.abc import Sequence
from typing import Final

from host.conversation import Conversation
from host.doctor.agreeing import SESSION_CHECKS, agreed, ended, stream, stream_answered
from host.doctor.asking import answers, challenge, oauth
from host.doctor.catalogue import catalogue
from host.doctor.check import Check, problem, skipped
from host.doctor.reaching import answer, place_of, reaching
from host.inventories import INVENTORIES
from host.outcome import REFUSED_EXIT, exit_of_code
from protocol.failures import Code, Failed
from protocol.wire.steps import StepResult

__all__ = ["SPARE_SESSIONS", "examine"]

#: Sessions beside the first: a catalogue that is malformed closes the one that it was read in.
SPARE_SESSIONS: Final = len(INVENTORIES) - 1
#: Seconds that a GET without an answer is given before the session ends: short lists are read faster than that.
STREAM_PATIENCE: Final = 1.0


def examine(conversation: Conversation, url: str, *, credentials: bool) -> list[Check]:
    """Return every check of a server, in order. Raises Failed: what is refused before contact, ``plugin_died``."""
    connected = conversation.connect()
    known = {str(code): code for code in Code}
    if connected.code and exit_of_code(connected.code) == REFUSED_EXIT:
        raise Failed(known.get(connected.code, Code.INTERNAL), conversation.text(connected.message))
    place = place_of(url)
    checks = [
        *reaching(place, connected, time.time()),
        answer(place, connected),
        challenge(connected, credentials=credentials),
    ]
    names = [name for name in INVENTORIES if name in conversation.commands]
    if connected.status != "succeeded":
        return [*checks, oauth(connected, _discover(conversation, connected)), *_without_session(connected, names)]
    session = _session(conversation, connected, names)
    # Only now: the look begins with a session of nobody's, and some servers know one session at a time.
    return [*checks, oauth(connected, _discover(conversation, connected)), *session]


def _session(conversation: Conversation, connected: StepResult, names: Sequence[str]) -> list[Check]:
    """Read every inventory and end the session; return the checks of both."""
    listing, heard = [], [connected]
    for name in names:
        listing.append(_next(conversation, name))
        if conversation.renewals == 0:
            heard.append(listing[-1])
    if conversation.renewals == 0 and not stream_answered(heard):
        time.sleep(STREAM_PATIENCE)
    endings = conversation.disconnect_all()
    checks = [*agreed(connected), ended(endings[0]), stream([*heard, endings[0]])]
    return checks + [check for name, result in zip(names, listing, strict=True) for check in catalogue(name, result)]


def _discover(conversation: Conversation, connected: StepResult) -> StepResult | None:
    """Look for the authorization server of a server that answers, if the plugin can."""
    if not answers(connected):
        return None
    try:
        return conversation.discover()
    except Failed as failed:
        # A plugin of another make need not know how.
        if failed.code is Code.INTERNAL:
            return None
        raise


def _next(conversation: Conversation, name: str) -> StepResult:
    """Read one more inventory, in a fresh session where the last one was closed by what it sent."""
    if not conversation.is_open:
        connected = conversation.renew()
        if connected.status != "succeeded":
            return connected
    return conversation.run(name, {})


def _without_session(connected: StepResult, names: Sequence[str]) -> list[Check]:
    checks = [skipped(name, "There is no session.") for name in (*SESSION_CHECKS, *names)]
    if connected.code == "version_unsupported":
        help_ = "Assay speaks MCP 2025-11-25 and the four revisions before it."
        checks[0] = problem(SESSION_CHECKS[0], connected.message, help_)
    return checks
