"""How a client authenticates at the token endpoint: which methods may be used, and what each adds to a request."""

from base64 import b64encode
from typing import Final, NamedTuple
from urllib.parse import quote_plus

from oauth.settings import Settings

__all__ = ["BASIC", "METHODS", "NONE", "POST", "Client", "authenticate", "spellings", "usable"]

# Names of RFC 7591, section 2.
NONE: Final = "none"
BASIC: Final = "client_secret_basic"
POST: Final = "client_secret_post"
#: The methods that a client without keys can use, the most modest first.
METHODS: Final = (NONE, BASIC, POST)


class Client(NamedTuple):
    """A client at one issuer. ``origin`` is where it comes from: the binding, a metadata document, or registration."""

    id: str
    secret: str | None
    method: str
    origin: str

    def __repr__(self) -> str:
        return f"<Client {self.origin}>"


def usable(settings: Settings, listed: tuple[str, ...] | None, *, document: bool = False) -> tuple[str, ...]:
    """Return the methods that the settings allow and the issuer supports, the preferred one first.

    ``listed`` is ``token_endpoint_auth_methods_supported``; where it is absent, ``client_secret_basic`` is implied
    (RFC 8414, section 2). ``document``: for a client that is a metadata document, which has no secret.
    """
    if not settings.any_authentication:
        return (NONE,) if NONE in (listed or ()) else ()
    if settings.client_secret is not None:
        return tuple(method for method in (BASIC, POST) if method in (listed or (BASIC,)))
    if settings.client_id is not None or document:
        # Without a list nothing says that a public client is welcome; with nothing else to show, it is worth a try.
        return (NONE,) if listed is None or NONE in listed else ()
    return tuple(method for method in METHODS if method in (listed or (BASIC,)))


def authenticate(client: Client) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Return the headers and the form fields that authenticate a client (RFC 6749, sections 2.3.1 and 3.2.1).

    Id and secret of the Basic scheme are form-encoded first, which many clients forget: a colon or a percent sign in
    either is another credential otherwise. The id stands in the form as well, which section 3.2.1 allows: servers made
    with the official Python SDK look for it there.
    """
    named = (("client_id", client.id),)
    if client.method == BASIC:
        return (("Authorization", f"Basic {_credential(client)}"),), named
    if client.method == POST:
        return (), (*named, ("client_secret", client.secret or ""))
    return (), named


def spellings(client: Client) -> tuple[str, ...]:
    """Return how a request spells what is private of a client, where that is not as it is known already.

    These are the credential of the Basic scheme, and id and secret as a form has them. A server that repeats one of
    them repeats the secret. A metadata document is public, and so is its address.
    """
    if client.origin == "document":
        return ()
    plain = tuple(text for text in (client.id, client.secret) if text)
    encoded = tuple(quote_plus(text) for text in plain)
    credential = (_credential(client),) if client.method == BASIC else ()
    return (*credential, *(text for text in encoded if text not in plain))


def _credential(client: Client) -> str:
    pair = f"{quote_plus(client.id)}:{quote_plus(client.secret or '')}"
    return b64encode(pair.encode()).decode()
