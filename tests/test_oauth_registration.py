"""The client of a sign-in: bound, a metadata document, or registered dynamically and read strictly."""

import json
from typing import Any

import pytest

from oauth.authentication import Client, authenticate, usable
from oauth.discovery import Found, Target
from oauth.metadata import ServerMetadata
from oauth.record import Entry
from oauth.registration import Applicant, obtain
from oauth.settings import Settings
from oauth.steps import Fetch, Learn, NoReply, Reply
from protocol.failures import Code
from tests.fakes.oauth_script import LATE, UNREACHABLE, Page, Played, answer, play

AUTH = "https://auth.example.com"
REGISTER = f"{AUTH}/register"
REDIRECT = "http://127.0.0.1:49152/callback"
SERVER = ServerMetadata(
    AUTH, f"{AUTH}/authorize", f"{AUTH}/token", REGISTER, None, ("code",), None, ("none",), ("S256",), False, False
)
ANY = Settings(AUTH, any_authentication=True)


def client(
    page: Page, settings: Settings | None = None, server: ServerMetadata = SERVER, scopes: tuple[str, ...] = ()
) -> tuple[Played, list[Entry]]:
    record: list[Entry] = []
    target = Target("https://mcp.example.com/mcp", settings or Settings(AUTH), {"https://auth.example.com:443"})
    flow = obtain(target, Found(server, None, None), Applicant("assay", REDIRECT, scopes), record)
    return play(flow, {REGISTER: page}), record


def refused(page: Page, settings: Settings | None = None, server: ServerMetadata = SERVER) -> tuple[Code, str]:
    played, record = client(page, settings, server)
    assert played.failure is not None
    assert not record[-1].taken
    return played.failure.code, record[-1].reason


@pytest.mark.requirement("oauth.registration", "oauth.client")
def test_a_public_native_client_is_registered_with_the_exact_redirect() -> None:
    played, record = client(answer({"client_id": "dyn-1"}, 201))
    request, learn = played.steps
    assert isinstance(request, Fetch)
    assert (request.method, request.url) == ("POST", REGISTER)
    assert request.headers == (("Content-Type", "application/json"), ("Accept", "application/json"))
    assert json.loads(request.body or b"") == {
        "client_name": "assay",
        "redirect_uris": [REDIRECT],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    }
    assert learn == Learn(("dyn-1",))
    assert played.result == Client("dyn-1", None, "none", "registration")
    assert record == [
        Entry("client registration", REGISTER, 201, "registered, with `none` at the token endpoint", True)
    ]


def test_scopes_and_the_refresh_grant_are_registered_when_they_will_be_asked_for() -> None:
    played, _ = client(answer({"client_id": "dyn-1"}), Settings(AUTH, refresh=True), scopes=("a", "b"))
    (request, _) = played.steps
    assert isinstance(request, Fetch)
    sent = json.loads(request.body or b"")
    assert sent["grant_types"] == ["authorization_code", "refresh_token"]
    assert sent["scope"] == "a b"


@pytest.mark.parametrize(
    ("settings", "listed", "reply", "asked", "method"),
    [
        (Settings(AUTH), ("none",), {"client_secret": "s"}, "none", "none"),
        (Settings(AUTH), ("none",), {"token_endpoint_auth_method": "none"}, "none", "none"),
        (ANY, ("none",), {"client_secret": "s"}, "none", "none"),
        (ANY, ("client_secret_post", "none"), {"client_secret": "s"}, "none", "client_secret_post"),
        (ANY, ("client_secret_basic",), {"client_secret": "s"}, "client_secret_basic", "client_secret_basic"),
        (ANY, None, {"client_secret": "s"}, "client_secret_basic", "client_secret_basic"),
        (ANY, None, {}, "client_secret_basic", "none"),
        (
            ANY,
            ("client_secret_post", "client_secret_basic"),
            {"client_secret": "s", "token_endpoint_auth_method": "client_secret_post"},
            "client_secret_basic",
            "client_secret_post",
        ),
    ],
)
def test_the_method_is_the_one_that_was_registered_else_what_a_secret_implies(
    settings: Settings, listed: tuple[str, ...] | None, reply: dict[str, Any], asked: str, method: str
) -> None:
    played, _ = client(answer({"client_id": "dyn-1", **reply}), settings, SERVER._replace(token_methods=listed))
    request = played.steps[0]
    assert isinstance(request, Fetch)
    assert json.loads(request.body or b"")["token_endpoint_auth_method"] == asked
    assert played.result == Client("dyn-1", reply.get("client_secret"), method, "registration")


def test_everything_private_of_a_registration_is_learnt_even_when_it_is_unusable() -> None:
    reply = {
        "client_id": "dyn-1",
        "client_secret": "secret-1",
        "registration_access_token": "rat-1",
        "token_endpoint_auth_method": "private_key_jwt",
    }
    played, _ = client(answer(reply))
    assert played.learnt == ["dyn-1", "secret-1", "rat-1"]
    assert played.failure is not None
    assert "secret-1" not in played.failure.message


@pytest.mark.parametrize(
    ("reply", "settings", "reason"),
    [
        ({}, None, "`client_id` is missing"),
        ({"client_id": ""}, None, "`client_id` is missing"),
        ({"client_id": 7}, None, "`client_id` is not a string of printable ASCII characters"),
        ({"client_id": "a\nb"}, None, "`client_id` is not a string of printable ASCII characters"),
        ({"client_id": "a" * 16_385}, None, "`client_id` is not a string of printable ASCII characters"),
        (
            {"client_id": "dyn-1", "client_secret": "s", "token_endpoint_auth_method": "client_secret_basic"},
            None,
            "the client is registered with `client_secret_basic`; set `clientAuthentication` to `any`",
        ),
        (
            {"client_id": "dyn-1", "token_endpoint_auth_method": "client_secret_post"},
            ANY,
            "`client_secret` is missing, which the registered method needs",
        ),
        (
            {"client_id": "dyn-1", "client_secret": "s", "token_endpoint_auth_method": "client_secret_post"},
            ANY,
            "the client is registered with `client_secret_post`, which the issuer does not list",
        ),
        (
            {"client_id": "dyn-1", "token_endpoint_auth_method": "private_key_jwt"},
            None,
            "`token_endpoint_auth_method` is `private_key_jwt`, which needs a key",
        ),
        (
            {"client_id": "dyn-1", "token_endpoint_auth_method": 1},
            None,
            "`token_endpoint_auth_method` is not a string, which needs a key",
        ),
        (
            {"client_id": "dyn-1", "redirect_uris": ["https://x"]},
            None,
            "`redirect_uris` does not hold the redirect that was asked for",
        ),
        (
            {"client_id": "dyn-1", "redirect_uris": REDIRECT},
            None,
            "`redirect_uris` does not hold the redirect that was asked for",
        ),
    ],
)
def test_a_registration_that_cannot_be_used_is_named(
    reply: dict[str, Any], settings: Settings | None, reason: str
) -> None:
    assert refused(answer(reply), settings) == (Code.OAUTH_REGISTRATION_FAILED, reason)


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (
            answer({"error": "invalid_redirect_uri", "error_description": "port not allowed"}, 400),
            "the error `invalid_redirect_uri`, described as `port not allowed`",
        ),
        (answer({"detail": "no"}, 403), "an error without a code"),
        (
            answer(b"<html>", 403, "text/html"),
            "refused; the body is not strict JSON: a value is expected (content type `text/html`)",
        ),
        (answer(b"", 307), "a redirect, which is not followed"),
        (answer(b"<html>", 201), "the body is not strict JSON: a value is expected"),
        (answer(b'{"client_id":"a","client_id":"b"}', 201), "the document repeats a member"),
    ],
)
def test_a_refused_registration_says_why_and_what_to_do(page: Page, reason: str) -> None:
    assert refused(page) == (Code.OAUTH_REGISTRATION_FAILED, reason)
    played, _ = client(page)
    assert played.failure is not None
    assert played.failure.message.endswith(
        f"{reason}. Register a client by hand and bind `clientId` with its `callbackPath`."
    )
    assert played.failure.data is None


def test_a_lost_reply_to_a_registration_is_unknown_and_an_unsent_one_is_not() -> None:
    for page, data in ((LATE, {"unknown": True}), (UNREACHABLE, None)):
        played, _ = client(page)
        assert played.failure is not None
        assert (played.failure.code, played.failure.data) == (Code.OAUTH_REGISTRATION_FAILED, data)
    cancelled = NoReply(Code.CANCELLED, "It was cancelled before the reply was complete.", True)
    played, _ = client(cancelled)
    assert played.failure is not None
    assert (played.failure.code, played.failure.data) == (Code.CANCELLED, {"unknown": True})
    played, _ = client(cancelled._replace(sent=False))
    assert played.failure is not None
    assert (played.failure.code, played.failure.data) == (Code.CANCELLED, None)


@pytest.mark.parametrize(
    ("endpoint", "code", "reason"),
    [
        (None, Code.OAUTH_REGISTRATION_FAILED, "`registration_endpoint` is missing"),
        ("http://auth.example.com/r", Code.OAUTH_UNSUPPORTED, "`registration_endpoint` must be an https URL"),
        (
            "https://evil.example/r",
            Code.ORIGIN_NOT_ADMITTED,
            "`registration_endpoint` is at https://evil.example:443, which is not an admitted origin",
        ),
    ],
)
def test_nothing_is_sent_to_a_registration_endpoint_that_may_not_be_used(
    endpoint: str | None, code: Code, reason: str
) -> None:
    played, _ = client(answer({}), server=SERVER._replace(registration_endpoint=endpoint))
    assert played.steps == []
    assert refused(answer({}), server=SERVER._replace(registration_endpoint=endpoint)) == (code, reason)


@pytest.mark.requirement("oauth.client")
def test_a_bound_client_comes_first_and_is_not_registered() -> None:
    settings = Settings(AUTH, client_id="bound-1", client_metadata_url="https://me.example/c")
    played, record = client(answer({}), settings, SERVER._replace(metadata_documents=True))
    assert played.steps == []
    assert record == []
    assert played.result == Client("bound-1", None, "none", "binding")


@pytest.mark.parametrize(
    ("listed", "method"),
    [(None, "client_secret_basic"), (("client_secret_post", "none"), "client_secret_post")],
)
def test_a_bound_secret_is_shown_as_the_issuer_lists_it(listed: tuple[str, ...] | None, method: str) -> None:
    settings = Settings(AUTH, client_id="bound-1", client_secret="secret-1", any_authentication=True)
    played, _ = client(answer({}), settings, SERVER._replace(token_methods=listed))
    assert played.result == Client("bound-1", "secret-1", method, "binding")


@pytest.mark.requirement("oauth.client")
def test_a_metadata_document_is_the_client_where_the_issuer_supports_one() -> None:
    url = "https://me.example/client.json"
    settings = Settings(AUTH, client_metadata_url=url)
    played, record = client(answer({}), settings, SERVER._replace(metadata_documents=True))
    assert played.steps == []
    assert played.result == Client(url, None, "none", "document")
    assert record == [Entry("client registration", url, None, "the client metadata document is the client", True)]


@pytest.mark.requirement("oauth.client")
@pytest.mark.parametrize(
    ("server", "reason"),
    [
        (SERVER, "the issuer does not support client metadata documents"),
        (
            SERVER._replace(metadata_documents=True, token_methods=("client_secret_basic",)),
            "`token_endpoint_auth_methods_supported` does not list `none`, and such a client has no secret",
        ),
    ],
)
def test_without_support_for_metadata_documents_the_client_is_registered(server: ServerMetadata, reason: str) -> None:
    settings = Settings(AUTH, client_metadata_url="https://me.example/c", any_authentication=True)
    played, record = client(answer({"client_id": "dyn-1", "client_secret": "s"}), settings, server)
    assert played.result.id == "dyn-1"
    assert record[0].reason == reason


def test_basic_authentication_form_encodes_id_and_secret() -> None:
    # The base64 of `id%3Awith%2Fcolon+%2B:s%25c%3Ar`.
    headers, fields = authenticate(Client("id:with/colon +", "s%c:r", "client_secret_basic", "binding"))
    assert headers == (("Authorization", "Basic aWQlM0F3aXRoJTJGY29sb24rJTJCOnMlMjVjJTNBcg=="),)
    assert fields == (("client_id", "id:with/colon +"),)


def test_the_other_methods_put_their_credentials_into_the_form() -> None:
    assert authenticate(Client("i", "s", "client_secret_post", "binding")) == (
        (),
        (("client_id", "i"), ("client_secret", "s")),
    )
    assert authenticate(Client("i", "ignored", "none", "registration")) == ((), (("client_id", "i"),))


def test_neither_client_nor_reply_shows_what_it_holds() -> None:
    assert repr(Client("id", "secret", "none", "binding")) == "<Client binding>"
    assert repr(Reply(200, (), b"secret")) == "<Reply 200>"


@pytest.mark.parametrize(
    ("settings", "listed", "expected"),
    [
        (Settings(AUTH), ("none", "client_secret_basic"), ("none",)),
        (Settings(AUTH), ("client_secret_basic",), ()),
        (Settings(AUTH), None, ()),
        (ANY, ("client_secret_post", "none", "private_key_jwt"), ("none", "client_secret_post")),
        (ANY, ("private_key_jwt",), ()),
        (Settings(AUTH, client_id="c", any_authentication=True), None, ("none",)),
        (Settings(AUTH, client_id="c", any_authentication=True), ("client_secret_basic",), ()),
    ],
)
def test_usable_methods_are_those_that_both_sides_know(
    settings: Settings, listed: tuple[str, ...] | None, expected: tuple[str, ...]
) -> None:
    assert usable(settings, listed) == expected
