"""Reads a binding's ``oauth`` object by the table of oauth.fields, with the rules that hold between its fields."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from oauth.fields import (
    CALLBACK_PATH,
    FIELDS,
    PATH_LIMIT,
    SCOPE_LIMIT,
    SCOPES_LIMIT,
    TEXT_LIMIT,
    URL_LIMIT,
)
from oauth.grammar import are_scopes, is_printable
from oauth.urls import endpoint_fault, issuer_fault, metadata_document_fault
from protocol.values.document import JsonError, parse
from protocol.wire.configuration import Rule, read_choice, read_number, read_switch
from protocol.wire.fields import PRIVATE_MINIMUM, Field

__all__ = ["ENDPOINT", "LISTED", "Settings", "SettingsError", "check_endpoint", "private_values", "read_settings"]

#: The issuer is the endpoint's own origin.
ENDPOINT: Final = "endpoint"
#: The issuer is the first that the resource metadata lists and whose origin the host admits.
LISTED: Final = "listed"
#: A scope that asks for a refresh token (OpenID Connect Core 1.0, section 11).
OFFLINE_ACCESS: Final = "offline_access"

_PATH: Final = re.compile(r"/[A-Za-z0-9/_-]*\Z")


class SettingsError(ValueError):
    """The object may not be used. ``reason`` begins with the field's name in backticks and quotes no value."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Settings(NamedTuple):
    """One binding's OAuth settings, checked. ``callback_port`` is 0 for a free one; times are in milliseconds."""

    issuer: str
    scopes: tuple[str, ...] | None = None
    client_id: str | None = None
    client_secret: str | None = None
    callback_path: str = CALLBACK_PATH
    callback_port: int = 0
    callback_host: str = "127.0.0.1"
    client_metadata_url: str | None = None
    any_authentication: bool = False
    refresh: bool = False
    step_up: bool = False
    client_credentials: bool = False
    compat: bool = False
    loopback_http: bool = False
    consent_timeout_ms: int = 120_000

    def __repr__(self) -> str:
        return "<Settings>"


def private_values(settings: Settings) -> list[str]:
    """List what must never be shown of the settings. More is learnt on the way to a token."""
    return [value for value in (settings.client_id, settings.client_secret) if value is not None]


def check_endpoint(settings: Settings, endpoint: str) -> None:
    """Refuse an endpoint that no token may be sent to: it has to be https, or loopback with `allowLoopbackHttp`.

    Raises SettingsError.
    """
    fault = endpoint_fault(endpoint, loopback_http=settings.loopback_http)
    if fault is not None:
        raise SettingsError(f"`endpoint` beside it {fault}")


def read_settings(value: Any) -> Settings:
    """Read the object, or the JSON text of one. Raises SettingsError that names the field and quotes no value."""
    if isinstance(value, str):
        value = _object_in(value)
    if not isinstance(value, Mapping):
        raise SettingsError("the value must be an object, or a JSON object as a string")
    if any(name not in FIELDS for name in value):
        raise SettingsError(f"the object holds a field that is not one of {', '.join(FIELDS)}")
    for field in FIELDS.values():
        if field.required and field.name not in value:
            raise SettingsError(f"`{field.name}` is required")
    values = {name: _read(field, value) for name, field in FIELDS.items()}
    for holds, reason in _RULES:
        if not holds(values):
            raise SettingsError(reason)
    return _settings(values)


def _settings(values: dict[str, Any]) -> Settings:
    fault = None
    if values["issuer"] not in (ENDPOINT, LISTED):
        fault = issuer_fault(values["issuer"], loopback_http=values["allowLoopbackHttp"])
    if fault is not None:
        raise SettingsError(f"`issuer` {fault} (or `{ENDPOINT}`, or `{LISTED}`)")
    return Settings(
        issuer=values["issuer"],
        scopes=values["scopes"],
        client_id=values["clientId"],
        client_secret=values["clientSecret"],
        callback_path=values["callbackPath"] or CALLBACK_PATH,
        callback_port=values["callbackPort"],
        callback_host=values["callbackHost"],
        client_metadata_url=values["clientMetadataUrl"],
        any_authentication=values["clientAuthentication"] == "any" or values["clientSecret"] is not None,
        refresh=values["refresh"],
        step_up=values["stepUp"],
        client_credentials=_by_secret(values),
        compat=values["compat"] is not None,
        loopback_http=values["allowLoopbackHttp"],
        consent_timeout_ms=values["consentTimeoutMs"],
    )


def _object_in(text: str) -> Any:
    try:
        document = parse(text)
    except JsonError as error:
        raise SettingsError(f"the string is not strict JSON: {error.reason}") from None
    if document.repeated:
        raise SettingsError("the object repeats a field")
    return document.value


def _by_secret(values: dict[str, Any]) -> bool:
    return bool(values["grant"] == "client_credentials")


#: What has to hold between fields, and what is said when it does not. The first that fails is named.
_RULES: Final[tuple[tuple[Callable[[dict[str, Any]], bool], str], ...]] = (
    (
        lambda values: values["clientSecret"] is None or values["clientId"] is not None,
        "`clientSecret` needs a `clientId` beside it",
    ),
    # The server under test writes the list, and would choose whom the secret is shown to.
    (
        lambda values: values["clientSecret"] is None or values["issuer"] != LISTED,
        f"`clientSecret` may not stand beside `issuer` of `{LISTED}`: name the issuer that the client is registered at",
    ),
    (
        lambda values: values["clientId"] is None or _by_secret(values) or values["callbackPath"] is not None,
        "`clientId` needs a `callbackPath` beside it: the exact path that the client is registered with",
    ),
    (
        lambda values: values["clientId"] is None or values["clientMetadataUrl"] is None,
        "`clientMetadataUrl` may not stand beside `clientId`: either is the client id",
    ),
    (
        lambda values: not _by_secret(values) or values["clientSecret"] is not None,
        "`grant` of `client_credentials` needs `clientId` and `clientSecret` beside it",
    ),
    (
        lambda values: not _by_secret(values) or not (values["refresh"] or values["callbackPath"]),
        "`grant` of `client_credentials` goes without consent: take out `refresh` and `callbackPath`",
    ),
    (
        lambda values: values["clientSecret"] is None or values["clientAuthentication"] != "none",
        "`clientSecret` may not stand beside `clientAuthentication` of `none`",
    ),
    (
        lambda values: OFFLINE_ACCESS not in (values["scopes"] or ()) or values["refresh"],
        f"`scopes` may hold `{OFFLINE_ACCESS}` with `refresh` only",
    ),
)


def _read(field: Field, values: Mapping[str, Any]) -> Any:
    if field.name not in values:
        # Whether `none` was written matters beside a secret, so its default is not filled in here.
        absent = None if field.name == "clientAuthentication" else field.schema.get("default")
        return field.range.default if field.range else absent
    value = values[field.name]
    try:
        if field.range:
            return read_number(value, field.range)
        if "enum" in field.schema and field.name not in _READERS:
            return read_choice(value, field)
        return _READERS[field.name](value)
    except Rule as rule:
        raise SettingsError(f"`{field.name}` {rule}") from None


def _issuer(value: Any) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= URL_LIMIT:
        raise Rule(f"must be a string of at most {URL_LIMIT} characters")
    return value


def _scopes(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= SCOPES_LIMIT:
        raise Rule(f"must be an array of 1 to {SCOPES_LIMIT} strings")
    if not all(isinstance(scope, str) and are_scopes(scope) and len(scope) <= SCOPE_LIMIT for scope in value):
        raise Rule("must hold scopes of printable ASCII without spaces, quotes and backslashes, one an entry")
    if len(set(value)) < len(value):
        raise Rule("repeats a scope")
    return tuple(value)


def _private(value: Any) -> str:
    if not isinstance(value, str) or not is_printable(value):
        raise Rule("must be a string of printable ASCII characters")
    if not PRIVATE_MINIMUM <= len(value) <= TEXT_LIMIT:
        raise Rule(
            f"must have {PRIVATE_MINIMUM} to {TEXT_LIMIT} characters: a shorter one would be redacted everywhere"
        )
    return value


def _path(value: Any) -> str:
    if not isinstance(value, str) or not _PATH.match(value) or len(value) > PATH_LIMIT:
        raise Rule("must be a path of letters, digits, `/`, `_` and `-` that begins with `/`")
    if value == "/done":
        raise Rule("must not be /done: the page after the callback stands there")
    return value


def _document(value: Any) -> str:
    fault = metadata_document_fault(value) if isinstance(value, str) else "must be a string"
    if fault is not None:
        raise Rule(fault)
    return str(value)


_READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "issuer": _issuer,
    "scopes": _scopes,
    "clientId": _private,
    "clientSecret": _private,
    "callbackPath": _path,
    "clientMetadataUrl": _document,
    "refresh": read_switch,
    "stepUp": read_switch,
    "allowLoopbackHttp": read_switch,
}
