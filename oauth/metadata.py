"""Strict readings of the two metadata documents: a protected resource's (RFC 9728) and an authorization server's."""

from typing import Any, NamedTuple

from oauth.grammar import are_scopes
from protocol.values.document import JsonError, parse

__all__ = [
    "MetadataError",
    "ResourceMetadata",
    "ServerMetadata",
    "read_object",
    "read_resource",
    "read_server",
    "scope_tokens",
]


class MetadataError(ValueError):
    """A document is not what its RFC says. ``reason`` names the member; it quotes nothing."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ResourceMetadata(NamedTuple):
    """What a sign-in takes from RFC 9728, section 2. ``resource`` is exactly as published."""

    resource: str
    authorization_servers: tuple[str, ...]
    scopes: tuple[str, ...] | None

    def __repr__(self) -> str:
        return "<ResourceMetadata>"


class ServerMetadata(NamedTuple):
    """What a sign-in takes from RFC 8414, section 2, and the documents that extend it. None: the member is absent."""

    issuer: str
    authorization_endpoint: str | None
    token_endpoint: str | None
    registration_endpoint: str | None
    scopes: tuple[str, ...] | None
    response_types: tuple[str, ...] | None
    grant_types: tuple[str, ...] | None
    token_methods: tuple[str, ...] | None
    challenge_methods: tuple[str, ...] | None
    #: RFC 9207, section 3: the callback carries ``iss``.
    issuer_in_callback: bool
    #: The client id may be the URL of a client metadata document.
    metadata_documents: bool


def read_object(body: bytes) -> dict[str, Any]:
    """Read a body as one strict JSON object without repeated members at any depth. Raises MetadataError."""
    try:
        document = parse(body)
    except JsonError as error:
        raise MetadataError(f"the body is not strict JSON: {error.reason}") from None
    if not isinstance(document.value, dict):
        raise MetadataError("the body is not a JSON object")
    if document.repeated:
        raise MetadataError("the document repeats a member")
    return document.value


def read_resource(document: dict[str, Any]) -> ResourceMetadata:
    """Read protected resource metadata. Raises MetadataError for a missing or ill-typed member."""
    resource = _text(document, "resource")
    servers = _texts(document, "authorization_servers")
    if resource is None:
        raise MetadataError("`resource` is missing")
    if not servers:
        raise MetadataError("`authorization_servers` is missing or empty")
    return ResourceMetadata(resource, servers, scope_tokens(document, "scopes_supported"))


def read_server(document: dict[str, Any]) -> ServerMetadata:
    """Read authorization server metadata, by itself: what a sign-in needs of it is checked elsewhere.

    Raises MetadataError for an ill-typed member; null counts as absent.
    """
    issuer = _text(document, "issuer")
    if issuer is None:
        raise MetadataError("`issuer` is missing")
    return ServerMetadata(
        issuer=issuer,
        authorization_endpoint=_text(document, "authorization_endpoint"),
        token_endpoint=_text(document, "token_endpoint"),
        registration_endpoint=_text(document, "registration_endpoint"),
        scopes=scope_tokens(document, "scopes_supported"),
        response_types=_texts(document, "response_types_supported"),
        grant_types=_texts(document, "grant_types_supported"),
        token_methods=_texts(document, "token_endpoint_auth_methods_supported"),
        challenge_methods=_texts(document, "code_challenge_methods_supported"),
        issuer_in_callback=_flag(document, "authorization_response_iss_parameter_supported"),
        metadata_documents=_flag(document, "client_id_metadata_document_supported"),
    )


def scope_tokens(document: dict[str, Any], name: str) -> tuple[str, ...] | None:
    """Read a list of scopes, each a scope token (RFC 6749, section 3.3); a repeated one counts once."""
    scopes = _texts(document, name)
    if scopes is not None and not are_scopes(*scopes):
        raise MetadataError(f"`{name}` holds a text that is no scope")
    return scopes and tuple(dict.fromkeys(scopes))


def _text(document: dict[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is not None and not isinstance(value, str):
        raise MetadataError(f"`{name}` is not a string")
    return value


def _texts(document: dict[str, Any], name: str) -> tuple[str, ...] | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise MetadataError(f"`{name}` is not an array of strings")
    return tuple(value)


def _flag(document: dict[str, Any], name: str) -> bool:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise MetadataError(f"`{name}` is not a boolean")
    return bool(value)
