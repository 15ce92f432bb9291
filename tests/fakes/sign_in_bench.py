"""An inspector in this process whose alias signs in, at a server of ours and with a browser that consents at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.browser import browse, listens
from tests.fakes.plugin_bench import Bench, bench

OAUTH = {"issuer": "endpoint", "allowLoopbackHttp": True, "consentTimeoutMs": 20_000}
BEGUN = ("succeeded", None, "none")
SECOND_TOKEN = "at-2-Zx8cV6bN4mL2kJ0hG"


@contextmanager
def signing_in(
    server: AuthorizationServer, *, others: Any = None, timeout: int = 15_000, **oauth: Any
) -> Iterator[Bench]:
    """A bench whose alias `api` signs in at the server, with a browser that consents at once.

    On the way out nothing private may stand in what was answered, and no listener may be left.
    """
    with bench(server, others=others, timeoutMs=timeout, oauth=OAUTH | oauth) as plugin:
        ports: list[int] = []

        def consent(url: str) -> None:
            ports.append(port(url))
            browse(url)

        plugin.browser = consent
        yield plugin
    assert not any(listens(each) for each in ports)


def port(url: str) -> int:
    """The port of the callback that an authorization URL names."""
    return urlsplit(parse_qs(urlsplit(url).query)["redirect_uri"][0]).port or 0


def sign_in(plugin: Bench) -> None:
    for half in ("oauth_begin", "oauth_finish"):
        result = plugin.run(half)
        assert result["status"] == "succeeded", result


def tokens_shown(server: AuthorizationServer) -> list[str]:
    """The bearer token of each request to the endpoint, in order; empty where there was none."""
    return [
        request.headers.get("authorization", "").removeprefix("Bearer ")
        for request in server.requests
        if request.path == "/mcp"
    ]
