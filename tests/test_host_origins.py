"""Origins: what the target and grants admit, in one normal form, and nothing else."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.origins import admitted_origins, check_target, origin, read_grant
from protocol.failures import Code, Failed


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h", "http://h:80"),
        ("https://h/", "https://h:443"),
        ("HTTPS://Example.COM:443/Path?q#f", "https://example.com:443"),
        ("http://h:8080/mcp", "http://h:8080"),
        ("http://h:/x", "http://h:80"),
        ("http://h:080/x", "http://h:80"),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1"),
        ("http://[::1]/", "http://[::1]:80"),
        ("http://[0:0:0:0:0:0:0:1]:8/", "http://[::1]:8"),
        ("http://[2001:DB8::A]", "http://[2001:db8::a]:80"),
        ("https://bücher.example", "https://xn--bcher-kva.example:443"),
        ("https://xn--bcher-kva.example", "https://xn--bcher-kva.example:443"),
        ("http://my_host-1.local.", "http://my_host-1.local.:80"),
        ("http://h?q=/@", "http://h:80"),
    ],
)
def test_an_origin_has_one_spelling(url: str, expected: str) -> None:
    assert origin(url) == expected
    assert origin(expected) == expected


BEGIN = "it has to begin with `http://` or `https://`"
HOST = "it has no host, or a malformed one"
PORT = "its port is no number from 1 to 65535"
USER = "it holds user information (`@`)"
SPACE = "it holds white space, a control character or a backslash"


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
        ("http://h%2e", HOST),
        ("http://a,b", HOST),
        ("http://-h", HOST),
        ("http://.h", HOST),
        ("http://h:0", PORT),
        ("http://h:65536", PORT),
        ("http://h:x", PORT),
        ("http://h:-1", PORT),
        ("http://h:1:2", PORT),
        ("http://h:+1", PORT),
        ("http://::1", PORT),
        ("http://[::1]x", "its host is malformed"),
        ("http://x[::1]", "its host is malformed"),
        ("http://[::1", "its host is malformed"),
        ("http://[zz]", "its host is malformed"),
        ("http://[::1%25eth0]", "its IPv6 address names a zone"),
        ("http://[v1.x]", "its IPv6 address is malformed"),
        ("http://u@h", USER),
        ("http://u:p@h", USER),
        ("http://@h", USER),
        ("http://h\n", SPACE),
        ("http://h x", SPACE),
        (" http://h", SPACE),
        ("http://h\\@evil", SPACE),
        ("http://h\u00a0", SPACE),
        ("http://h\x7f", SPACE),
        ("http://h\udcff", SPACE),
        ("http://a\u2024b", "its international host name is malformed"),
        ("http://h/" + "x" * 8192, "it is longer than 8192 characters"),
    ],
)
def test_what_is_no_http_url_has_no_origin(url: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        origin(url)
    assert str(caught.value) in (reason, "its IPv6 address is malformed" if "[" in url else reason)


@pytest.mark.parametrize("url", ["http://localhost:8000/mcp", "https://h/a?key=v", "HTTP://H"])
def test_a_target_is_used_as_it_stands(url: str) -> None:
    assert check_target(url) == url


@pytest.mark.parametrize("url", ["h/mcp", "http://user:hunter2@h/", "http://h/#f", "http://h/#"])
def test_a_target_that_is_refused_is_not_quoted(url: str) -> None:
    with pytest.raises(Failed) as caught:
        check_target(url)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    assert caught.value.failure.message.startswith("The target is no usable URL: it ")
    assert "hunter2" not in caught.value.failure.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [("https://auth.example.com", "https://auth.example.com:443"), ("http://localhost:9000/", "http://localhost:9000")],
)
def test_a_grant_is_an_origin(text: str, expected: str) -> None:
    assert read_grant(text) == expected


@pytest.mark.parametrize(
    "text", ["auth.example.com", "https://h/path", "https://h/?", "https://h#", "https://*", "https://h//"]
)
def test_a_grant_is_nothing_but_an_origin(text: str) -> None:
    with pytest.raises(Failed, match="The allowed origin cannot be used: ") as caught:
        read_grant(text)
    assert caught.value.code == Code.INVALID_ARGUMENTS


def test_the_target_and_the_grants_are_admitted_each_once() -> None:
    grants = ["https://a", "http://H:8000", "https://a:443/"]
    assert admitted_origins("http://h:8000/mcp", grants) == ("http://h:8000", "https://a:443")
    assert admitted_origins(None, []) == ()
    with pytest.raises(Failed):
        admitted_origins("h", [])
    with pytest.raises(Failed):
        admitted_origins(None, ["h"])


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet=st.sampled_from("http:/s[]@#?%.-_1aZ\u00e9\\ \n"), max_size=30))
def test_any_text_has_one_origin_or_none(text: str) -> None:
    for url in (text, f"http://{text}"):
        try:
            found = origin(url)
        except ValueError:
            continue
        assert origin(found) == found
        assert "@" not in found
