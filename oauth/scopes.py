"""Which scopes a sign-in asks for, and how often it may: first by preference, later as a union with what was asked."""

from typing import Final

from oauth.challenge import Demand
from oauth.discovery import Found
from oauth.settings import OFFLINE_ACCESS, Settings
from protocol.failures import Code, Failed

__all__ = ["SIGN_INS", "check_again", "choose"]

#: Sign-ins of one alias, the first included: a server that asks for more after that will never be content.
SIGN_INS: Final = 3


def check_again(settings: Settings, sign_ins: int, *, granted: bool) -> None:
    """Let an alias begin a sign-in after ``sign_ins`` earlier ones, or raise Failed.

    Beside a token that was ``granted`` already it is a step-up, which the settings have to allow (`invalid_binding`);
    and there are at most SIGN_INS, failed ones included (`oauth_unsupported`).
    """
    if granted and not settings.step_up:
        text = "The alias has a token already. Set `stepUp` in its `oauth` to let it ask for more scopes."
        raise Failed(Code.INVALID_BINDING, text)
    if sign_ins >= SIGN_INS:
        text = (
            f"The alias has begun {SIGN_INS} sign-ins already, failed ones included, and begins no more: a server may"
            " ask for more without an end. Name all scopes in `scopes` at once, or use a second alias."
        )
        raise Failed(Code.OAUTH_UNSUPPORTED, text)


def choose(settings: Settings, demand: Demand | None, found: Found, previous: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the scopes to ask for; none at all means that the parameter is left out.

    Those of the binding, else of the challenge, else of the resource metadata. ``previous`` is what an earlier sign-in
    of the alias asked for: then the union with the challenge (MCP 2026-07-28, scope challenge handling).
    ``offline_access`` is asked for with `refresh` only, and only where the issuer lists it.
    """
    demanded = demand.scopes or () if demand is not None else ()
    first = settings.scopes or demanded or found.resource_scopes or ()
    wanted = (*previous, *demanded) if previous else first
    online = tuple(dict.fromkeys(scope for scope in wanted if scope != OFFLINE_ACCESS))
    offline = settings.refresh and OFFLINE_ACCESS in (found.server.scopes or ())
    return (*online, OFFLINE_ACCESS) if offline else online
