"""Checks of the way to a server: its address, its port, TLS, a redirect, and what answers there."""

import ipaddress
from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from host.doctor.certificates import tls_check
from host.doctor.check import Check, ok, problem, skipped
from host.origins import origin
from protocol.values.document import integer
from protocol.wire.steps import StepResult

__all__ = ["Place", "answer", "place_of", "reaching"]

#: Statuses with which a server asks for credentials, or refuses those that it got.
REFUSING: Final = (401, 403)
_HTTP: Final = ("status", "contentType", "reply", "bytes", "events", "milliseconds")


class Place(NamedTuple):
    """Where the server is said to be. ``path`` is only looked at, never shown."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_local(self) -> bool:
        """Whether nothing between this machine and the server could listen."""
        if self.host == "localhost" or self.host.endswith(".localhost"):
            return True
        return self.address is not None and self.address.is_loopback

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """The address, where the host is one."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def place_of(url: str) -> Place:
    """Return the place that a URL names; it is usable, as :func:`host.origins.check_target` has it."""
    parts = urlsplit(origin(url))
    return Place(parts.scheme, parts.hostname or "", parts.port or 0, urlsplit(url).path)


def reaching(place: Place, connected: StepResult, now: float) -> list[Check]:
    """Return the checks that need no answer in MCP. ``now`` is in seconds since 1970."""
    network = _network(connected)
    return [
        _address(place, network, connected.message),
        _port(place, network, connected.message),
        tls_check(place.scheme, place.host, network, now, is_local=place.is_local),
        _redirect(connected),
    ]


def http_facts(connected: StepResult) -> Mapping[str, Any]:
    """Return what the answer to `initialize` was on HTTP; empty when there was none."""
    found = connected.facts.get("http")
    status = integer(found.get("status")) if isinstance(found, dict) else None
    return {} if status is None or not isinstance(found, dict) else {**found, "status": status}


def _network(connected: StepResult) -> Mapping[str, Any]:
    session = connected.facts.get("session")
    found = session.get("network") if isinstance(session, dict) else None
    return found if isinstance(found, dict) else {}


def _address(place: Place, network: Mapping[str, Any], message: str) -> Check:
    addresses = network.get("addresses")
    if not isinstance(addresses, list):
        help_ = "Check the spelling of the host's name, and that this machine can look it up."
        return problem("address", f"{place.host} has no address. {message}", help_, {"host": place.host})
    told = f"{place.host} has {len(addresses)} addresses." if len(addresses) > 1 else f"{place.host} is found."
    return ok("address", told, facts={"host": place.host, "addresses": addresses})


def _port(place: Place, network: Mapping[str, Any], message: str) -> Check:
    if "addresses" not in network:
        return skipped("port", "There is no address to connect to.")
    address = network.get("address")
    if address is None:
        help_ = "Check that the server runs, that this is its port, and that no firewall stands between."
        return problem("port", f"Nothing answers at port {place.port}. {message}", help_, {"port": place.port})
    return ok("port", f"Port {place.port} takes connections.", facts={"port": place.port, "address": address})


def _redirect(connected: StepResult) -> Check:
    http = http_facts(connected)
    if not http:
        return skipped("redirect", "There was no answer.")
    if connected.code != "redirect_refused":
        return ok("redirect", "The server answers at this address itself.")
    help_ = "Clients do not send their credentials after a redirect. Use the address that it leads to, if it is right."
    return problem("redirect", connected.message, help_, {"status": http["status"], "location": http.get("location")})


def answer(place: Place, connected: StepResult) -> Check:
    """Return the check of what answers `initialize`."""
    http = http_facts(connected)
    facts = {name: http[name] for name in _HTTP if name in http}
    if connected.status == "succeeded":
        form = "a stream of events" if http.get("reply") == "sse" else "JSON"
        return ok("answer", f"It answers MCP's `initialize`, as {form}.", facts=facts)
    if connected.code == "version_unsupported":
        return ok("answer", "It answers MCP's `initialize`.", facts=facts)
    if connected.code == "redirect_refused":
        return skipped("answer", "It redirects.")
    if http.get("status") in REFUSING:
        return skipped("answer", f"It answers with HTTP {http['status']} before MCP begins.", facts)
    if "address" not in _network(connected) or _is_tls(connected):
        return skipped("answer", "It could not be reached.")
    if isinstance(http.get("body"), str):
        facts["body"] = http["body"]
    return problem("answer", connected.message, _advice(place, http), facts)


def _is_tls(connected: StepResult) -> bool:
    return "reason" in (_network(connected).get("tls") or {})


def _advice(place: Place, http: Mapping[str, Any]) -> str:
    status, kind = http.get("status"), str(http.get("contentType") or "")
    if place.path.rstrip("/").endswith("/sse") and status in (400, 404, 405, 406):
        return (
            "This looks like the older HTTP+SSE transport, which has been replaced. Look for the server's Streamable"
            " HTTP endpoint, often `/mcp`."
        )
    if status is None:
        return "The server took the request and said nothing that could be used: look at its log."
    if kind.startswith("text/html"):
        return "This address gives web pages. Look for the MCP endpoint, often `/mcp`."
    return _ADVICE.get(status, "Look at the answer in the facts, and at the server's log.")


_ADVICE: Final = {
    400: "It may want headers that were not sent (`--header`, `--header-env`); the answer in the facts may say more.",
    404: "Check the path. MCP endpoints often end in `/mcp`; older servers speak HTTP+SSE at `/sse`, which is not MCP's"
    " Streamable HTTP.",
    405: "This address takes no POST: check the path. An older HTTP+SSE server answers like this at its `/sse`.",
    406: "It does not give what MCP clients ask for (JSON or an event stream): check the path and the settings.",
    415: "It does not take JSON: check the path.",
    429: "It limits requests. Wait, and try again.",
    502: "A gateway answers, and the server behind it does not.",
    503: "The server is not ready. Wait, and try again.",
    504: "A gateway answers, and the server behind it does not in time.",
}
