"""URLs of a sign-in: which may be used, where metadata is looked for, and when a resource covers an endpoint."""

import re
from typing import Final
from urllib.parse import urlsplit

from oauth.fields import URL_LIMIT
from protocol.mcp.origins import OriginError, origin
from protocol.values.urls import is_loopback

__all__ = [
    "base",
    "covers",
    "endpoint_fault",
    "issuer_fault",
    "metadata_document_fault",
    "resource_metadata_urls",
    "server_metadata_urls",
]

_RESOURCE_METADATA: Final = "/.well-known/oauth-protected-resource"
_SERVER_METADATA: Final = "/.well-known/oauth-authorization-server"
_OPENID_CONFIGURATION: Final = "/.well-known/openid-configuration"
_URL_CHARACTERS: Final = re.compile(r"[!-~]+\Z")


def endpoint_fault(url: str, *, loopback_http: bool) -> str | None:
    """Say what is wrong with a URL that a request is to go to; None when it may be used.

    It has to be absolute, https (http on loopback only with ``loopback_http``), without user information and fragment
    (RFC 6749, sections 3.1 and 3.2), of printable ASCII, and not longer than the limit.
    """
    if len(url) > URL_LIMIT:
        return f"must have at most {URL_LIMIT} characters"
    if not _URL_CHARACTERS.match(url):
        return "must be a URL of printable ASCII characters"
    try:
        origin(url)
    except OriginError as error:
        return f"is not usable: {error.reason}"
    if "#" in url:
        return "must be a URL without a fragment"
    if not url.lower().startswith("https:") and not (loopback_http and is_loopback(url)):
        return "must be an https URL" + ("" if not is_loopback(url) else ", or set `allowLoopbackHttp`")
    return None


def issuer_fault(url: str, *, loopback_http: bool) -> str | None:
    """Say what is wrong with an issuer identifier (RFC 8414, section 2): as for an endpoint, and without a query."""
    fault = endpoint_fault(url, loopback_http=loopback_http)
    if fault is None and "?" in url:
        return "must be a URL without a query"
    return fault


def metadata_document_fault(url: str) -> str | None:
    """Say what is wrong with the URL of a client metadata document (draft-ietf-oauth-client-id-metadata-document).

    It has to be https with a path of its own, without dot segments, query and fragment.
    """
    # No issuer could fetch it from this machine, so http is refused on loopback, too.
    fault = issuer_fault(url, loopback_http=True)
    if fault is None and not url.lower().startswith("https:"):
        fault = "must be an https URL"
    if fault is not None:
        return fault
    segments = urlsplit(url).path.split("/")
    if len(segments) < 2 or segments[1:] == [""]:
        return "must be a URL with a path"
    if any(segment in (".", "..") for segment in segments):
        return "must be a URL without `.` and `..` in its path"
    return None


def base(url: str) -> str:
    """Return scheme and authority of a URL as they are spelled, without path and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def resource_metadata_urls(endpoint: str) -> tuple[str, ...]:
    """Return where RFC 9728, section 3.1, puts the metadata of an endpoint: for its path first, then at the root."""
    parts = urlsplit(endpoint)
    root = base(endpoint) + _RESOURCE_METADATA
    own = "" if parts.path == "/" else parts.path
    query = f"?{parts.query}" if parts.query else ""
    return (root + own + query, root) if own or query else (root,)


def server_metadata_urls(issuer: str) -> tuple[str, ...]:
    """Return where an issuer's metadata may stand, in the order in which MCP asks.

    RFC 8414, section 3.1, then OpenID Connect Discovery with its name inserted in the same manner, then appended as
    OpenID Connect Discovery 1.0, section 4, has it. A slash at the issuer's end is left out.
    """
    path = urlsplit(issuer).path.rstrip("/")
    root = base(issuer)
    inserted = (root + _SERVER_METADATA + path, root + _OPENID_CONFIGURATION + path)
    return (*inserted, root + path + _OPENID_CONFIGURATION) if path else inserted


def covers(resource: str, endpoint: str) -> str | None:
    """Say why a published ``resource`` does not stand for the endpoint; None when it does.

    It has the endpoint's origin, and its path is that of the endpoint or a prefix of it that ends between two
    segments; one slash at its end counts for nothing. A query has to be the endpoint's own.
    """
    fault = endpoint_fault(resource, loopback_http=True)
    if fault is not None:
        return fault
    ours, theirs = urlsplit(endpoint), urlsplit(resource)
    if origin(resource) != origin(endpoint):
        return "has another origin than the endpoint"
    prefix = theirs.path.removesuffix("/").split("/")
    if ours.path.split("/")[: len(prefix)] != prefix:
        return "names another path than the endpoint's"
    if theirs.query not in ("", ours.query):
        return "has a query that is not the endpoint's"
    return None
