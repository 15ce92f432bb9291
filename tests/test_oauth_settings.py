"""A binding's oauth object: its fields, the rules between them, and its JSON Schema."""

import json

import jsonschema
import msgspec
import pytest

from oauth.fields import FIELDS, settings_schema
from oauth.settings import Settings, SettingsError, check_endpoint, private_values, read_settings
from protocol.values.document import parse

ISSUER = "https://auth.example.com"


def reason(value: object) -> str:
    with pytest.raises(SettingsError) as refused:
        read_settings(value)
    return refused.value.reason


@pytest.mark.requirement("oauth.consent-time")
def test_an_issuer_is_enough_and_everything_else_is_the_seeds_letter() -> None:
    assert read_settings({"issuer": ISSUER}) == Settings(
        issuer=ISSUER,
        scopes=None,
        client_id=None,
        client_secret=None,
        callback_path="/callback",
        callback_port=0,
        callback_host="127.0.0.1",
        client_metadata_url=None,
        any_authentication=False,
        refresh=False,
        step_up=False,
        client_credentials=False,
        compat=False,
        loopback_http=False,
        consent_timeout_ms=120_000,
    )


@pytest.mark.requirement("field.oauth")
def test_every_field_is_read_from_an_object_and_from_its_json_text() -> None:
    value = {
        "issuer": "http://127.0.0.1:9000",
        "scopes": ["tools.read", "offline_access"],
        "clientId": "client-1",
        "clientSecret": "secret-1",
        "callbackPath": "/a_b-C/1",
        "callbackPort": "8123",
        "callbackHost": "localhost",
        "clientAuthentication": "any",
        "refresh": "true",
        "stepUp": True,
        "grant": "authorization_code",
        "compat": "2025-03-26",
        "allowLoopbackHttp": True,
        "consentTimeoutMs": 100,
    }
    expected = Settings(
        issuer="http://127.0.0.1:9000",
        scopes=("tools.read", "offline_access"),
        client_id="client-1",
        client_secret="secret-1",
        callback_path="/a_b-C/1",
        callback_port=8123,
        callback_host="localhost",
        any_authentication=True,
        refresh=True,
        step_up=True,
        compat=True,
        loopback_http=True,
        consent_timeout_ms=100,
    )
    text = json.dumps(value)
    assert read_settings(value) == read_settings(text) == read_settings(parse(text).value) == expected
    assert read_settings({**value, "consentTimeoutMs": msgspec.Raw(b"100")}) == expected
    jsonschema.validate(value, settings_schema())


@pytest.mark.parametrize(
    "value",
    [
        {"issuer": "endpoint"},
        {"issuer": "listed"},
        {"issuer": "https://auth.example.com/tenant/1/"},
        {"issuer": ISSUER, "callbackPath": "/cb"},
        {"issuer": ISSUER, "clientMetadataUrl": "https://me.example.com/client.json"},
        {"issuer": ISSUER, "clientId": "client-1", "clientSecret": "secret-1", "grant": "client_credentials"},
        {"issuer": ISSUER, "callbackPort": 0, "consentTimeoutMs": 3_600_000},
    ],
)
def test_what_may_be_bound_fits_the_schema_as_well(value: dict[str, object]) -> None:
    read_settings(value)
    jsonschema.validate(value, settings_schema())


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], "the value must be an object, or a JSON object as a string"),
        ("[]", "the value must be an object, or a JSON object as a string"),
        ("{", "the string is not strict JSON: a member name in double quotes is expected"),
        ('{"issuer":"a","issuer":"b"}', "the object repeats a field"),
        ({}, "`issuer` is required"),
        ({"issuer": 1}, "`issuer` must be a string of at most 8192 characters"),
        ({"issuer": ""}, "`issuer` must be a string of at most 8192 characters"),
        ({"issuer": ISSUER, "consentTimeoutMs": 99}, "`consentTimeoutMs` must be an integer from 100 to 3600000"),
        ({"issuer": ISSUER, "consentTimeoutMs": "1e3"}, "`consentTimeoutMs` must be an integer from 100 to 3600000"),
        ({"issuer": ISSUER, "consentTimeoutMs": True}, "`consentTimeoutMs` must be an integer from 100 to 3600000"),
        ({"issuer": ISSUER, "callbackPort": 65536}, "`callbackPort` must be an integer from 0 to 65535"),
        ({"issuer": ISSUER, "callbackHost": "::1"}, "`callbackHost` must be `127.0.0.1` or `localhost`"),
        ({"issuer": ISSUER, "compat": "2024-11-05"}, "`compat` must be `2025-03-26`"),
        ({"issuer": ISSUER, "grant": ["x"]}, "`grant` must be `authorization_code` or `client_credentials`"),
        ({"issuer": ISSUER, "refresh": "yes"}, "`refresh` must be true or false"),
        ({"issuer": ISSUER, "refresh": 1}, "`refresh` must be true or false"),
        ({"issuer": ISSUER, "scopes": "a b"}, "`scopes` must be an array of 1 to 512 strings"),
        ({"issuer": ISSUER, "scopes": []}, "`scopes` must be an array of 1 to 512 strings"),
        ({"issuer": ISSUER, "scopes": ["a"] * 513}, "`scopes` must be an array of 1 to 512 strings"),
        ({"issuer": ISSUER, "scopes": ["a", "a"]}, "`scopes` repeats a scope"),
        (
            {"issuer": ISSUER, "scopes": ["a b"]},
            "`scopes` must hold scopes of printable ASCII without spaces, quotes and backslashes, one an entry",
        ),
        (
            {"issuer": ISSUER, "clientMetadataUrl": "https://me.example.com/"},
            "`clientMetadataUrl` must be a URL with a path",
        ),
        ({"issuer": ISSUER, "clientMetadataUrl": 1}, "`clientMetadataUrl` must be a string"),
        (
            {"issuer": ISSUER, "clientMetadataUrl": "https://me.example.com/a/../b"},
            "`clientMetadataUrl` must be a URL without `.` and `..` in its path",
        ),
        (
            {"issuer": ISSUER, "clientMetadataUrl": "http://127.0.0.1/c", "allowLoopbackHttp": True},
            "`clientMetadataUrl` must be an https URL",
        ),
    ],
)
def test_what_is_wrong_with_a_value_is_said_with_its_field(value: object, said: str) -> None:
    assert reason(value) == said


@pytest.mark.requirement("oauth.issuer")
@pytest.mark.parametrize(
    ("issuer", "said"),
    [
        ("http://auth.example.com", "must be an https URL"),
        ("http://127.0.0.1:1", "must be an https URL, or set `allowLoopbackHttp`"),
        ("https://user@auth.example.com", "is not usable: the URL must hold no user information"),
        ("https://auth.example.com/#x", "must be a URL without a fragment"),
        ("https://auth.example.com/?tenant=1", "must be a URL without a query"),
        ("https://auth.example.com/ü", "must be a URL of printable ASCII characters"),
        ("auth.example.com", "is not usable: the URL must begin with http:// or https://"),
    ],
)
def test_an_issuer_is_an_https_url_without_query_and_fragment(issuer: str, said: str) -> None:
    assert reason({"issuer": issuer}) == f"`issuer` {said} (or `endpoint`, or `listed`)"


@pytest.mark.requirement("oauth.callback-path")
@pytest.mark.parametrize(
    ("path", "fits"),
    [
        ("/", True),
        ("/callback", True),
        ("/A-z_0/9/", True),
        ("/done/", True),
        ("/done", False),
        ("callback", False),
        ("", False),
        ("/a.b", False),
        ("/a%20", False),
        ("/a?b", False),
        ("/é", False),
        ("/a\n", False),
        ("/" + "a" * 255, True),
        ("/" + "a" * 256, False),
    ],
)
def test_a_callback_path_has_letters_digits_slashes_underscores_and_hyphens(path: str, fits: bool) -> None:
    value = {"issuer": ISSUER, "callbackPath": path}
    schema_fits = jsonschema.Draft202012Validator(settings_schema()).is_valid(value)
    if fits:
        assert read_settings(value).callback_path == path
        assert schema_fits
    else:
        assert reason(value).startswith("`callbackPath` must")
        assert not schema_fits or path == "/a\n"  # a schema's `$` may match before a last line feed


@pytest.mark.requirement("oauth.callback-path", "oauth.secret-named-issuer")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"clientSecret": "secret-1"}, "`clientSecret` needs a `clientId` beside it"),
        (
            {"clientId": "client-1"},
            "`clientId` needs a `callbackPath` beside it: the exact path that the client is registered with",
        ),
        (
            {"clientId": "client-1", "callbackPath": "/cb", "clientMetadataUrl": "https://me.example.com/c"},
            "`clientMetadataUrl` may not stand beside `clientId`: either is the client id",
        ),
        (
            {"grant": "client_credentials"},
            "`grant` of `client_credentials` needs `clientId` and `clientSecret` beside it",
        ),
        (
            {"grant": "client_credentials", "clientId": "client-1", "clientSecret": "secret-1", "refresh": True},
            "`grant` of `client_credentials` goes without consent: take out `refresh` and `callbackPath`",
        ),
        (
            {
                "clientId": "client-1",
                "clientSecret": "secret-1",
                "callbackPath": "/cb",
                "clientAuthentication": "none",
            },
            "`clientSecret` may not stand beside `clientAuthentication` of `none`",
        ),
        (
            {"issuer": "listed", "clientId": "client-1", "clientSecret": "secret-1", "callbackPath": "/cb"},
            (
                "`clientSecret` may not stand beside `issuer` of `listed`: name the issuer that the client is"
                " registered at"
            ),
        ),
        ({"scopes": ["offline_access"]}, "`scopes` may hold `offline_access` with `refresh` only"),
    ],
)
def test_fields_that_need_or_exclude_each_other_are_named(more: dict[str, object], said: str) -> None:
    assert reason({"issuer": ISSUER, **more}) == said


@pytest.mark.parametrize("name", ["clientId", "clientSecret"])
def test_a_private_value_under_four_characters_is_refused_without_being_quoted(name: str) -> None:
    value = {"issuer": ISSUER, "clientId": "abcd", "clientSecret": "abcd", "callbackPath": "/cb"}
    assert read_settings(value).client_secret == "abcd"
    said = reason({**value, name: "xyz"})
    assert said == f"`{name}` must have 4 to 4096 characters: a shorter one would be redacted everywhere"
    assert reason({**value, name: "a\nbcd"}) == f"`{name}` must be a string of printable ASCII characters"


def test_an_unknown_field_is_refused_and_the_known_ones_are_listed() -> None:
    said = reason({"issuer": ISSUER, "client_id": "abcd"})
    assert said == f"the object holds a field that is not one of {', '.join(FIELDS)}"


def test_a_secret_lets_the_client_authenticate_with_it() -> None:
    value = {"issuer": ISSUER, "clientId": "client-1", "clientSecret": "secret-1", "callbackPath": "/cb"}
    assert read_settings(value).any_authentication


def test_only_client_id_and_secret_are_private_and_neither_shows() -> None:
    settings = Settings(ISSUER, client_id="client-1", client_secret="secret-1")
    assert private_values(settings) == ["client-1", "secret-1"]
    assert private_values(Settings(ISSUER)) == []
    assert repr(settings) == "<Settings>"
    properties = settings_schema()["properties"]
    assert [name for name in properties if properties[name].get("writeOnly")] == ["clientId", "clientSecret"]


@pytest.mark.requirement("oauth.https")
@pytest.mark.parametrize(
    ("endpoint", "loopback", "said"),
    [
        ("https://mcp.example.com/mcp", False, None),
        ("http://127.0.0.1:8000/mcp", True, None),
        ("http://127.0.0.1:8000/mcp", False, "`endpoint` beside it must be an https URL, or set `allowLoopbackHttp`"),
        ("http://mcp.example.com/mcp", True, "`endpoint` beside it must be an https URL"),
    ],
)
def test_a_token_goes_to_https_or_to_loopback_when_that_is_allowed(
    endpoint: str, loopback: bool, said: str | None
) -> None:
    settings = Settings("endpoint", loopback_http=loopback)
    if said is None:
        check_endpoint(settings, endpoint)
    else:
        with pytest.raises(SettingsError) as refused:
            check_endpoint(settings, endpoint)
        assert refused.value.reason == said
