"""URLs of a sign-in: which are usable, where metadata is looked for, and what a published resource covers."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oauth.urls import (
    base,
    covers,
    endpoint_fault,
    issuer_fault,
    metadata_document_fault,
    resource_metadata_urls,
    server_metadata_urls,
)
from protocol.values.urls import is_loopback

_SEGMENT = st.text("abcXYZ019-._~%", min_size=1, max_size=6)
_HOST = st.sampled_from(["h.example", "127.0.0.1", "[::1]", "localhost", "H.Example:8443", "127.0.0.1:9"])
_PATH = st.lists(_SEGMENT, max_size=4).map(lambda parts: "".join(f"/{part}" for part in parts))
_URLS = st.builds(lambda host, path: f"https://{host}{path}", _HOST, _PATH)


@pytest.mark.parametrize(
    ("endpoint", "expected"),
    [
        (
            "https://h/mcp",
            ("https://h/.well-known/oauth-protected-resource/mcp", "https://h/.well-known/oauth-protected-resource"),
        ),
        ("https://h", ("https://h/.well-known/oauth-protected-resource",)),
        ("https://h/", ("https://h/.well-known/oauth-protected-resource",)),
        (
            "https://h:8443/a/b/?t=1",
            (
                "https://h:8443/.well-known/oauth-protected-resource/a/b/?t=1",
                "https://h:8443/.well-known/oauth-protected-resource",
            ),
        ),
    ],
)
def test_resource_metadata_stands_under_the_path_and_at_the_root(endpoint: str, expected: tuple[str, ...]) -> None:
    assert resource_metadata_urls(endpoint) == expected


@pytest.mark.parametrize(
    ("issuer", "expected"),
    [
        (
            "https://a",
            ("https://a/.well-known/oauth-authorization-server", "https://a/.well-known/openid-configuration"),
        ),
        (
            "https://a/",
            ("https://a/.well-known/oauth-authorization-server", "https://a/.well-known/openid-configuration"),
        ),
        (
            "https://a:1/t/1/",
            (
                "https://a:1/.well-known/oauth-authorization-server/t/1",
                "https://a:1/.well-known/openid-configuration/t/1",
                "https://a:1/t/1/.well-known/openid-configuration",
            ),
        ),
    ],
)
def test_server_metadata_is_asked_for_in_the_order_of_the_specification(issuer: str, expected: tuple[str, ...]) -> None:
    assert server_metadata_urls(issuer) == expected


@given(_URLS)
@settings(deadline=None, max_examples=100)
def test_every_place_of_metadata_is_at_the_origin_it_was_derived_from(url: str) -> None:
    usable = endpoint_fault(url, loopback_http=True) is None
    for place in (*resource_metadata_urls(url), *server_metadata_urls(url)):
        assert base(place) == base(url)
        assert not usable or endpoint_fault(place, loopback_http=True) is None


@pytest.mark.requirement("oauth.resource-covers")
@pytest.mark.parametrize(
    ("resource", "endpoint", "fault"),
    [
        ("https://h/mcp", "https://h/mcp", None),
        ("https://h/mcp/", "https://h/mcp", None),
        ("https://h/mcp", "https://h/mcp/", None),
        ("https://h", "https://h/mcp", None),
        ("https://h/", "https://h/mcp", None),
        ("https://H:443/a", "https://h/a/b", None),
        ("https://h/mcp?t=1", "https://h/mcp?t=1", None),
        ("https://h/mcp", "https://h/mcp?t=1", None),
        ("https://h/mc", "https://h/mcp", "names another path than the endpoint's"),
        ("https://h/mcp/x", "https://h/mcp", "names another path than the endpoint's"),
        ("https://h/MCP", "https://h/mcp", "names another path than the endpoint's"),
        ("https://h//", "https://h/mcp", "names another path than the endpoint's"),
        ("https://h/mcp?t=2", "https://h/mcp?t=1", "has a query that is not the endpoint's"),
        ("https://x/mcp", "https://h/mcp", "has another origin than the endpoint"),
        ("http://127.0.0.1/mcp", "https://127.0.0.1/mcp", "has another origin than the endpoint"),
        ("https://h:444/mcp", "https://h/mcp", "has another origin than the endpoint"),
        ("https://h@x/mcp", "https://h/mcp", "is not usable: the URL must hold no user information"),
        ("https://h/mcp#a", "https://h/mcp", "must be a URL without a fragment"),
        ("urn:mcp", "https://h/mcp", "is not usable: the URL must begin with http:// or https://"),
        ("", "https://h/mcp", "must be a URL of printable ASCII characters"),
    ],
)
def test_a_resource_covers_an_endpoint_by_origin_and_whole_segments(
    resource: str, endpoint: str, fault: str | None
) -> None:
    assert covers(resource, endpoint) == fault


@given(_URLS, st.integers(0, 5))
@settings(deadline=None, max_examples=150)
def test_every_prefix_of_whole_segments_covers_and_every_other_prefix_does_not(url: str, cut: int) -> None:
    if endpoint_fault(url, loopback_http=True) is not None:
        return
    prefix = base(url) + "/".join(urlsplit(url).path.split("/")[:cut])
    assert covers(prefix, url) is None
    assert covers(prefix + "/", url) is None
    assert covers(prefix + "x", url) is not None


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=200)
def test_no_text_makes_the_checks_fail_with_anything_but_a_reason(text: str) -> None:
    for url in (text, f"https://{text}", f"https://h/{text}"):
        assert endpoint_fault(url, loopback_http=True) is None or endpoint_fault(url, loopback_http=False) is not None
        issuer_fault(url, loopback_http=True)
        metadata_document_fault(url)
        covers(url, "https://h/mcp")
        is_loopback(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1", True),
        ("http://127.9.8.7:1/x", True),
        ("http://localhost:8000", True),
        ("http://LOCALHOST", True),
        ("http://[::1]:1", True),
        ("http://localhost.example", False),
        ("http://127.0.0.1.example", False),
        ("http://10.0.0.1", False),
        ("http://169.254.169.254", False),
        ("http://0.0.0.0", False),
        ("nonsense", False),
    ],
)
def test_loopback_is_told_by_the_host_alone(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://h/" + "a" * 8182, None),
        ("https://h/" + "a" * 8183, "must have at most 8192 characters"),
        ("https://h/?q#", "must be a URL without a fragment"),
        ("ftp://h/", "is not usable: the URL must begin with http:// or https://"),
        ("https:///x", "is not usable: the URL has no host, or a malformed one"),
        ("HTTPS://h/x", None),
        ("http://h/x", "must be an https URL"),
        ("http://[::1]/x", "must be an https URL, or set `allowLoopbackHttp`"),
        ("https://h/a b", "must be a URL of printable ASCII characters"),
        ("https://h/\n", "must be a URL of printable ASCII characters"),
    ],
)
def test_an_endpoint_is_an_absolute_https_url(url: str, fault: str | None) -> None:
    assert endpoint_fault(url, loopback_http=False) == fault


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("https://me.example/client.json", None),
        ("https://me.example/a/", None),
        ("https://me.example", "must be a URL with a path"),
        ("https://me.example/a?b", "must be a URL without a query"),
        ("https://me.example/./a", "must be a URL without `.` and `..` in its path"),
        ("http://127.0.0.1/a", "must be an https URL"),
    ],
)
def test_a_client_metadata_document_is_an_https_url_with_a_plain_path(url: str, fault: str | None) -> None:
    assert metadata_document_fault(url) == fault
