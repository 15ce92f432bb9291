"""The authorization URL: where the browser is sent for consent, with everything that a callback must bring back."""

from oauth.pkce import Proof

__all__ = ["authorization_url", "redirect_uri"]


def redirect_uri(host: str, port: int, path: str) -> str:
    """Return the loopback redirect (RFC 8252, section 7.3)."""
    return f"http://{host}:{port}{path}"


def authorization_url(
    endpoint: str, client_id: str, redirect: str, proof: Proof, *, scopes: tuple[str, ...], resource: str | None
) -> str:
    """Return the URL (RFC 6749, section 4.1.1; RFC 7636, section 4.3; RFC 8707, section 2).

    A query that the endpoint has is kept byte for byte (RFC 6749, section 3.1). The URL is private as a whole.
    """
    from authlib.oauth2.rfc6749.parameters import prepare_grant_uri

    path, _, query = endpoint.partition("?")
    url: str = prepare_grant_uri(
        path,
        client_id,
        "code",
        redirect_uri=redirect,
        scope=" ".join(scopes),
        state=proof.state,
        code_challenge=proof.challenge,
        code_challenge_method="S256",
        resource=resource,
    )
    return url if not query else f"{path}?{query}&{url.partition('?')[2]}"
