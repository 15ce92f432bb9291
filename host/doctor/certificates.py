"""The check of TLS: whether the certificate is trusted, which names it is for, and how long it is still valid."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from host.doctor.check import Check, listed, ok, problem, skipped, warning
from protocol.values.document import integer

__all__ = ["tls_check"]

#: Days before its end from which on a certificate should have been renewed: automatic renewal is due at thirty.
SOON_DAYS: Final = 21
_DAY: Final = 86_400
_UNKNOWN: Final = (
    "If it comes from an authority of your own, name that with `--ca-file FILE`. If not, the server may not send the"
    " certificates between its own and a known authority."
)
_NAMES: Final = "Use a name that the certificate is for, or get one for this name."
#: What to do, by OpenSSL's code of a verification that failed (X509_V_ERR_… of openssl/x509_vfy.h).
_HELP: Final = {
    9: "The certificate is not valid yet: check the clocks of both machines.",
    10: "Renew the certificate. If it is new, the server has to be told to use it.",
    18: "The certificate is signed by itself. Name it with `--ca-file FILE` if it is yours.",
    19: _UNKNOWN,
    20: _UNKNOWN,
    21: _UNKNOWN,
    23: "The certificate was revoked: get a new one.",
    62: _NAMES,
    64: _NAMES,
}


def tls_check(scheme: str, host: str, network: Mapping[str, Any], now: float, *, is_local: bool) -> Check:
    """Return the check; ``now`` is in seconds since 1970."""
    if scheme != "https":
        if is_local:
            return skipped("tls", "Plain HTTP, which stays on this machine.")
        help_ = "Serve MCP over https: whoever is on the way can read and change what is sent, tokens too."
        return warning("tls", "Plain HTTP: nothing protects what is sent.", help_)
    found = network.get("tls")
    if not isinstance(found, dict):
        return skipped("tls", "There was no connection to secure.")
    if "reason" in found:
        return _failed(host, found)
    certificate = found.get("certificate")
    facts: dict[str, Any] = {name: found.get(name) for name in ("version", "cipher")}
    if not isinstance(certificate, dict):
        return ok("tls", f"{found.get('version')}, and the certificate is trusted.", facts=facts)
    left = _left(certificate.get("notAfter"), now)
    told = f"{found.get('version')}; the certificate is trusted, for {listed(certificate.get('names') or ['?'])}"
    facts |= {"certificate": certificate, "daysLeft": left}
    if left is not None and left < SOON_DAYS:
        help_ = "Renew it before it ends; then clients refuse the server."
        return warning("tls", f"{told}. It ends in {left} days.", help_, facts)
    until = "" if left is None else f", until {str(certificate['notAfter'])[:10]}"
    return ok("tls", f"{told}{until}.", facts=facts)


def _failed(host: str, found: Mapping[str, Any]) -> Check:
    code = integer(found.get("verifyCode"))
    reason = found.get("reason")
    if code is None:
        told = f"No secure connection could be made{f': {reason}' if reason else ''}."
        return problem("tls", told, "Check that this port speaks TLS; `http://` may be meant.", {"reason": reason})
    help_ = _HELP.get(code, _UNKNOWN)
    told = f"The certificate for {host} is not trusted: {reason}."
    return problem("tls", told, help_, {"reason": reason, "verifyCode": code})


def _left(ends: Any, now: float) -> int | None:
    """Return the whole days until a time in RFC 3339."""
    try:
        until = datetime.fromisoformat(str(ends)).astimezone(UTC)
    except ValueError:
        return None
    return int((until.timestamp() - now) // _DAY)
