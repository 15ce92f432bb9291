"""The token endpoint: the one request of each grant, and the strict reading of its reply."""

from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oauth.authentication import Client
from oauth.claims import Claims, read_claims
from oauth.discovery import Found
from oauth.metadata import ServerMetadata
from oauth.pkce import mint
from oauth.record import Entry
from oauth.steps import Fetch, Learn, NoReply
from oauth.token import Grant, by_secret, exchange, grant_facts, refresh, refresh_due
from protocol.failures import Code
from tests.fakes.oauth_script import LATE, UNREACHABLE, Page, Played, answer, play

AUTH = "https://auth.example.com"
TOKEN = f"{AUTH}/token"
REDIRECT = "http://127.0.0.1:49152/callback"
SERVER = ServerMetadata(
    AUTH, f"{AUTH}/authorize", TOKEN, None, None, ("code",), None, ("none",), ("S256",), False, False
)
FOUND = Found(SERVER, "https://mcp.example.com/mcp/", None)
PUBLIC = Client("client-1", None, "none", "binding")
PROOF = mint(bytes(range(64)))
REPLY = {"access_token": "at-1234567890", "token_type": "Bearer", "expires_in": 3600}


def trade(
    page: Page, client: Client = PUBLIC, found: Found = FOUND, *, keep: bool = False
) -> tuple[Played, list[Entry]]:
    record: list[Entry] = []
    flow = exchange(found, client, "code-abcdefgh", PROOF, REDIRECT, ("a", "b"), record, keep_refresh=keep)
    return play(flow, {TOKEN: page}), record


def form(request: object) -> dict[str, str]:
    assert isinstance(request, Fetch)
    pairs = parse_qsl((request.body or b"").decode("ascii"), keep_blank_values=True, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.requirement("oauth.exchange")
def test_a_code_is_exchanged_with_its_verifier_redirect_and_resource() -> None:
    played, record = trade(answer(REPLY))
    assert played.kinds == ["Fetch", "Learn"]
    request = played.steps[0]
    assert isinstance(request, Fetch)
    assert (request.method, request.url) == ("POST", TOKEN)
    assert request.headers == (
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Accept", "application/json"),
    )
    assert form(request) == {
        "grant_type": "authorization_code",
        "code": "code-abcdefgh",
        "redirect_uri": REDIRECT,
        "code_verifier": PROOF.verifier,
        "resource": "https://mcp.example.com/mcp/",
        "client_id": "client-1",
    }
    assert played.steps[1] == Learn(("at-1234567890",))
    assert played.result == Grant(
        access_token="at-1234567890",
        expires_in=3600,
        scopes=("a", "b"),
        requested=("a", "b"),
        refresh_token=None,
        issuer=AUTH,
        token_endpoint=TOKEN,
        resource="https://mcp.example.com/mcp/",
        client=PUBLIC,
        claims=None,
    )
    assert record == [Entry("token request", TOKEN, 200, "taken", True)]


def test_a_confidential_client_shows_its_secret_as_it_is_registered() -> None:
    basic = Client("client-1", "s:1", "client_secret_basic", "binding")
    played, _ = trade(answer(REPLY), basic)
    # What a server may repeat of it is private before it is sent.
    assert played.steps[0] == Learn(("Y2xpZW50LTE6cyUzQTE=", "s%3A1"))
    assert isinstance(played.steps[1], Fetch)
    assert played.steps[1].headers[2] == ("Authorization", "Basic Y2xpZW50LTE6cyUzQTE=")
    assert form(played.steps[1])["client_id"] == "client-1"
    assert "client_secret" not in form(played.steps[1])
    played, _ = trade(answer(REPLY), basic._replace(method="client_secret_post"))
    assert played.steps[0] == Learn(("s%3A1",))
    sent = form(played.steps[1])
    assert (sent["client_id"], sent["client_secret"]) == ("client-1", "s:1")


def test_a_client_that_is_a_document_has_nothing_private() -> None:
    document = Client("https://tools.example/client", None, "none", "document")
    assert trade(answer(REPLY), document)[0].kinds == ["Fetch", "Learn"]


def test_without_a_published_resource_none_is_sent() -> None:
    played, _ = trade(answer(REPLY), found=FOUND._replace(resource=None))
    assert "resource" not in form(played.steps[0])


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"token_type": "bearer"}, {}),
        ({"token_type": "BEARER", "expires_in": 0}, {"expires_in": 0}),
        ({"expires_in": None}, {"expires_in": None}),
        ({"scope": "b c b"}, {"scopes": ("b", "c")}),
        ({"scope": ""}, {"scopes": ()}),
        ({"scope": None}, {"scopes": ("a", "b")}),
        ({"refresh_token": None}, {"refresh_token": None}),
        ({"unknown": {"deep": [1.0]}}, {}),
        ({"access_token": "a" * 16_384}, {"access_token": "a" * 16_384}),
    ],
)
def test_what_a_reply_may_leave_out_or_spell_otherwise(reply: dict[str, Any], expected: dict[str, Any]) -> None:
    played, _ = trade(answer({**REPLY, **reply}))
    assert {name: getattr(played.result, name) for name in expected} == expected


@pytest.mark.requirement("oauth.left-as-it-is")
def test_a_refresh_token_is_always_learnt_and_kept_only_when_it_was_asked_for() -> None:
    page = answer({**REPLY, "refresh_token": "rt-1", "id_token": "it-1"})
    for keep, kept in ((False, None), (True, "rt-1")):
        played, _ = trade(page, keep=keep)
        assert played.learnt == ["at-1234567890", "rt-1", "it-1"]
        assert played.result.refresh_token == kept


@pytest.mark.requirement("oauth.exchange")
@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (answer({**REPLY, "access_token": None}), "`access_token` is missing, or not a token of printable ASCII"),
        (answer({**REPLY, "access_token": ""}), "`access_token` is missing, or not a token of printable ASCII"),
        (answer({**REPLY, "access_token": "a b"}), "`access_token` is missing, or not a token of printable ASCII"),
        (answer({**REPLY, "access_token": "a\r\nb"}), "`access_token` is missing, or not a token of printable ASCII"),
        (answer({**REPLY, "access_token": ["x"]}), "`access_token` is missing, or not a token of printable ASCII"),
        (answer({**REPLY, "access_token": "a" * 16_385}), "`access_token` has 16385 characters, and 16384 can be used"),
        (answer({**REPLY, "token_type": None}), "`token_type` is not `Bearer`"),
        (answer({**REPLY, "token_type": "DPoP"}), "`token_type` is not `Bearer`"),
        (answer({**REPLY, "expires_in": "3600"}), "`expires_in` is not a whole number of seconds"),
        (answer({**REPLY, "expires_in": -1}), "`expires_in` is not a whole number of seconds"),
        (answer({**REPLY, "expires_in": 1.5}), "`expires_in` is not a whole number of seconds"),
        (answer({**REPLY, "expires_in": True}), "`expires_in` is not a whole number of seconds"),
        (answer({**REPLY, "scope": ["a"]}), "`scope` is not a list of scopes parted by single spaces"),
        (answer({**REPLY, "scope": "a  b"}), "`scope` is not a list of scopes parted by single spaces"),
        (answer({**REPLY, "refresh_token": 1}), "`refresh_token` is not a string of printable ASCII characters"),
        (answer(b'{"access_token":"a","access_token":"b","token_type":"bearer"}'), "the document repeats a member"),
        (answer(b"access_token=a&token_type=bearer"), "the body is not strict JSON: a value is expected"),
        (answer(b"[]"), "the body is not a JSON object"),
        (answer(REPLY, kind="text/html"), "the content type is `text/html`, not `application/json`"),
        (answer(REPLY, 201), "an error without a code"),
        (answer(REPLY, 307), "a redirect, which is not followed"),
        (answer({"error": "invalid_grant"}, 400), "the error `invalid_grant`"),
        (
            answer({"error": "invalid_grant", "error_description": "verifier mismatch"}, 400),
            "the error `invalid_grant`, described as `verifier mismatch`",
        ),
        (
            answer({"error": "code-abcdefgh", "error_description": f"got {PROOF.verifier[5:15]}"}, 400),
            "an unregistered error that repeats a private value, with a description that repeats a private value",
        ),
        (
            answer({"error": "invalid_grant", "error_description": "bad code%2dabcdefgh"}, 400),
            "the error `invalid_grant`, with a description that repeats a private value",
        ),
        (
            answer(b"<html>", 502, "text/html"),
            "refused; the body is not strict JSON: a value is expected (content type `text/html`)",
        ),
    ],
)
def test_a_reply_that_is_no_usable_token_is_named_and_the_code_is_not_sent_again(page: Page, reason: str) -> None:
    played, record = trade(page)
    assert played.fetched == [f"POST {TOKEN}"]
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_EXCHANGE_FAILED
    assert played.failure.data is None
    assert record[-1].reason.startswith(reason)
    assert played.failure.message.endswith(f"{record[-1].reason}. The code is spent: start the sign-in again.")
    for private in ("code-abcdefgh", PROOF.verifier, PROOF.state, "at-1234567890"):
        assert private not in played.failure.message


@pytest.mark.requirement("oauth.exchange")
def test_a_lost_reply_is_unknown_and_is_not_asked_for_again() -> None:
    for page, data in ((LATE, {"unknown": True}), (UNREACHABLE, None)):
        played, record = trade(page)
        assert played.fetched == [f"POST {TOKEN}"]
        assert played.failure is not None
        assert (played.failure.code, played.failure.data) == (Code.OAUTH_EXCHANGE_FAILED, data)
        assert record[-1].status is None
    played, _ = trade(NoReply(Code.CANCELLED, "It was cancelled before the reply was complete.", True))
    assert played.failure is not None
    assert (played.failure.code, played.failure.data) == (Code.CANCELLED, {"unknown": True})


def test_a_client_gets_a_token_for_itself_by_its_secret() -> None:
    record: list[Entry] = []
    client = Client("client-1", "secret-1", "client_secret_post", "binding")
    played = play(by_secret(FOUND, client, ("a",), record), {TOKEN: answer({**REPLY, "refresh_token": "rt-1"})})
    assert form(played.steps[0]) == {
        "grant_type": "client_credentials",
        "scope": "a",
        "client_id": "client-1",
        "client_secret": "secret-1",
        "resource": "https://mcp.example.com/mcp/",
    }
    assert played.result.refresh_token is None
    played = play(by_secret(FOUND, client, (), record), {TOKEN: answer({"error": "invalid_client"}, 401)})
    assert "scope" not in form(played.steps[0])
    assert played.failure is not None
    assert played.failure.message == (
        f"The token request ({TOKEN}) answered HTTP 401: the error `invalid_client`. "
        "Check the client's grants and scopes at the issuer."
    )


# --- refreshing ------------------------------------------------------------------------------------------------

GRANT = Grant("at-old-12345", 3600, ("a",), ("a", "b"), "rt-old-12345", AUTH, TOKEN, FOUND.resource, PUBLIC, None)


def test_a_refresh_sends_the_refresh_token_once_and_takes_the_rotated_one() -> None:
    record: list[Entry] = []
    played = play(refresh(GRANT, FOUND, record), {TOKEN: answer({**REPLY, "refresh_token": "rt-new"})})
    assert form(played.steps[0]) == {
        "grant_type": "refresh_token",
        "refresh_token": "rt-old-12345",
        "client_id": "client-1",
        "resource": "https://mcp.example.com/mcp/",
    }
    assert played.learnt == ["at-1234567890", "rt-new"]
    assert (played.result.access_token, played.result.refresh_token) == ("at-1234567890", "rt-new")
    assert (played.result.scopes, played.result.requested) == (("a",), ("a", "b"))


def test_a_refresh_has_the_time_that_it_is_given() -> None:
    for seconds in (None, 1.5):
        played = play(refresh(GRANT, FOUND, [], seconds), {TOKEN: answer(REPLY)})
        assert [step.seconds for step in played.steps if isinstance(step, Fetch)] == [seconds]


def test_a_refresh_token_that_is_not_rotated_stays() -> None:
    played = play(refresh(GRANT, FOUND, []), {TOKEN: answer(REPLY)})
    assert played.result.refresh_token == "rt-old-12345"


@pytest.mark.requirement("oauth.refresh")
def test_a_refresh_token_is_never_shown_to_another_issuer() -> None:
    other = FOUND._replace(server=SERVER._replace(issuer="https://other.example"))
    played = play(refresh(GRANT, other, []), {TOKEN: answer(REPLY)})
    assert played.steps == []
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_ISSUER_MISMATCH


def test_a_refused_refresh_is_final() -> None:
    played = play(refresh(GRANT, FOUND, []), {TOKEN: answer({"error": "invalid_grant"}, 400)})
    assert played.failure is not None
    assert played.failure.code is Code.OAUTH_EXCHANGE_FAILED
    assert "rt-old" not in played.failure.message


@pytest.mark.parametrize(
    ("change", "age", "due"),
    [
        ({}, 3539.9, False),
        ({}, 3540, True),
        ({"expires_in": 100}, 89.9, False),
        ({"expires_in": 100}, 90, True),
        ({"expires_in": 0}, 0, True),
        ({"expires_in": None}, 1e9, False),
        ({"refresh_token": None}, 1e9, False),
    ],
)
def test_a_token_is_refreshed_a_minute_before_its_expiry_or_in_the_last_tenth_of_a_short_life(
    change: dict[str, Any], age: float, due: bool
) -> None:
    assert refresh_due(GRANT._replace(**change), age) is due


def test_a_grant_shows_nothing() -> None:
    assert repr(GRANT) == "<Grant>"
    assert repr(PROOF) == "<Proof>"


# --- claims ----------------------------------------------------------------------------------------------------


#: As many audiences as are kept.
SIXTEEN = tuple(str(number) for number in range(16))


def jwt(payload: str, header: str = '{"alg":"RS256"}') -> str:
    parts = (urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (header, payload))
    return ".".join((*parts, "c2ln"))


@pytest.mark.requirement("oauth.grant-facts")
@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (
            jwt('{"aud":"https://h/mcp","iss":"https://a","exp":1700000000,"sub":"someone"}'),
            Claims(("https://h/mcp",), "https://a", 1_700_000_000),
        ),
        (jwt('{"aud":["a","b"]}'), Claims(("a", "b"), None, None)),
        (jwt('{"aud":["a",1],"iss":["x"],"exp":"soon"}'), Claims((), None, None)),
        (jwt('{"aud":[' + ",".join(f'"{number}"' for number in range(17)) + "]}"), Claims(SIXTEEN, None, None)),
        (jwt("[1]"), None),
        (jwt('{"iss":"a","iss":"b"}'), None),
        (jwt("{}", "{}"), None),
        (jwt("{}", "nonsense"), None),
        ("opaque", None),
        ("a.b", None),
        ("a.b.c.d.e", None),
        ("!.b.c", None),
        ("aaaaa.bbbbb.c", None),
    ],
)
def test_three_claims_of_a_jwt_are_read_and_nothing_else(token: str, expected: Claims | None) -> None:
    assert read_claims(token) == expected


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=200)
def test_no_token_makes_the_reading_of_its_claims_fail(token: str) -> None:
    read_claims(token)
    read_claims(f"{token}.{token}.{token}")


def test_the_claims_of_a_granted_jwt_come_with_it() -> None:
    token = jwt('{"aud":"https://h/mcp"}')
    played, _ = trade(answer({**REPLY, "access_token": token}))
    assert played.result.claims == Claims(("https://h/mcp",), None, None)


@pytest.mark.requirement("oauth.grant-facts")
def test_evidence_of_a_grant_holds_scopes_expiry_and_audience_and_no_token() -> None:
    facts = {
        "issuer": AUTH,
        "resource": "https://mcp.example.com/mcp/",
        "scopes": ["a"],
        "requested": ["a", "b"],
        "expiresIn": 3600,
        "refresh": True,
        "client": "binding",
        "tokenMethod": "none",
    }
    assert grant_facts(GRANT) == facts
    claims = Claims(("https://h/mcp",), AUTH, 1_700_000_000)
    assert grant_facts(GRANT._replace(claims=claims, refresh_token=None)) == {
        **facts,
        "refresh": False,
        "claims": {"aud": ["https://h/mcp"], "iss": AUTH, "exp": 1_700_000_000},
    }


# --- proof -----------------------------------------------------------------------------------------------------


def test_a_proof_is_made_of_its_entropy_alone() -> None:
    assert mint(bytes(range(64))) == PROOF
    assert PROOF.verifier == "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert PROOF.state == "ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8"
    assert PROOF.challenge == "6oZqdX5MOLq_qBJ8vppAnT4fk6AP8UiP9zX8-Rev_9A"


@pytest.mark.parametrize("size", [0, 63, 65])
def test_a_proof_takes_exactly_its_entropy(size: int) -> None:
    with pytest.raises(ValueError, match="a sign-in takes 64 bytes of entropy"):
        mint(bytes(size))
