"""The client of a sign-in: the binding's own, a client metadata document, or one registered for it (RFC 7591)."""

from typing import Any, Final, NamedTuple

from oauth.authentication import BASIC, METHODS, NONE, POST, Client, usable
from oauth.challenge import FATAL
from oauth.discovery import Found, Target
from oauth.grammar import is_printable
from oauth.metadata import MetadataError, read_object
from oauth.record import Entry, failed, quoted, unanswered
from oauth.refusal import refusal
from oauth.steps import Fetch, Flow, Learn, NoReply, Reply
from oauth.support import endpoint_lack
from protocol.failures import Code, Failed
from protocol.values.document import encode

__all__ = ["REGISTRATION", "Applicant", "obtain"]

#: The document of the record.
REGISTRATION: Final = "client registration"
_BY_HAND: Final = "Register a client by hand and bind `clientId` with its `callbackPath`."
#: Longest client id and secret that are accepted, in characters.
_TEXT_LIMIT: Final = 16_384


class Applicant(NamedTuple):
    """Who asks to be registered: the name that a consent page shows, the exact redirect URI, and the scopes."""

    name: str
    redirect_uri: str
    scopes: tuple[str, ...]


def obtain(target: Target, found: Found, applicant: Applicant, record: list[Entry]) -> Flow[Client]:
    """Return the client to sign in with; whatever is private of it has been learnt by then.

    The binding's client comes first, then its metadata document where the issuer supports one, then registration as a
    public native client. Raises Failed (`oauth_registration_failed`), with ``unknown`` in its data when the request
    may have been carried out.
    """
    settings, server = target.settings, found.server
    if settings.client_id is not None:
        method = usable(settings, server.token_methods)[0]
        return Client(settings.client_id, settings.client_secret, method, "binding")
    url = settings.client_metadata_url
    if url is not None:
        methods = usable(settings, server.token_methods, document=True)
        if server.metadata_documents and methods:
            record.append(Entry(REGISTRATION, url, None, "the client metadata document is the client", True))
            return Client(url, None, methods[0], "document")
        reason = "the issuer does not support client metadata documents"
        if server.metadata_documents:
            reason = "`token_endpoint_auth_methods_supported` does not list `none`, and such a client has no secret"
        record.append(Entry(REGISTRATION, url, None, reason, False))
    return (yield from _register(target, found, applicant, record))


def _register(target: Target, found: Found, applicant: Applicant, record: list[Entry]) -> Flow[Client]:
    url = found.server.registration_endpoint
    missing = endpoint_lack("registration_endpoint", url, target.settings, target.admitted)
    if url is None or missing is not None:
        assert missing is not None
        code = Code.OAUTH_REGISTRATION_FAILED if url is None else missing.code
        record.append(Entry(REGISTRATION, url or found.issuer, None, missing.reason, False))
        raise failed(code, record[-1], missing.advice or _BY_HAND)
    headers = (("Content-Type", "application/json"), ("Accept", "application/json"))
    body = encode(_metadata(target, found, applicant))
    reply: Reply | NoReply = yield Fetch(REGISTRATION, "POST", url, headers, body)
    if isinstance(reply, NoReply):
        record.append(Entry(REGISTRATION, url, None, unanswered(reply), False))
        if reply.code in FATAL and not reply.sent:
            raise Failed(reply.code, reply.message)
        code = reply.code if reply.code in FATAL else Code.OAUTH_REGISTRATION_FAILED
        raise failed(code, record[-1], "A client may be registered all the same.", unknown=reply.sent)
    entry = Entry(REGISTRATION, url, reply.status, "", False)
    # RFC 7591, section 3.2.1, has 201 only; 200 is common and means the same.
    if reply.status not in (200, 201):
        record.append(entry._replace(reason=_said(reply)))
        raise failed(Code.OAUTH_REGISTRATION_FAILED, record[-1], _BY_HAND)
    return (yield from _read(target, found, applicant, reply, record))


def _said(reply: Reply) -> str:
    return "a redirect, which is not followed" if reply.redirects else refusal(reply, ())


def _metadata(target: Target, found: Found, applicant: Applicant) -> dict[str, Any]:
    """Return what is registered (RFC 7591, section 2; OpenID Connect Registration 1.0 for the application type)."""
    grants = ["authorization_code"] + (["refresh_token"] if target.settings.refresh else [])
    metadata: dict[str, Any] = {
        "client_name": applicant.name,
        "redirect_uris": [applicant.redirect_uri],
        "grant_types": grants,
        "response_types": ["code"],
        "token_endpoint_auth_method": usable(target.settings, found.server.token_methods)[0],
        "application_type": "native",
    }
    if applicant.scopes:
        metadata["scope"] = " ".join(applicant.scopes)
    return metadata


def _read(target: Target, found: Found, applicant: Applicant, reply: Reply, record: list[Entry]) -> Flow[Client]:
    entry = Entry(REGISTRATION, found.server.registration_endpoint or "", reply.status, "", False)
    try:
        document = read_object(reply.body)
        values = {name: _text(document, name) for name in ("client_id", "client_secret", "registration_access_token")}
        yield Learn(tuple(value for value in values.values() if value))
        client = _client(target, found, document, values)
        _check_redirect(document, applicant)
    except MetadataError as error:
        record.append(entry._replace(reason=error.reason))
        raise failed(Code.OAUTH_REGISTRATION_FAILED, record[-1], _BY_HAND) from None
    reason = f"registered, with `{client.method}` at the token endpoint"
    record.append(entry._replace(reason=reason, taken=True))
    return client


def _client(target: Target, found: Found, document: dict[str, Any], values: dict[str, str | None]) -> Client:
    identity, secret = values["client_id"], values["client_secret"]
    if not identity:
        raise MetadataError("`client_id` is missing")
    method = document.get("token_endpoint_auth_method")
    if method is None:
        method = _implied(target, found, secret)
    elif method not in METHODS:
        shown = quoted(method) if isinstance(method, str) else "not a string"
        raise MetadataError(f"`token_endpoint_auth_method` is {shown}, which needs a key")
    if method != NONE and not target.settings.any_authentication:
        raise MetadataError(f"the client is registered with `{method}`; set `clientAuthentication` to `any`")
    if method != NONE and not secret:
        raise MetadataError("`client_secret` is missing, which the registered method needs")
    if method != NONE and method not in (found.server.token_methods or (BASIC, POST)):
        raise MetadataError(f"the client is registered with `{method}`, which the issuer does not list")
    return Client(identity, secret, method, "registration")


def _implied(target: Target, found: Found, secret: str | None) -> str:
    """Return the method of a client whose registration names none: with a secret the issuer means it to be shown."""
    if not secret or not target.settings.any_authentication:
        return NONE
    listed = found.server.token_methods or (BASIC,)
    return next((method for method in (BASIC, POST) if method in listed), NONE)


def _check_redirect(document: dict[str, Any], applicant: Applicant) -> None:
    registered = document.get("redirect_uris")
    if registered is not None and (not isinstance(registered, list) or applicant.redirect_uri not in registered):
        raise MetadataError("`redirect_uris` does not hold the redirect that was asked for")


def _text(document: dict[str, Any], name: str) -> str | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or (value and not is_printable(value)) or len(value) > _TEXT_LIMIT:
        raise MetadataError(f"`{name}` is not a string of printable ASCII characters")
    return value
