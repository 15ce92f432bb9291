"""Carries out `oauth_begin` and `oauth_finish`: a sign-in up to its consent page, then from its callback to a token."""

from collections.abc import Callable
from typing import Any

from oauth.discovery import Target
from oauth.record import Entry, as_facts
from oauth.token import Grant, grant_facts
from plugin.binding import authorization
from plugin.opening import endpoint, transport
from plugin.signin import SignIn
from plugin.step import Step, Verdict
from protocol.failures import Code, Failed
from protocol.wire.steps import StepResult

__all__ = ["oauth_begin", "oauth_finish"]


def oauth_begin(step: Step) -> StepResult:
    """Find the authorization server, become its client, and have the consent page opened."""

    if step.alias.binding.contract is not None:
        from plugin.pinning import pinned_route  # an alias without a contract does not wait for it

        pinned_route(step.alias)

    def begin(record: list[Entry]) -> tuple[str, dict[str, Any]]:
        sign_in = _sign_in(step)
        pending = sign_in.begin(step.alias.binding.headers, step.identity, step.stop_if_cancelled, record)
        text = "The consent page is open. Consent there, then run `oauth_finish`."
        if pending.proof is None:
            text = "The client has all that it needs; no consent is asked for. Run `oauth_finish`."
        return text, {"kind": "begun", "client": pending.client.origin, "scopes": sorted(pending.scopes)}

    return _recorded(step, begin)


def oauth_finish(step: Step) -> StepResult:
    """Wait for the callback, exchange the code once, and use the token from here on."""

    def finish(record: list[Entry]) -> tuple[str, dict[str, Any]]:
        if step.alias.sign_in is None:
            raise Failed(Code.OAUTH_REQUIRED, "There is no sign-in to finish. Run `oauth_begin` first.")
        grant = step.alias.sign_in.finish(step.stop_if_cancelled, record)
        step.alias.signed_in(authorization(grant.access_token)[1])
        step.facts["grant"] = grant_facts(grant) | {"publicListed": step.alias.sign_in.public_listed}
        return f"Signed in with {_scopes(grant)}.", _state(grant)

    return _recorded(step, finish)


def _recorded(step: Step, half: Callable[[list[Entry]], tuple[str, dict[str, Any]]]) -> StepResult:
    """Carry out a half; its record is kept whatever comes of it."""
    record: list[Entry] = []
    state: dict[str, Any] | None = None
    try:
        text, state = half(record)
        verdict = Verdict("succeeded", None, text)
    except Failed as failed:
        data = failed.failure.data
        # A request that may have been carried out: a client may be registered now, or a code be spent.
        unknown = isinstance(data, dict) and data.get("unknown") is True
        verdict = Verdict("unknown" if unknown else "failed", failed.code, failed.failure.message)
    step.facts["signIn"] = as_facts(record)
    return step.result(verdict, state)


def _sign_in(step: Step) -> SignIn:
    alias, context = step.alias, step.context
    if alias.sign_in is None:
        settings = alias.binding.oauth
        assert settings is not None
        target = Target(endpoint(alias, context), settings, context.origins)
        alias.sign_in = SignIn(
            target,
            transport(alias.binding, context),
            alias.binding.timeout_ms / 1000,
            context.learn,
            lambda url, stop: context.open_consent(alias.name, url, stop),
        )
    return alias.sign_in


def _state(grant: Grant) -> dict[str, Any]:
    return {
        "kind": "signed-in",
        "client": grant.client.origin,
        "requested": sorted(grant.requested),
        "scopes": sorted(grant.scopes),
        "refresh": grant.refresh_token is not None,
    }


def _scopes(grant: Grant) -> str:
    return f"the scopes {', '.join(sorted(grant.scopes))}" if grant.scopes else "no named scope"
