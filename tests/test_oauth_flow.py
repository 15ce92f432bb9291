"""A whole sign-in as what it asks and is answered, without a socket."""

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest

from oauth.authorization import authorization_url
from oauth.challenge import Demand, Probe
from oauth.discovery import Found, Target
from oauth.flow import ENTROPY, Pending, begin, finish
from oauth.metadata import ServerMetadata
from oauth.pkce import mint
from oauth.record import Entry
from oauth.scopes import check_again, choose
from oauth.settings import Settings
from oauth.steps import Consent, Fetch, Learn, Listen
from protocol.failures import Code, Failed
from tests.fakes.oauth_script import PORT, Page, Played, answer, play, shown

ENDPOINT = "https://mcp.example.com/mcp"
AUTH = "https://auth.example.com"
ADMITTED = frozenset(("https://mcp.example.com:443", "https://auth.example.com:443"))
ENTROPY_BYTES = bytes(range(ENTROPY))
PROOF = mint(ENTROPY_BYTES)
METADATA = {
    "issuer": AUTH,
    "authorization_endpoint": f"{AUTH}/authorize?tenant=a%2Fb",
    "token_endpoint": f"{AUTH}/token",
    "registration_endpoint": f"{AUTH}/register",
    "response_types_supported": ["code"],
    "code_challenge_methods_supported": ["S256"],
    "token_endpoint_auth_methods_supported": ["none"],
    "authorization_response_iss_parameter_supported": True,
}
RESOURCE = {"resource": ENDPOINT + "/", "authorization_servers": [AUTH], "scopes_supported": ["p.q"]}


def site(metadata: dict[str, Any] | None = None, resource: dict[str, Any] | None = None) -> dict[str, Page]:
    return {
        ENDPOINT: answer(b"", 401, www_authenticate='Bearer scope="tools.read tools.call"'),
        "https://mcp.example.com/.well-known/oauth-protected-resource/mcp": answer({**RESOURCE, **(resource or {})}),
        f"{AUTH}/.well-known/oauth-authorization-server": answer({**METADATA, **(metadata or {})}),
        f"{AUTH}/register": answer({"client_id": "dyn-client-1"}, 201),
        f"{AUTH}/token": answer({"access_token": "at-1234567890", "token_type": "bearer", "expires_in": 60}),
    }


def consenting(**changes: str | None) -> Callable[[str], str]:
    """What a server sends back for an authorization URL, with parameters changed or, where None, left out."""

    def callback(url: str) -> str:
        sent = parse_qs(urlsplit(url).query)
        parameters = {"code": "code-abcdefgh", "state": sent["state"][0], "iss": AUTH, **changes}
        return urlencode({name: value for name, value in parameters.items() if value is not None})

    return callback


def sign_in(
    settings: Settings | None = None,
    pages: dict[str, Page] | None = None,
    callback: Any = None,
    **step_up: Any,
) -> tuple[Played, Played | None, list[Entry]]:
    """Play both halves; the second only when the first one succeeded."""
    record: list[Entry] = []
    target = Target(ENDPOINT, settings or Settings(AUTH), ADMITTED)
    pages = site() if pages is None else pages
    first = play(begin(target, Probe(ENDPOINT), ENTROPY_BYTES, record, **step_up), pages)
    if first.failure is not None:
        return first, None, record
    url = next((step.url for step in first.steps if isinstance(step, Consent)), "")
    query = (callback or consenting())(url) if url else None
    return first, play(finish(first.result, record), pages, query), record


def consent_url(played: Played) -> dict[str, str]:
    (url,) = [step.url for step in played.steps if isinstance(step, Consent)]
    pairs = parse_qsl(urlsplit(url).query, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


@pytest.mark.requirement("oauth.record")
def test_a_sign_in_asks_in_this_order_and_makes_everything_private_before_it_is_used() -> None:
    first, second, record = sign_in()
    assert second is not None
    url = next(step.url for step in first.steps if isinstance(step, Consent))
    assert first.fetched == [
        f"POST {ENDPOINT}",
        "GET https://mcp.example.com/.well-known/oauth-protected-resource/mcp",
        f"GET {AUTH}/.well-known/oauth-authorization-server",
        f"POST {AUTH}/register",
    ]
    assert [step for step in first.steps if not isinstance(step, Fetch)] == [
        Listen("127.0.0.1", 0, "/callback"),
        Learn(("dyn-client-1",)),
        Learn((PROOF.verifier, PROOF.state)),
        Learn((url,)),
        Consent(url, 120.0),
    ]
    assert first.kinds.index("Listen") == 3  # after discovery, before registration
    assert second.kinds == ["Wait", "Learn", "Fetch", "Learn"]
    assert second.fetched == [f"POST {AUTH}/token"]
    assert second.learnt == ["code-abcdefgh", "at-1234567890"]
    assert second.result.access_token == "at-1234567890"
    assert second.result.requested == ("tools.read", "tools.call")
    assert shown(record) == (
        "+ challenge: https://mcp.example.com/mcp\n"
        "    HTTP 401: a Bearer challenge with `scope`\n"
        "+ protected resource metadata: https://mcp.example.com/.well-known/oauth-protected-resource/mcp\n"
        "    HTTP 200: taken\n"
        "+ authorization server metadata: https://auth.example.com/.well-known/oauth-authorization-server\n"
        "    HTTP 200: taken\n"
        "+ client registration: https://auth.example.com/register\n"
        "    HTTP 201: registered, with `none` at the token endpoint\n"
        "+ token request: https://auth.example.com/token\n"
        "    HTTP 200: taken\n"
    )


@pytest.mark.requirement("oauth.callback", "oauth.authorization-url")
def test_the_authorization_url_carries_proof_scopes_and_the_resource_byte_for_byte() -> None:
    first, _, _ = sign_in()
    url = next(step.url for step in first.steps if isinstance(step, Consent))
    assert url.startswith(f"{AUTH}/authorize?tenant=a%2Fb&response_type=code&")
    assert consent_url(first) == {
        "tenant": "a/b",
        "response_type": "code",
        "client_id": "dyn-client-1",
        "redirect_uri": f"http://127.0.0.1:{PORT}/callback",
        "scope": "tools.read tools.call",
        "state": PROOF.state,
        "code_challenge": PROOF.challenge,
        "code_challenge_method": "S256",
        "resource": ENDPOINT + "/",
    }


@pytest.mark.requirement("oauth.authorization-url")
def test_the_same_redirect_and_resource_go_to_every_request() -> None:
    first, second, _ = sign_in()
    assert second is not None
    register = next(step for step in first.steps if isinstance(step, Fetch) and step.document == "client registration")
    token = next(step for step in second.steps if isinstance(step, Fetch))
    form = dict(parse_qsl((token.body or b"").decode()))
    redirect = consent_url(first)["redirect_uri"]
    assert json.loads(register.body or b"")["redirect_uris"] == [redirect]
    assert (form["redirect_uri"], form["resource"]) == (redirect, consent_url(first)["resource"])
    assert form["code_verifier"] == PROOF.verifier


@pytest.mark.requirement("oauth.callback-path")
def test_a_bound_client_uses_its_callback_and_registers_nothing() -> None:
    settings = Settings(
        AUTH, client_id="bound-1", callback_path="/my/cb", callback_port=8123, callback_host="localhost"
    )
    first, second, _ = sign_in(settings)
    assert second is not None
    assert second.failure is None
    assert first.steps[3] == Listen("localhost", 8123, "/my/cb")
    assert consent_url(first)["client_id"] == "bound-1"
    assert consent_url(first)["redirect_uri"] == "http://localhost:8123/my/cb"
    assert not any("register" in fetched for fetched in first.fetched)


@pytest.mark.requirement("oauth.callback-checked")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"state": "other"}, Code.OAUTH_STATE_MISMATCH),
        ({"state": None}, Code.OAUTH_STATE_MISMATCH),
        ({"iss": None}, Code.OAUTH_ISSUER_MISMATCH),
        ({"iss": AUTH + "/"}, Code.OAUTH_ISSUER_MISMATCH),
        ({"code": None}, Code.OAUTH_CALLBACK_INVALID),
        ({"error": "access_denied"}, Code.OAUTH_CALLBACK_INVALID),
        ({"error": "access_denied", "code": None}, Code.OAUTH_CONSENT_DENIED),
    ],
)
def test_a_callback_that_is_not_ours_leads_to_no_token_request(change: dict[str, str | None], code: Code) -> None:
    _, second, _ = sign_in(callback=consenting(**change))
    assert second is not None
    assert second.failure is not None
    assert second.failure.code is code
    assert second.fetched == []


def test_a_code_is_learnt_before_its_callback_is_judged() -> None:
    _, second, _ = sign_in(callback=lambda _: "code=someone-elses&code=second-code&state=other-state")
    assert second is not None
    assert second.learnt == ["someone-elses", "second-code"]


def test_no_callback_in_time_is_a_timeout_that_names_the_limit() -> None:
    settings = Settings(AUTH, consent_timeout_ms=1500)
    record: list[Entry] = []
    first = play(begin(Target(ENDPOINT, settings, ADMITTED), Probe(ENDPOINT), ENTROPY_BYTES, record), site())
    second = play(finish(first.result, record), site(), None)
    assert [step.seconds for step in first.steps if isinstance(step, Consent)] == [1.5]
    assert second.failure is not None
    assert second.failure.code is Code.OAUTH_CONSENT_TIMEOUT
    assert second.failure.message == (
        "No callback came within 1500 ms of opening the consent page (`consentTimeoutMs`)."
    )


def test_a_client_with_a_secret_alone_needs_no_consent_and_no_listener() -> None:
    settings = Settings(
        AUTH, client_id="ci-client", client_secret="ci-secret", any_authentication=True, client_credentials=True
    )
    metadata = {"token_endpoint_auth_methods_supported": ["client_secret_basic"], "authorization_endpoint": None}
    first, second, _ = sign_in(settings, site(metadata))
    assert second is not None
    assert set(first.kinds) == {"Fetch"}
    assert second.kinds == ["Learn", "Fetch", "Learn"]
    token = second.steps[1]
    assert isinstance(token, Fetch)
    assert dict(parse_qsl((token.body or b"").decode())) == {
        "grant_type": "client_credentials",
        "scope": "tools.read tools.call",
        "resource": ENDPOINT + "/",
        "client_id": "ci-client",
    }
    assert second.result.access_token == "at-1234567890"


def test_a_step_up_skips_the_challenge_and_asks_for_the_union() -> None:
    demand = Demand("https://mcp.example.com/.well-known/oauth-protected-resource/mcp", ("tools.write",))
    first, second, record = sign_in(demand=demand, previous=("tools.read", "tools.call"))
    assert second is not None
    assert first.fetched[0] == "GET https://mcp.example.com/.well-known/oauth-protected-resource/mcp"
    assert consent_url(first)["scope"] == "tools.read tools.call tools.write"
    assert second.result.requested == ("tools.read", "tools.call", "tools.write")
    assert record[0].document == "protected resource metadata"


def test_a_step_up_finds_the_metadata_where_it_was_before() -> None:
    pages = site()
    custom = "https://mcp.example.com/custom"
    pages[custom] = pages.pop("https://mcp.example.com/.well-known/oauth-protected-resource/mcp")
    pages[ENDPOINT] = answer(b"", 401, www_authenticate=f'Bearer resource_metadata="{custom}"')
    first, second, _ = sign_in(pages=pages)
    assert second is not None
    known = first.result.found.metadata_url
    again, _, _ = sign_in(pages=pages, demand=Demand(None, ("tools.write",)), previous=("a",), known=known)
    assert (known, again.fetched[0]) == (custom, f"GET {custom}")
    assert again.failure is None


def test_a_server_of_2025_03_26_is_signed_in_to_by_its_default_endpoints_without_a_resource() -> None:
    pages: dict[str, Page] = {
        "https://mcp.example.com/register": answer({"client_id": "dyn-1", "client_secret": "unused-1"}, 201),
        "https://mcp.example.com/token": answer({"access_token": "at-1", "token_type": "Bearer"}),
        ENDPOINT: answer(b"", 401),
    }
    first, second, _ = sign_in(Settings("endpoint", compat=True), pages, consenting(iss=None))
    assert second is not None
    assert second.result.access_token == "at-1"
    assert "resource" not in consent_url(first)
    assert "scope" not in consent_url(first)


def test_what_stands_between_the_halves_shows_nothing() -> None:
    first, _, _ = sign_in()
    assert isinstance(first.result, Pending)
    shown = repr(first.result) + repr(first.steps)
    for private in (PROOF.verifier, PROOF.state, "dyn-client-1", "/authorize?"):
        assert private not in shown


# --- scopes ----------------------------------------------------------------------------------------------------

SERVER = ServerMetadata(AUTH, None, None, None, None, None, None, None, None, False, False)
OFFLINE = SERVER._replace(scopes=("a", "offline_access"))


@pytest.mark.requirement("oauth.scopes")
@pytest.mark.parametrize(
    ("settings", "demanded", "published", "server", "previous", "expected"),
    [
        (Settings(AUTH, scopes=("mine",)), ("theirs",), ("published",), SERVER, (), ("mine",)),
        (Settings(AUTH), ("theirs", "more"), ("published",), SERVER, (), ("theirs", "more")),
        (Settings(AUTH), None, ("p", "q"), SERVER, (), ("p", "q")),
        (Settings(AUTH), None, None, SERVER, (), ()),
        (Settings(AUTH), None, ("p", "offline_access"), OFFLINE, (), ("p",)),
        (Settings(AUTH, refresh=True), None, ("p",), OFFLINE, (), ("p", "offline_access")),
        (Settings(AUTH, refresh=True), None, ("p", "offline_access"), SERVER, (), ("p",)),
        (
            Settings(AUTH, refresh=True, scopes=("offline_access", "x")),
            None,
            None,
            OFFLINE,
            (),
            ("x", "offline_access"),
        ),
        (Settings(AUTH, scopes=("mine",)), ("new",), ("p",), SERVER, ("mine", "old"), ("mine", "old", "new")),
        (Settings(AUTH), ("old", "new"), ("p",), SERVER, ("old",), ("old", "new")),
        (Settings(AUTH), None, ("p",), SERVER, ("old",), ("old",)),
    ],
)
def test_scopes_are_chosen_in_this_order(
    settings: Settings,
    demanded: tuple[str, ...] | None,
    published: tuple[str, ...] | None,
    server: ServerMetadata,
    previous: tuple[str, ...],
    expected: tuple[str, ...],
) -> None:
    found = Found(server, ENDPOINT, published)
    assert choose(settings, Demand(None, demanded), found, previous) == expected
    if demanded is None:
        assert choose(settings, None, found, previous) == expected


@pytest.mark.requirement("oauth.three-sign-ins")
@pytest.mark.parametrize(
    ("step_up", "sign_ins", "granted", "code"),
    [
        (False, 0, False, None),
        (False, 2, False, None),
        (False, 3, False, Code.OAUTH_UNSUPPORTED),
        (False, 1, True, Code.INVALID_BINDING),
        (True, 2, True, None),
        (True, 3, True, Code.OAUTH_UNSUPPORTED),
    ],
)
def test_an_alias_signs_in_again_for_a_step_up_or_after_a_failure_and_three_times_at_most(
    step_up: bool, sign_ins: int, granted: bool, code: Code | None
) -> None:
    settings = Settings(AUTH, step_up=step_up)
    if code is None:
        check_again(settings, sign_ins, granted=granted)
    else:
        with pytest.raises(Failed) as failed:
            check_again(settings, sign_ins, granted=granted)
        assert failed.value.code is code


def test_a_sign_in_too_many_says_what_to_do_instead() -> None:
    with pytest.raises(Failed) as failed:
        check_again(Settings(AUTH), 3, granted=False)
    assert failed.value.failure.message == (
        "The alias has begun 3 sign-ins already, failed ones included, and begins no more: a server may ask for more"
        " without an end. Name all scopes in `scopes` at once, or use a second alias."
    )


def test_an_authorization_endpoint_without_a_query_gets_one() -> None:
    url = authorization_url("https://a/x", "c", "http://127.0.0.1:1/cb", PROOF, scopes=(), resource=None)
    assert url.startswith("https://a/x?response_type=code&client_id=c&redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fcb&")
    assert "scope" not in url
    assert "resource" not in url
