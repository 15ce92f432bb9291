"""Flows that sign in: what may stand between the halves, which browser they need, and which pages may be shown."""

from typing import Any

import pytest

from host.consent import Grant, check_page, read_grant
from host.problems import Problem, render
from host.reading import check_flow, parse_flow
from protocol.failures import Code, Failed
from protocol.values.document import encode, parse
from tests.fakes.descriptions import SIGNING_IN

PROVIDERS = "  api: MCP\n  site: Browser\n"
CONSENT: dict[str, Grant] = {"api": "consent"}


def problems(commands: str, providers: str = PROVIDERS, grants: dict[str, Grant] | None = None) -> tuple[Problem, ...]:
    """Read a flow whose first command stands on the line after its providers and two more."""
    text = f"---\nname: Test\nproviders:\n{providers}---\n```rfl\n{commands}\n```\n"
    return check_flow(parse_flow("a.md", text.encode()), SIGNING_IN, {}, grants=grants).problems


def messages(*arguments: Any) -> list[str]:
    return [problem.message for problem in problems(*arguments)]


@pytest.mark.requirement("oauth.shape")
def test_the_seeds_flow_shape_is_right() -> None:
    shape = 'api.oauth_begin\nsite.click selector="[data-testid=approve]"\napi.oauth_finish\napi.tools'
    assert problems(shape) == ()
    assert problems(shape, PROVIDERS, CONSENT) == ()


@pytest.mark.parametrize(
    ("grants", "unused"),
    [(None, []), (CONSENT, []), ({"api": "unknown"}, []), ({"api": "secret"}, ["The alias `site` is not used."])],
)
def test_the_browser_of_a_page_that_asks_nothing_is_used(grants: dict[str, Grant] | None, unused: list[str]) -> None:
    text = f"---\nname: Test\nproviders:\n{PROVIDERS}---\n```rfl\napi.oauth_begin\napi.oauth_finish\n```\n"
    found = check_flow(parse_flow("a.md", text.encode()), SIGNING_IN, {}, grants=grants).flow
    assert found is not None
    assert [warning.message for warning in found.warnings] == unused


def test_a_browser_that_no_sign_in_needs_is_told_as_unused() -> None:
    text = f"---\nname: Test\nproviders:\n{PROVIDERS}---\n```rfl\napi.tools\n```\n"
    found = check_flow(parse_flow("a.md", text.encode()), SIGNING_IN, {}).flow
    assert found is not None
    assert [warning.message for warning in found.warnings] == ["The alias `site` is not used."]


def test_a_second_sign_in_of_the_same_alias_is_a_step_up_and_right() -> None:
    halves = "api.oauth_begin\napi.oauth_finish"
    assert problems(f'{halves}\napi.call tool="t"\n{halves}\napi.call tool="t"') == ()


@pytest.mark.requirement("oauth.between")
@pytest.mark.parametrize(
    ("between", "width"),
    [
        ("api.tools", 9),
        ('api.call tool="x"', 8),
        ("api.disconnect", 14),
        ("api.oauth_begin", 15),
        ("other.connect", 13),
        ("other.oauth_begin", 17),
        ("other.oauth_finish", 18),
        ('sh.bash command="true"', 7),
    ],
)
def test_nothing_but_browser_commands_stands_between_the_halves(between: str, width: int) -> None:
    providers = f"{PROVIDERS}  other: MCP\n  sh: LocalBash\n"
    assert problems(f"api.oauth_begin\n{between}\napi.oauth_finish", providers) == (
        Problem(
            11,
            1,
            width,
            "Between `api.oauth_begin` (line 10) and `api.oauth_finish` only Browser commands may run.",
            "Move it above `api.oauth_begin` or below `api.oauth_finish`.",
        ),
    )


def test_every_wrong_command_is_told_with_its_own_caret() -> None:
    commands = "api.oauth_begin\napi.tools\napi.connect\napi.oauth_finish"
    text = f"---\nname: Test\nproviders:\n{PROVIDERS}---\n```rfl\n{commands}\n```\n"
    reading = check_flow(parse_flow("a.md", text.encode()), SIGNING_IN, {})
    shown = render("a.md", text, reading.problems)
    assert "a.md:9:1: error: Between" in shown
    assert "  9 | api.tools\n    | ^^^^^^^^^\n" in shown
    assert "a.md:10:1: error: Between" in shown


def test_no_picture_is_taken_of_a_sign_in_page() -> None:
    (problem,) = problems('api.oauth_begin\nsite.screenshot name="a"\napi.oauth_finish')
    assert (problem.line, problem.width) == (9, 15)
    assert problem.message == "A sign-in page may show what is private, so no picture is taken of it."
    assert problems('site.screenshot name="a"\napi.oauth_begin\napi.oauth_finish\nsite.screenshot name="b"') == ()


@pytest.mark.requirement("oauth.shape")
def test_the_halves_have_to_be_a_pair() -> None:
    assert messages("api.oauth_finish") == ["No `api.oauth_begin` stands before it."]
    assert messages("api.oauth_begin") == ["No `api.oauth_finish` stands after it, so the sign-in would never end."]
    assert messages("api.oauth_begin\napi.oauth_finish\napi.oauth_finish") == ["No `api.oauth_begin` stands before it."]


@pytest.mark.requirement("oauth.browser-alias")
@pytest.mark.parametrize(
    ("browsers", "found"), [("", "none"), ("  a: Browser\n  b: Browser\n", "`a`, `b`")], ids=["none", "two"]
)
@pytest.mark.parametrize("grants", [None, CONSENT])
def test_a_sign_in_needs_exactly_one_browser_alias(browsers: str, found: str, grants: Any) -> None:
    told = messages("api.oauth_begin\napi.oauth_finish", f"  api: MCP\n{browsers}", grants)
    assert told == [f"A sign-in needs exactly one Browser alias, to show its consent page; the flow has {found}."]


@pytest.mark.requirement("oauth.by-secret")
@pytest.mark.parametrize("grant", ["secret", "unknown"])
def test_a_sign_in_without_consent_needs_no_browser(grant: Grant) -> None:
    assert problems("api.oauth_begin\napi.oauth_finish", "  api: MCP\n", {"api": grant}) == ()


def test_an_alias_whose_binding_has_no_oauth_cannot_sign_in() -> None:
    (problem,) = problems("api.oauth_begin\napi.oauth_finish", PROVIDERS, {"api": "none"})
    assert problem.message == "The alias `api` cannot sign in: its binding has no `oauth`."
    assert (problem.line, problem.column, problem.width) == (8, 1, 15)


@pytest.mark.parametrize("grant", ["consent", "secret"])
def test_an_alias_that_signs_in_does_so_before_its_other_commands(grant: Grant) -> None:
    commands = "api.disconnect\napi.tools\napi.tools\napi.oauth_begin\napi.oauth_finish\napi.tools"
    (problem,) = problems(commands, PROVIDERS, {"api": grant})
    assert problem.message == "The alias `api` gets its token by `oauth`, and has not signed in yet."
    assert (problem.line, problem.column, problem.width) == (9, 1, 9)
    assert messages("api.tools", PROVIDERS, {"api": grant}) == [problem.message]


@pytest.mark.parametrize("grants", [None, {"api": "none"}, {"api": "unknown"}])
def test_an_alias_that_may_have_another_token_need_not_sign_in(grants: Any) -> None:
    assert messages("api.tools", PROVIDERS, grants) == []


def test_an_unknown_alias_between_the_halves_is_told_once() -> None:
    assert len(messages("api.oauth_begin\nnobody.click\napi.oauth_finish")) == 1


# --- how a binding signs in ----------------------------------------------------------------------------------------

SECRET = {"issuer": "endpoint", "grant": "client_credentials"}


@pytest.mark.parametrize(
    ("configuration", "environment", "grant"),
    [
        ({}, {}, "none"),
        ({"oauth": {"issuer": "endpoint"}}, {}, "consent"),
        ({"oauth": SECRET}, {}, "secret"),
        ({"oauth": encode(SECRET).decode()}, {}, "secret"),
        ({"oauth": '{"issuer":"endpoint"}'}, {}, "consent"),
        ({"oauth": "no json"}, {}, "consent"),
        ({"oauth": []}, {}, "consent"),
        ({"oauth": {"env": "SETTINGS"}}, {}, "unknown"),
        ({"oauth": {"env": "SETTINGS"}}, {"SETTINGS": encode(SECRET).decode()}, "secret"),
        ({"oauth": {"issuer": "endpoint", "grant": {"env": "GRANT"}}}, {}, "unknown"),
        ({"oauth": {"issuer": "endpoint", "grant": {"env": "GRANT"}}}, {"GRANT": "client_credentials"}, "secret"),
    ],
)
def test_a_binding_tells_how_it_signs_in(configuration: Any, environment: dict[str, str], grant: str) -> None:
    assert read_grant(parse(encode(configuration)).value, environment) == grant


# --- pages ---------------------------------------------------------------------------------------------------------

ADMITTED = frozenset(
    {"https://auth.example.com:443", "http://127.0.0.1:8000", "http://localhost:8000", "http://plain.example:80"}
)


@pytest.mark.parametrize(
    "url",
    [
        "https://auth.example.com/authorize?state=secret-state",
        "https://AUTH.example.com:443/authorize",
        "http://127.0.0.1:8000/authorize",
        "http://localhost:8000/authorize",
    ],
)
def test_a_page_of_an_admitted_origin_is_shown(url: str) -> None:
    check_page(url, ADMITTED)


@pytest.mark.parametrize(
    ("url", "code", "named"),
    [
        ("https://elsewhere.example/x?state=secret-state", Code.ORIGIN_NOT_ADMITTED, "https://elsewhere.example:443"),
        ("https://auth.example.com:8443/secret-state", Code.ORIGIN_NOT_ADMITTED, "--allow-origin"),
        ("http://plain.example/secret-state", Code.OAUTH_UNSUPPORTED, "neither https nor loopback"),
        ("file:///etc/secret-state", Code.OAUTH_UNSUPPORTED, "no usable URL"),
        ("javascript:secret-state", Code.OAUTH_UNSUPPORTED, "no usable URL"),
        ("data:text/html,secret-state", Code.OAUTH_UNSUPPORTED, "no usable URL"),
        ("https://user:secret-state@auth.example.com/", Code.OAUTH_UNSUPPORTED, "no usable URL"),
        ("", Code.OAUTH_UNSUPPORTED, "no usable URL"),
    ],
)
def test_no_other_page_is_shown_and_nothing_of_its_url_is_told(url: str, code: Code, named: str) -> None:
    with pytest.raises(Failed) as failed:
        check_page(url, ADMITTED)
    assert failed.value.code is code
    assert named in failed.value.failure.message
    assert "secret-state" not in failed.value.failure.message
