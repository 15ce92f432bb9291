"""Reads one alias's configuration into a binding, and names every value in it that must never be shown."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from oauth.settings import Settings, SettingsError, check_endpoint, read_settings
from oauth.settings import private_values as oauth_private_values
from plugin.configuration import (
    CONTRACT_FIELDS,
    FIELDS,
    FILE_NAME_LIMIT,
    TOKEN_LIMIT,
    URL_LIMIT,
)
from plugin.headers import HeaderError, read_headers
from protocol.mcp.origins import OriginError, origin
from protocol.values.urls import url_secrets
from protocol.wire.configuration import (
    Rule,
    invalid,
    read_choice,
    read_number,
    read_object,
    read_switch,
    require_object,
)
from protocol.wire.fields import PRIVATE_MINIMUM, Field

__all__ = ["Binding", "Contract", "authorization", "join", "private_values", "read_binding", "url_secrets"]

_TOKEN: Final = re.compile(r"[!-~]+\Z")
_SCHEME_AND_REST: Final = re.compile(r"[A-Za-z][A-Za-z0-9-]*[ \t]+(\S.*)\Z", re.DOTALL)
_ABSOLUTE: Final = re.compile(r"/[^\0]*\Z", re.DOTALL)
_ROUTE: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")
_BEARER: Final = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([!-~]+)\Z")


class Contract(NamedTuple):
    """Where the pin of an alias is: the absolute path of a registry, and the alias of a route in it."""

    registry: str
    route: str


class Binding(NamedTuple):
    """One alias's configuration, checked. ``headers`` have canonical names and hold no Authorization.

    ``bearer_token`` comes from the field of that name or from an Authorization header; times are in milliseconds.
    """

    endpoint: str
    bearer_token: str | None
    headers: tuple[tuple[str, str], ...]
    oauth: Settings | None
    token_directory: str | None
    ca_file: str | None
    server_managed: bool
    timeout_ms: int
    max_response_bytes: int
    max_pages: int
    max_items: int
    keep_text: bool
    resume: bool
    elicitation: bool
    contract: Contract | None

    def __repr__(self) -> str:
        return "<Binding>"


def read_binding(alias: str, configuration: Any) -> Binding:
    """Read the configuration of ``alias`` by the table of plugin.configuration.

    Raises Failed (`invalid_binding`) that names alias and field, and never quotes a value.
    """
    configuration = require_object(alias, configuration, FIELDS)
    for field in FIELDS.values():
        if field.required and field.name not in configuration:
            raise invalid(alias, field.name, "is required")
    values = {name: _read(alias, field, configuration) for name, field in FIELDS.items()}
    headers = dict(values["headers"] or {})
    token = values["bearerToken"]
    if "Authorization" in headers:
        if token is not None:
            raise invalid(alias, "bearerToken", "may not stand beside an Authorization header; keep one of the two")
        token = _bearer(alias, headers.pop("Authorization"))
    if values["oauth"] is not None:
        _check_oauth(alias, values, token)
    return Binding(
        endpoint=values["endpoint"],
        bearer_token=token,
        headers=tuple(headers.items()),
        oauth=values["oauth"],
        token_directory=values["tokenDirectory"],
        ca_file=values["caFile"],
        server_managed=values["sessionCleanup"] == "server-managed",
        timeout_ms=values["timeoutMs"],
        max_response_bytes=values["maxResponseBytes"],
        max_pages=values["maxPages"],
        max_items=values["maxItems"],
        keep_text=values["keepText"],
        resume=values["resume"],
        elicitation=values["elicitation"] == "defaults",
        contract=values["contract"],
    )


def _check_oauth(alias: str, values: Mapping[str, Any], token: str | None) -> None:
    """Refuse a second credential beside `oauth`, and an endpoint that a token may not be sent to."""
    for other, stands in (("`tokenDirectory`", values["tokenDirectory"] is not None), ("a bearer token", bool(token))):
        if stands:
            raise invalid(alias, "oauth", f"may not stand beside {other}; keep one of the two")
    try:
        check_endpoint(values["oauth"], values["endpoint"])
    except SettingsError as error:
        raise invalid(alias, "oauth", f"is not usable: {error.reason}") from None


def _read(alias: str, field: Field, configuration: Mapping[str, Any]) -> Any:
    if field.name not in configuration:
        return field.range.default if field.range else field.schema.get("default")
    try:
        if field.range:
            return read_number(configuration[field.name], field.range)
        return _READERS[field.name](configuration[field.name])
    except Rule as rule:
        raise invalid(alias, field.name, str(rule)) from None


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        raise Rule("must be a string")
    if not PRIVATE_MINIMUM <= len(value) <= most:
        raise Rule(f"must have {PRIVATE_MINIMUM} to {most} characters: a shorter one would be redacted everywhere")
    return value


def _endpoint(value: Any) -> str:
    url = _text(value, URL_LIMIT)
    try:
        origin(url)
    except OriginError as error:
        raise Rule(f"is not usable: {error.reason}") from None
    if "#" in url:
        raise Rule("must be a URL without a fragment")
    parts = urlsplit(url)
    if not (parts.path + parts.query).isascii():
        raise Rule("must be percent-encoded where its path or query is not ASCII")
    return url


def _token(value: Any) -> str:
    token = _text(value, TOKEN_LIMIT)
    if not _TOKEN.match(token):
        raise Rule("must hold printable ASCII characters without white space, and no scheme word")
    return token


def _headers(value: Any) -> dict[str, str]:
    if isinstance(value, str):
        value = read_object(value)
    try:
        headers = read_headers(value)
    except HeaderError as error:
        raise Rule(f"is not usable: {error.reason}") from None
    if any(len(text) < PRIVATE_MINIMUM for text in headers.values()):
        raise Rule(
            f"holds a value under {PRIVATE_MINIMUM} characters, which would be redacted everywhere;"
            " if it is public, set it by `connect headers=`"
        )
    return headers


def _oauth(value: Any) -> Settings:
    try:
        return read_settings(value)
    except SettingsError as error:
        raise Rule(f"is not usable: {error.reason}") from None


def _directory(value: Any) -> str:
    path = _text(value, FILE_NAME_LIMIT).rstrip("/")
    if not path.startswith("/") or "\0" in path or any(part in (".", "..") for part in path.split("/")):
        raise Rule("must be an absolute path of a directory, without `.` or `..` in it")
    return path


def _file(value: Any) -> str:
    path = _text(value, FILE_NAME_LIMIT)
    if not path.startswith("/") or "\0" in path:
        raise Rule("must be an absolute path")
    return path


def _contract(value: Any) -> Contract:
    if isinstance(value, str):
        value = read_object(value)
    if not isinstance(value, Mapping) or value.keys() != CONTRACT_FIELDS.keys():
        raise Rule(f"must be an object of {' and '.join(f'`{name}`' for name in CONTRACT_FIELDS)}, and nothing else")
    registry, route = value["registry"], value["route"]
    if not isinstance(registry, str) or len(registry) > FILE_NAME_LIMIT or not _ABSOLUTE.match(registry):
        raise Rule("must name the registry by its absolute path")
    if not isinstance(route, str) or not _ROUTE.match(route):
        raise Rule("must name the route by its alias: 1 to 64 letters, digits, `_`, `.` or `-`")
    return Contract(registry, route)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "endpoint": _endpoint,
    "bearerToken": _token,
    "headers": _headers,
    "oauth": _oauth,
    "tokenDirectory": _directory,
    "caFile": _file,
    "sessionCleanup": partial(read_choice, field=FIELDS["sessionCleanup"]),
    "keepText": read_switch,
    "resume": read_switch,
    "elicitation": partial(read_choice, field=FIELDS["elicitation"]),
    "contract": _contract,
}


def _bearer(alias: str, value: str) -> str:
    match = _BEARER.match(value)
    if match is None or len(match[1]) < PRIVATE_MINIMUM:
        raise invalid(
            alias,
            "headers",
            f"may set Authorization to `Bearer` and a token of {PRIVATE_MINIMUM} or more characters only",
        )
    return match[1]


def authorization(token: str) -> tuple[str, str]:
    """Return the header that carries a bearer token (RFC 6750, section 2.1)."""
    return ("Authorization", f"Bearer {token}")


def join(endpoint: str, path: str | None) -> str:
    """Append ``path`` to the endpoint after exactly one slash; without a path the endpoint is used as it is written."""
    return endpoint if path is None else f"{endpoint.rstrip('/')}/{path}"


def private_values(binding: Binding) -> list[str]:
    """List every value of a binding that must never be shown."""
    values = url_secrets(binding.endpoint)
    values += [text for text in (binding.bearer_token, binding.token_directory, binding.ca_file) if text]
    for _, text in binding.headers:
        values += _header_secrets(text)
    if binding.oauth is not None:
        values += oauth_private_values(binding.oauth)
    return values


def _header_secrets(text: str) -> list[str]:
    """A header's value, and what follows a scheme word in it: a server may echo `Token abcd` without its first word."""
    match = _SCHEME_AND_REST.match(text)
    return [match[1], text] if match and len(match[1]) >= PRIVATE_MINIMUM else [text]
