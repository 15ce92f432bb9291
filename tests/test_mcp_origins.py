"""Origins in their one form, and the admission rule."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.origins import OriginError, is_admitted, origin


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://example.com", "http://example.com:80"),
        ("https://example.com/", "https://example.com:443"),
        ("HTTPS://Example.COM:443/Path?q=1", "https://example.com:443"),
        ("http://example.com:443/", "http://example.com:443"),
        ("http://example.com:/", "http://example.com:80"),
        ("http://example.com:0080/", "http://example.com:80"),
        ("http://example.com./", "http://example.com.:80"),
        ("http://localhost:65535/mcp#part", "http://localhost:65535"),
        ("http://127.0.0.1:8080?x", "http://127.0.0.1:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8::1]:80"),
        ("https://Bücher.example/", "https://xn--bcher-kva.example:443"),
        ("http://a_b.example/", "http://a_b.example:80"),
    ],
)
def test_an_origin_has_one_form(url: str, expected: str) -> None:
    assert origin(url) == expected
    assert origin(expected) == expected


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/", "begin with http"),
        ("example.com", "begin with http"),
        ("//example.com/", "begin with http"),
        ("", "begin with http"),
        ("http:///path", "no host"),
        ("http://:80/", "no host"),
        ("http://user@example.com/", "user information"),
        ("http://a:b@example.com/", "user information"),
        ("http://example.com@evil.example/", "user information"),
        ("http://exa mple.com/", "white space"),
        ("http://example.com\\@evil.example/", "backslashes"),
        ("http://example.com/\n", "white space"),
        ("http://ex%61mple.com/", "malformed"),
        ("http://example.com:0/", "1 to 65535"),
        ("http://example.com:65536/", "1 to 65535"),
        ("http://example.com:x/", "1 to 65535"),
        ("http://example.com:-1/", "1 to 65535"),
        ("http://[::1/", "malformed"),
        ("http://[::1]x/", "malformed"),
        ("http://[nothing]/", "malformed"),
        ("http://[fe80::1%25eth0]/", "zone"),
        ("http://[127.0.0.1]/", "malformed"),
        ("http://xn--\u00fc.example/", "international"),
    ],
)
def test_what_has_no_origin_says_why(url: str, reason: str) -> None:
    with pytest.raises(OriginError, match=reason):
        origin(url)


def test_admission_compares_whole_origins() -> None:
    admitted = {"https://example.com:443", "http://[::1]:80"}
    assert is_admitted("https://EXAMPLE.com/anything", admitted)
    assert is_admitted("http://[0:0::1]/", admitted)
    assert not is_admitted("http://example.com/", admitted)
    assert not is_admitted("https://example.com:444/", admitted)
    assert not is_admitted("https://example.com./", admitted)
    assert not is_admitted("https://example.com.evil.example/", admitted)
    assert not is_admitted("no url", admitted)


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet="htps:/[]@.%1a?#\\ é-", max_size=20).map(lambda text: "http://" + text))
def test_any_text_has_a_stable_origin_or_an_error(url: str) -> None:
    try:
        found = origin(url)
    except OriginError:
        return
    assert origin(found + "/x") == found
