"""The admission rule."""

from protocol.mcp.origins import is_admitted


def test_admission_compares_whole_origins() -> None:
    admitted = {"https://example.com:443", "http://[::1]:80"}
    assert is_admitted("https://EXAMPLE.com/anything", admitted)
    assert is_admitted("http://[0:0::1]/", admitted)
    assert not is_admitted("http://example.com/", admitted)
    assert not is_admitted("https://example.com:444/", admitted)
    assert not is_admitted("https://example.com./", admitted)
    assert not is_admitted("https://example.com.evil.example/", admitted)
    assert not is_admitted("no url", admitted)
