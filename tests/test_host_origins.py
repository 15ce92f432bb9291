"""Origins: what the target and grants admit, in one normal form, and nothing else."""

import pytest

from host.origins import admitted_origins, check_target, read_grant
from protocol.failures import Code, Failed


@pytest.mark.parametrize("url", ["http://localhost:8000/mcp", "https://h/a?key=v", "HTTP://H"])
def test_a_target_is_used_as_it_stands(url: str) -> None:
    assert check_target(url) == url


@pytest.mark.parametrize(
    "url", ["h/mcp", "http://user:hunter2@h/", "http://h/#f", "http://h/#", "http://h/" + "x" * 8192]
)
def test_a_target_that_is_refused_is_not_quoted(url: str) -> None:
    with pytest.raises(Failed) as caught:
        check_target(url)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    assert caught.value.failure.message.startswith("The target cannot be used: the URL must ")
    assert "hunter2" not in caught.value.failure.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [("https://auth.example.com", "https://auth.example.com:443"), ("http://localhost:9000/", "http://localhost:9000")],
)
def test_a_grant_is_an_origin(text: str, expected: str) -> None:
    assert read_grant(text) == expected


@pytest.mark.parametrize(
    "text",
    ["auth.example.com", "https://h/path", "https://h/?", "https://h#", "https://*", "https://h//", "https://h/?x"],
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
