"""URLs: one form of an origin, what has none, and which parts of a URL are private. Both programs go by this table."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.private_fields import private_values
from protocol.values.urls import OriginError, origin, url_secrets


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h", "http://h:80"),
        ("https://h/", "https://h:443"),
        ("HTTPS://Example.COM:443/Path?q=1#f", "https://example.com:443"),
        ("http://example.com:443/", "http://example.com:443"),
        ("http://h:8080/mcp", "http://h:8080"),
        ("http://h:/x", "http://h:80"),
        ("http://h:0080/x", "http://h:80"),
        ("http://h:000000080/x", "http://h:80"),
        ("http://h./", "http://h.:80"),
        ("http://localhost:65535/mcp#part", "http://localhost:65535"),
        ("http://127.0.0.1:8080?x", "http://127.0.0.1:8080"),
        ("http://[::1]/", "http://[::1]:80"),
        ("http://[0:0:0:0:0:0:0:1]:8/", "http://[::1]:8"),
        ("http://[2001:DB8::A]", "http://[2001:db8::a]:80"),
        ("https://B\u00fccher.example", "https://xn--bcher-kva.example:443"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example:443"),
        ("http://my_host-1.local.", "http://my_host-1.local.:80"),
        ("http://_dns.example/", "http://_dns.example:80"),
        ("http://h?q=/@", "http://h:80"),
        ("http://h/" + "x" * 20_000, "http://h:80"),
    ],
)
def test_an_origin_has_one_form(url: str, expected: str) -> None:
    assert origin(url) == expected
    assert origin(expected) == expected


BEGIN = "the URL must begin with http:// or https://"
HOST = "the URL has no host, or a malformed one"
PORT = "the port must be a number from 1 to 65535"
USER = "the URL must hold no user information"
SPACE = "a URL holds no white space, control characters or backslashes"
ADDRESS = "the URL has a malformed IPv6 address"
ZONE = "an IPv6 address in a URL must have no zone"
PLACE = "the URL has a malformed host"
NAME = "the URL has a malformed international host"


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", BEGIN),
        ("h", BEGIN),
        ("h:80", BEGIN),
        ("//h", BEGIN),
        ("http:h", BEGIN),
        ("http:/h", BEGIN),
        ("ftp://h", BEGIN),
        ("file:///etc/passwd", BEGIN),
        ("http://", HOST),
        ("http:///x", HOST),
        ("http://:80", HOST),
        ("http://ex%61mple.com/", HOST),
        ("http://h%2e", HOST),
        ("http://a,b", HOST),
        ("http://a'b", HOST),
        ("http://a*b", HOST),
        ("http://-h", HOST),
        ("http://.h", HOST),
        ("http://h:0", PORT),
        ("http://h:65536", PORT),
        ("http://h:0000000080", PORT),
        ("http://h:x", PORT),
        ("http://h:-1", PORT),
        ("http://h:1:2", PORT),
        ("http://h:+1", PORT),
        ("http://::1", PORT),
        ("http://[::1]x", PLACE),
        ("http://x[::1]", PLACE),
        ("http://[::1", PLACE),
        ("http://[zz]", ADDRESS),
        ("http://[v1.x]", ADDRESS),
        ("http://[127.0.0.1]/", ADDRESS),
        ("http://[fe80::1%25eth0]", ZONE),
        ("http://u@h", USER),
        ("http://u:p@h", USER),
        ("http://@h", USER),
        ("http://example.com@evil.example/", USER),
        ("http://h\n", SPACE),
        ("http://h x", SPACE),
        (" http://h", SPACE),
        ("http://h\\@evil", SPACE),
        ("http://h\u00a0", SPACE),
        ("http://h\x7f", SPACE),
        ("http://h\x85/", SPACE),
        ("http://h\udcff", SPACE),
        ("http://a\u2024b", NAME),
        ("http://xn--\u00fc.example/", NAME),
    ],
)
def test_what_has_no_origin_says_why(url: str, reason: str) -> None:
    with pytest.raises(OriginError) as caught:
        origin(url)
    assert (str(caught.value), caught.value.reason) == (reason, reason)


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from("htps:/[]@#?%.,-_1aZ\u00e9\\ \n"), max_size=30))
def test_any_text_has_one_origin_or_none(text: str) -> None:
    for url in (text, f"http://{text}"):
        try:
            found = origin(url)
        except OriginError:
            continue
        assert origin(found) == origin(f"{found}/x") == found
        assert "@" not in found


@pytest.mark.parametrize(
    ("url", "values"),
    [
        ("http://h/mcp", ["http://h/mcp"]),
        ("http://h/123456789012345", ["http://h/123456789012345", "/123456789012345"]),
        ("http://h/12345678901234", ["http://h/12345678901234"]),
        ("http://h/m?k=abcd", ["http://h/m?k=abcd", "/m?k=abcd", "abcd"]),
        ("http://h/m?k=abc", ["http://h/m?k=abc", "/m?k=abc"]),
        (
            "http://h/m?k=a%20bc&l=x+yz",
            ["http://h/m?k=a%20bc&l=x+yz", "/m?k=a%20bc&l=x+yz", "a%20bc", "a bc", "x+yz", "x yz"],
        ),
        ("HTTP://h/m?k=abcd", ["HTTP://h/m?k=abcd", "/m?k=abcd", "abcd"]),
        ("http://[h/?k=abcd", ["http://[h/?k=abcd"]),
        ("http://h?key", ["http://h?key", "?key"]),
        ("http://h/m?a=b=cdef", ["http://h/m?a=b=cdef", "/m?a=b=cdef", "b=cdef"]),
    ],
)
def test_the_private_parts_of_a_url_are_its_whole_its_long_path_and_its_query_values(
    url: str, values: list[str]
) -> None:
    assert url_secrets(url) == values
    schema = {"properties": {"endpoint": {"writeOnly": True}}}
    assert list(private_values({"endpoint": url}, schema)) == values
