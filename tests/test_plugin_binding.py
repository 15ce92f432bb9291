"""Binding configurations: every field with its rule and limit, and what of it is private."""

import json
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugin.binding import Binding, Contract, authorization, join, private_values, read_binding
from plugin.configuration import configuration_schema
from protocol.failures import Code, Failed
from protocol.values.document import parse

ENDPOINT = "https://mcp.example.com/mcp"


def read(**fields: Any) -> Binding:
    """Read a configuration as it comes over the wire."""
    return read_binding("api", parse(json.dumps({"endpoint": ENDPOINT, **fields})).value)


def refusal(configuration: Any) -> tuple[str, str | None]:
    with pytest.raises(Failed) as caught:
        read_binding("api", parse(json.dumps(configuration)).value)
    assert caught.value.code is Code.INVALID_BINDING
    return caught.value.failure.message, caught.value.failure.where


@pytest.mark.requirement("field.session-cleanup", "field.timeout")
def test_an_endpoint_alone_gets_every_default() -> None:
    assert read() == Binding(
        endpoint=ENDPOINT,
        bearer_token=None,
        headers=(),
        oauth=None,
        token_directory=None,
        ca_file=None,
        server_managed=False,
        timeout_ms=15_000,
        max_response_bytes=8_388_608,
        max_pages=50,
        max_items=5_000,
        keep_text=False,
        resume=False,
        elicitation=False,
        contract=None,
    )


@pytest.mark.requirement("field.token-directory")
def test_every_field_is_read() -> None:
    binding = read(
        bearerToken="token-123",
        headers={"x-api-key": "key-123"},
        tokenDirectory="/run/tokens/",
        caFile="/etc/ca.pem",
        sessionCleanup="server-managed",
        timeoutMs=120_000,
        maxResponseBytes="1024",
        maxPages=3,
        maxItems="7",
        keepText=True,
        resume="true",
        elicitation="defaults",
        contract={"registry": "/etc/registry.json", "route": "desk.comment"},
    )
    assert binding == Binding(
        endpoint=ENDPOINT,
        bearer_token="token-123",
        headers=(("X-Api-Key", "key-123"),),
        oauth=None,
        token_directory="/run/tokens",
        ca_file="/etc/ca.pem",
        server_managed=True,
        timeout_ms=120_000,
        max_response_bytes=1024,
        max_pages=3,
        max_items=7,
        keep_text=True,
        resume=True,
        elicitation=True,
        contract=Contract("/etc/registry.json", "desk.comment"),
    )


def test_the_repr_of_a_binding_shows_nothing() -> None:
    assert repr(read(bearerToken="token-123")) == "<Binding>"


@pytest.mark.requirement("field.headers")
@pytest.mark.parametrize("value", ['{"X-Region":"eu-west"}', {"X-Region": "eu-west"}])
def test_headers_may_be_an_object_or_a_json_string(value: Any) -> None:
    assert read(headers=value).headers == (("X-Region", "eu-west"),)


@pytest.mark.requirement("field.headers.bearer")
@pytest.mark.parametrize("value", ["Bearer token-123", "bearer token-123", "BEARER  token-123"])
def test_an_authorization_header_with_the_bearer_scheme_is_the_token(value: str) -> None:
    binding = read(headers={"authorization": value})
    assert (binding.bearer_token, binding.headers) == ("token-123", ())


@pytest.mark.parametrize("value", [True, "true"])
def test_keep_text_may_be_a_boolean_or_its_spelling(value: Any) -> None:
    assert read(keepText=value).keep_text is True


@pytest.mark.requirement("field.timeout", "field.max-response-bytes")
@pytest.mark.parametrize(
    ("field", "least", "most"),
    [
        ("timeoutMs", 100, 600_000),
        ("maxResponseBytes", 1, 8_388_608),
        ("maxPages", 1, 10_000),
        ("maxItems", 1, 100_000),
    ],
)
def test_numbers_are_admitted_at_their_limits_and_refused_past_them(field: str, least: int, most: int) -> None:
    for good in (least, most, str(least), str(most)):
        read(**{field: good})
    bad: list[object] = [least - 1, most + 1, str(most + 1), f"0{least}", f" {least}", f"{least}.0"]
    for value in [*bad, True, None, [], 1.5, "", "١٢٣"]:
        message, where = refusal({"endpoint": ENDPOINT, field: value})
        assert message == f"`{field}` of the binding `api` must be an integer from {least} to {most}."
        assert where == f"api.{field}"


SECRET = "s3cr3t-value"
#: OAuth settings for a server that is its own authorization server.
OWN = {"issuer": "endpoint"}
OAUTH = {
    "issuer": "https://auth.example.com",
    "scopes": ["tools.read"],
    "clientId": "id-of-the-client",
    "clientSecret": "secret-of-the-client",
    "callbackPath": "/callback",
}

#: Configurations that are refused: the field that the refusal names, and a word of its reason.
PIN = {"registry": "/s3cr3t.json", "route": "desk.comment"}
REFUSED: list[tuple[dict[str, Any], str | None, str]] = [
    ({}, "endpoint", "required"),
    ({"endpoint": 7}, "endpoint", "string"),
    ({"endpoint": "ftp://host/s3cr3t-value"}, "endpoint", "http"),
    ({"endpoint": "/mcp/s3cr3t-value"}, "endpoint", "http"),
    ({"endpoint": "http://user:s3cr3t-value@host/mcp"}, "endpoint", "user information"),
    ({"endpoint": "http://host/mcp#s3cr3t-value"}, "endpoint", "fragment"),
    ({"endpoint": "http://host/mcp#"}, "endpoint", "fragment"),
    ({"endpoint": "http://host/s3cr3t-value x"}, "endpoint", "white space"),
    ({"endpoint": "http://host:99999/s3cr3t-value"}, "endpoint", "port"),
    ({"endpoint": "http:///s3cr3t-value"}, "endpoint", "host"),
    ({"endpoint": "http://host/s3cr3t-valüe"}, "endpoint", "percent-encoded"),
    ({"endpoint": "http://host/?q=s3cr3t-valüe"}, "endpoint", "percent-encoded"),
    ({"endpoint": "http://host/" + "a" * 8192}, "endpoint", "8192"),
    ({"endpoint": ENDPOINT, "bearerToken": "abc"}, "bearerToken", "4 to"),
    ({"endpoint": ENDPOINT, "bearerToken": "Bearer s3cr3t-value"}, "bearerToken", "scheme word"),
    ({"endpoint": ENDPOINT, "bearerToken": "s3cr3t-value\n"}, "bearerToken", "printable"),
    ({"endpoint": ENDPOINT, "bearerToken": "s3cr3t-valüe"}, "bearerToken", "printable"),
    ({"endpoint": ENDPOINT, "bearerToken": "a" * 16385}, "bearerToken", "16384"),
    ({"endpoint": ENDPOINT, "headers": 5}, "headers", "object"),
    ({"endpoint": ENDPOINT, "headers": "{s3cr3t-value"}, "headers", "strict JSON"),
    ({"endpoint": ENDPOINT, "headers": '["s3cr3t-value"]'}, "headers", "object"),
    ({"endpoint": ENDPOINT, "headers": '{"A":"s3cr3t-value","A":"s3cr3t-value"}'}, "headers", "repeats"),
    ({"endpoint": ENDPOINT, "headers": {"A": "abc"}}, "headers", "under 4"),
    ({"endpoint": ENDPOINT, "headers": {"A": ""}}, "headers", "value of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A": 12345}}, "headers", "value of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A": "s3cr3t-value "}}, "headers", "value of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A": "s3cr3t\r\nvalue"}}, "headers", "value of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A": "a" * 16385}}, "headers", "value of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A B": "s3cr3t-value"}}, "headers", "name of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"": "s3cr3t-value"}}, "headers", "name of header 1"),
    ({"endpoint": ENDPOINT, "headers": {"A-b": "s3cr3t-value", "a-B": "s3cr3t-value"}}, "headers", "twice"),
    ({"endpoint": ENDPOINT, "headers": {f"H{n}": "s3cr3t-value" for n in range(33)}}, "headers", "32"),
    ({"endpoint": ENDPOINT, "headers": {"Authorization": "Basic s3cr3t-value"}}, "headers", "Bearer"),
    ({"endpoint": ENDPOINT, "headers": {"Authorization": "s3cr3t-value"}}, "headers", "Bearer"),
    ({"endpoint": ENDPOINT, "headers": {"Authorization": "Bearer abc"}}, "headers", "4 or more"),
    (
        {"endpoint": ENDPOINT, "bearerToken": SECRET, "headers": {"Authorization": f"Bearer {SECRET}"}},
        "bearerToken",
        "beside",
    ),
    ({"endpoint": ENDPOINT, "tokenDirectory": "s3cr3t-value"}, "tokenDirectory", "absolute"),
    ({"endpoint": ENDPOINT, "tokenDirectory": "/s3cr3t-value/../x"}, "tokenDirectory", "`..`"),
    ({"endpoint": ENDPOINT, "tokenDirectory": "////"}, "tokenDirectory", "absolute"),
    ({"endpoint": ENDPOINT, "tokenDirectory": "/s3cr3t-value/."}, "tokenDirectory", "`.`"),
    ({"endpoint": ENDPOINT, "tokenDirectory": "/s3cr3t\u0000value"}, "tokenDirectory", "absolute"),
    ({"endpoint": ENDPOINT, "caFile": "s3cr3t-value.pem"}, "caFile", "absolute"),
    ({"endpoint": ENDPOINT, "caFile": "/ca"}, "caFile", "4 to"),
    ({"endpoint": ENDPOINT, "sessionCleanup": "s3cr3t-value"}, "sessionCleanup", "server-managed"),
    ({"endpoint": ENDPOINT, "sessionCleanup": []}, "sessionCleanup", "server-managed"),
    ({"endpoint": ENDPOINT, "keepText": "yes"}, "keepText", "true or false"),
    ({"endpoint": ENDPOINT, "keepText": 1}, "keepText", "true or false"),
    ({"endpoint": ENDPOINT, "bearertoken": SECRET}, None, "`bearertoken`"),
    ({"endpoint": ENDPOINT, "s3cr3t-value": 1}, None, "unknown field;"),
    ({"endpoint": ENDPOINT, "resume": "s3cr3t-value"}, "resume", "true or false"),
    ({"endpoint": ENDPOINT, "elicitation": "s3cr3t-value"}, "elicitation", "`off` or `defaults`"),
    ({"endpoint": ENDPOINT, "contract": None}, "contract", "an object of `registry` and `route`"),
    ({"endpoint": ENDPOINT, "contract": "s3cr3t-value"}, "contract", "not strict JSON"),
    ({"endpoint": ENDPOINT, "contract": "[]"}, "contract", "an object of `registry` and `route`"),
    ({"endpoint": ENDPOINT, "contract": {"registry": "/s3cr3t"}}, "contract", "an object of `registry` and `route`"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"s3cr3t": 1}}, "contract", "and nothing else"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"registry": "s3cr3t.json"}}, "contract", "absolute path"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"registry": "/s3cr3t\u0000"}}, "contract", "absolute path"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"registry": "/" + "a" * 4_096}}, "contract", "absolute path"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"registry": 5}}, "contract", "absolute path"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"route": ""}}, "contract", "route by its alias"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"route": "s3cr3t/x"}}, "contract", "route by its alias"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"route": "a" * 65}}, "contract", "route by its alias"),
    ({"endpoint": ENDPOINT, "contract": PIN | {"route": None}}, "contract", "route by its alias"),
    ({"endpoint": ENDPOINT, "oauth": {}}, "oauth", "`issuer` is required"),
    ({"endpoint": ENDPOINT, "oauth": ["s3cr3t-value"]}, "oauth", "must be an object"),
    ({"endpoint": ENDPOINT, "oauth": '{"issuer":"s3cr3t-value"'}, "oauth", "not strict JSON"),
    ({"endpoint": ENDPOINT, "oauth": {"issuer": "s3cr3t-value"}}, "oauth", "`issuer` is not usable"),
    ({"endpoint": ENDPOINT, "oauth": OWN, "bearerToken": SECRET}, "oauth", "beside a bearer token"),
    ({"endpoint": ENDPOINT, "oauth": OWN, "tokenDirectory": "/s3cr3t"}, "oauth", "beside `tokenDirectory`"),
    (
        {"endpoint": ENDPOINT, "oauth": OWN, "headers": {"authorization": f"Bearer {SECRET}"}},
        "oauth",
        "beside a bearer token",
    ),
    ({"endpoint": "http://mcp.example.com/s3cr3t-value", "oauth": OWN}, "oauth", "must be an https URL"),
    ({"endpoint": "http://127.0.0.1/s3cr3t-value", "oauth": OWN}, "oauth", "`allowLoopbackHttp`"),
]


@pytest.mark.requirement(
    "field.endpoint", "field.headers.bearer", "token.directory", "oauth.https", "field.oauth.alone"
)
@pytest.mark.parametrize(("configuration", "field", "reason"), REFUSED)
def test_a_wrong_field_is_refused_by_alias_and_field_and_its_value_is_not_quoted(
    configuration: dict[str, Any], field: str | None, reason: str
) -> None:
    message, where = refusal(configuration)
    assert where == (f"api.{field}" if field else "api")
    assert "`api`" in message
    assert reason in message
    assert "s3cr3t" not in message


@pytest.mark.requirement("field.oauth")
@pytest.mark.parametrize("oauth", [OAUTH, json.dumps(OAUTH)])
def test_oauth_settings_are_an_object_or_its_text_and_what_is_private_in_them_is_listed(oauth: Any) -> None:
    binding = read(oauth=oauth)
    assert binding.oauth is not None
    assert (binding.oauth.issuer, binding.oauth.scopes) == ("https://auth.example.com", ("tools.read",))
    assert private_values(binding) == [ENDPOINT, "id-of-the-client", "secret-of-the-client"]


@pytest.mark.parametrize("configuration", [None, [], "x", 5])
def test_what_is_no_object_is_refused(configuration: Any) -> None:
    assert refusal(configuration) == ("The binding `api` is not an object.", "api")


@pytest.mark.requirement("field.endpoint")
@pytest.mark.parametrize(
    "fields",
    [
        {"endpoint": "http://host/" + "a" * 8180},
        {"bearerToken": "abcd"},
        {"bearerToken": "a" * 16_384},
        {"headers": {"A": "abcd"}},
        {"headers": {"A": "a" * 16_384}},
        {"headers": {f"H{number}": "abcd" for number in range(32)}},
        {"headers": {"Authorization": "Bearer abcd"}},
        {"headers": {}},
        {"headers": "{}"},
        {"tokenDirectory": "/run"},
        {"tokenDirectory": "/" + "a" * 4_095},
        {"caFile": "/a.p"},
        {"caFile": "/" + "a" * 4_095},
        {"contract": {"registry": "/", "route": "a"}},
        {"contract": {"registry": "/" + "a" * 4_095, "route": "a" * 64}},
        {"contract": json.dumps(PIN)},
    ],
)
def test_fields_are_admitted_at_their_limits(fields: dict[str, Any]) -> None:
    read(**fields)


@pytest.mark.parametrize("field", ["tokenDirectory", "caFile"])
def test_paths_are_refused_past_their_limit(field: str) -> None:
    message, _ = refusal({"endpoint": ENDPOINT, field: "/" + "a" * 4_096})
    assert "4 to 4096 characters" in message


@pytest.mark.requirement("field.headers.reserved")
@pytest.mark.parametrize(
    "name",
    ["accept", "Cookie", "content-length", "HOST", "mcp-session-id", "MCP-Protocol-Version", "mcp-param-x", "te"],
)
def test_reserved_headers_are_refused(name: str) -> None:
    message, _ = refusal({"endpoint": ENDPOINT, "headers": {name: "some-value"}})
    assert "may not be set here" in message


@pytest.mark.requirement("token.paths-private")
def test_every_private_value_of_a_binding_is_named() -> None:
    binding = read(
        bearerToken="token-123",
        headers={"X-Key": "Token key-456", "X-Note": "of v 2", "X-Plain": "plain"},
        tokenDirectory="/run/tokens",
        caFile="/etc/ca.pem",
    )
    assert private_values(binding) == [
        ENDPOINT,
        "token-123",
        "/run/tokens",
        "/etc/ca.pem",
        "key-456",
        "Token key-456",
        "of v 2",
        "plain",
    ]


@pytest.mark.requirement("path.joined")
@pytest.mark.parametrize(
    ("endpoint", "path", "url"),
    [
        ("http://h/mcp", None, "http://h/mcp"),
        ("http://h/mcp/", None, "http://h/mcp/"),
        ("http://h/mcp", "support", "http://h/mcp/support"),
        ("http://h/mcp/", "a/b", "http://h/mcp/a/b"),
        ("http://h", "a", "http://h/a"),
    ],
)
def test_a_path_is_joined_by_one_slash(endpoint: str, path: str | None, url: str) -> None:
    assert join(endpoint, path) == url


@pytest.mark.requirement("field.bearer-token")
def test_a_token_is_sent_with_the_bearer_scheme() -> None:
    assert authorization("abcd") == ("Authorization", "Bearer abcd")


#: Values around the rules of each field, for the comparison of the published schema with what is enforced.
VALUES: st.SearchStrategy[object] = st.sampled_from(
    [None, True, False, 0, 1, 99, 100, 15000, 600001, "", "abc", "abcd", "100", "099", "delete", "true", [], {}]
)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.sampled_from(sorted(configuration_schema()["properties"])), VALUES, max_size=4))
def test_what_the_schema_refuses_is_refused(fields: dict[str, Any]) -> None:
    configuration = {"endpoint": ENDPOINT, **fields}
    if not jsonschema.Draft202012Validator(configuration_schema()).is_valid(configuration):
        refusal(configuration)


def test_numbers_of_a_binding_may_be_plain_integers_too() -> None:
    assert read_binding("api", {"endpoint": ENDPOINT, "maxPages": 3}).max_pages == 3
    assert read_binding("api", {"endpoint": ENDPOINT, "maxPages": msgspec.Raw(b"3")}).max_pages == 3
