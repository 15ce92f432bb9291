"""What `assay doctor` says of single facts of a connection and a session: answers, challenges, ends and streams."""

from typing import Any

import msgspec
import pytest

from host.doctor.agreeing import agreed, ended, stream, stream_answered
from host.doctor.asking import answers, challenge, oauth
from host.doctor.certificates import tls_check
from host.doctor.check import Check
from host.doctor.reaching import answer, place_of, reaching
from protocol.wire.steps import Status, StepResult

PLACE = place_of("http://127.0.0.1:8000/mcp")
METADATA = "https://desk.example.com/.well-known/oauth-protected-resource"


def result(status: Status = "failed", code: str | None = "http_status", **members: Any) -> StepResult:
    given: dict[str, Any] = {"message": "It went so.", "effect": "observe", "facts": {}}
    return StepResult(status=status, code=code, **(given | members))


def refused(status: int, code: str = "http_status", **http: Any) -> StepResult:
    """A refused `initialize`, its numbers as the wire gives them."""
    facts = {"http": {"status": msgspec.Raw(str(status).encode()), "challenge": [], **http}}
    return result(code=code, facts=facts | {"session": {"network": {"addresses": ["::1"], "address": "::1"}}})


def connected(**session: Any) -> StepResult:
    facts = {"session": session, "http": {"status": msgspec.Raw(b"200"), "reply": "json"}}
    return result("succeeded", None, facts=facts, display={"result": {"instructions": "Be kind."}})


# Answers


@pytest.mark.parametrize(
    ("status", "kind", "advice"),
    [
        (200, "text/html", "This address gives web pages."),
        (404, "text/plain", "Check the path."),
        (405, "text/plain", "This address takes no POST"),
        (502, "text/plain", "A gateway answers"),
        (400, "application/json", "It may want headers"),
        (418, "text/plain", "Look at the answer in the facts"),
    ],
)
def test_what_answers_and_is_no_mcp_is_a_problem_with_its_advice(status: int, kind: str, advice: str) -> None:
    check = answer(PLACE, refused(status, contentType=kind, body="I am a teapot."))
    assert (check.status, check.message) == ("problem", "It went so.")
    assert check.help.startswith(advice)
    assert (check.facts["contentType"], check.facts["body"]) == (kind, "I am a teapot.")


@pytest.mark.parametrize("status", [400, 404, 405, 406])
def test_an_address_that_ends_in_sse_is_one_of_the_older_transport(status: int) -> None:
    check = answer(place_of("http://127.0.0.1:8000/sse/"), refused(status, contentType="text/html"))
    assert check.help.startswith("This looks like the older HTTP+SSE transport")


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_asks_for_credentials_is_not_said_to_be_no_server(status: int) -> None:
    assert answer(PLACE, refused(status)).status == "skipped"


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/mcp", True),
        ("http://desk.localhost:1/mcp", True),
        ("http://127.9.8.7:1/mcp", True),
        ("http://[::1]:1/mcp", True),
        ("http://10.0.0.1:1/mcp", False),
        ("http://localhost.example.com/mcp", False),
    ],
)
def test_plain_http_is_a_warning_but_on_this_machine(url: str, local: bool) -> None:
    place = place_of(url)
    tls = reaching(place, refused(404), 0)[2]
    assert (tls.id, tls.status) == ("tls", "skipped" if local else "warning")


def test_a_host_without_an_address_is_a_problem_and_its_port_is_not_looked_at() -> None:
    checks = reaching(place_of("https://desk.invalid/mcp"), result(code="unreachable", message="Not known."), 0)
    assert [(check.id, check.status) for check in checks] == [
        ("address", "problem"),
        ("port", "skipped"),
        ("tls", "skipped"),
        ("redirect", "skipped"),
    ]
    assert "desk.invalid has no address. Not known." in checks[0].message


@pytest.mark.parametrize("code", [9, 10, 18, 19, 20, 21, 23, 62, 64, 4294901807])
def test_every_reason_to_distrust_a_certificate_has_its_advice(code: int) -> None:
    network = {"tls": {"reason": "so", "verifyCode": msgspec.Raw(str(code).encode())}}
    check = tls_check("https", "desk.example.com", network, 0, is_local=False)
    assert (check.status, check.message) == ("problem", "The certificate for desk.example.com is not trusted: so.")
    assert check.help


@pytest.mark.parametrize("certificate", [None, {"names": [], "notAfter": "someday"}])
def test_a_certificate_that_says_little_is_trusted_all_the_same(certificate: Any) -> None:
    network = {"tls": {"version": "TLSv1.3", "cipher": "x", "certificate": certificate}}
    assert tls_check("https", "x", network, 0, is_local=False).status == "ok"


# Challenges


def asked(*challenges: dict[str, Any], credentials: bool = False, status: int = 401) -> Check:
    return challenge(refused(status, challenge=list(challenges)), credentials=credentials)


@pytest.mark.parametrize(
    ("challenges", "status", "told"),
    [
        ([{"scheme": "bearer", "parameters": {"resource_metadata": METADATA}}], "ok", "says where to get one"),
        ([{"scheme": "Bearer", "parameters": {}}], "warning", "`resource_metadata` is missing"),
        ([{"scheme": "Basic", "parameters": {"realm": "desk"}}], "warning", "the scheme Basic"),
        ([{"scheme": "Bearer", "parameters": {"a": "b"}, "fault": "repeated-parameter"}], "warning", "malformed"),
        ([], "warning", "`WWW-Authenticate` is missing"),
    ],
)
def test_a_challenge_is_as_good_as_what_it_says_about_credentials(
    challenges: list[dict[str, Any]], status: str, told: str
) -> None:
    found = asked(*challenges)
    assert found.status == status
    assert told in found.message
    assert found.facts == {"status": 401, "challenges": challenges}


def test_credentials_that_are_refused_are_a_problem_with_what_was_said() -> None:
    said = {"scheme": "Bearer", "parameters": {"error": "invalid_token", "error_description": "It is old."}}
    found = asked(said, credentials=True)
    assert (found.status, found.message) == (
        "problem",
        "It refuses these credentials with HTTP 401 (invalid_token, It is old.).",
    )
    assert asked(status=403).status == "problem"


def test_no_answer_says_nothing_about_credentials() -> None:
    assert challenge(result(code="unreachable"), credentials=False).status == "skipped"


PROMISE = {"scheme": "Bearer", "parameters": {"resource_metadata": METADATA}}
RECORD = [{"document": "challenge", "url": "x", "status": 401, "reason": "so", "taken": True}]


@pytest.mark.parametrize(
    ("challenges", "status", "code", "expected"),
    [
        ([PROMISE], "succeeded", None, "ok"),
        ([], "succeeded", None, "ok"),
        ([PROMISE], "failed", "oauth_discovery_failed", "problem"),
        ([], "failed", "oauth_discovery_failed", "warning"),
        ([PROMISE], "failed", "oauth_unsupported", "problem"),
        ([PROMISE], "failed", "origin_not_admitted", "skipped"),
    ],
)
def test_a_sign_in_that_cannot_begin_is_as_bad_as_it_was_promised(
    challenges: list[dict[str, Any]], status: Status, code: str | None, expected: str
) -> None:
    discovered = result(status, code, message="So.", facts={"signIn": RECORD, "demand": None})
    check = oauth(refused(401, challenge=challenges), discovered)
    assert (check.id, check.status, check.message) == ("oauth", expected, "So.")
    assert check.facts == {"signIn": RECORD} | ({} if code is None else {"code": code})


@pytest.mark.parametrize(("status", "expected"), [(404, "skipped"), (None, "skipped"), (200, "warning")])
def test_what_nothing_asks_for_is_checked_where_a_document_tells_of_it(status: int | None, expected: str) -> None:
    probe = RECORD[0] | {"status": 200}
    record = [probe, RECORD[0] | {"document": "protected resource metadata", "status": status}]
    check = oauth(connected(), result("failed", "oauth_discovery_failed", message="So.", facts={"signIn": record}))
    assert (check.status, check.facts["signIn"]) == (expected, record)


@pytest.mark.parametrize(("methods", "told"), [(["none"], False), (["client_secret_post"], True), (None, True)])
def test_the_field_that_a_binding_needs_is_told_where_public_clients_are_not_listed(
    methods: list[str] | None, told: bool
) -> None:
    facts = {"signIn": RECORD, "found": {"issuer": "https://a.example", "tokenMethods": methods}}
    check = oauth(refused(401, challenge=[PROMISE]), result("succeeded", None, facts=facts))
    assert (check.status, "bind `clientAuthentication: any`" in check.help) == ("ok", told)


def test_a_sign_in_is_looked_for_where_there_is_an_answer() -> None:
    assert all(answers(refused(status)) for status in (401, 403, 404))
    assert answers(connected())
    assert not answers(result("failed", "unreachable"))
    assert oauth(connected(), None).status == "skipped"


# The session


@pytest.mark.parametrize(
    ("revision", "status"),
    [
        ("2025-11-25", "ok"),
        ("2025-06-18", "ok"),
        ("2025-03-26", "ok"),
        ("2024-11-05", "warning"),
        ("2024-10-07", "warning"),
    ],
)
def test_a_revision_is_well_where_it_knows_streamable_http(revision: str, status: str) -> None:
    said = connected(protocol=revision, server={"name": "x", "version": "1"}, capabilities={"tools": {}})
    assert [(check.id, check.status) for check in agreed(said)] == [
        ("revision", status),
        ("server", "ok"),
        ("capabilities", "ok"),
    ]


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ({"name": " ", "version": "1"}, "It does not say what it is."),
        ({"name": "x", "version": ""}, "x does not say its version."),
        (None, "It does not say what it is."),
    ],
)
def test_a_server_says_what_it_is(server: Any, told: str) -> None:
    check = agreed(connected(protocol="2025-11-25", server=server, capabilities={}))[1]
    assert (check.status, check.message) == ("warning", told)


def test_a_capability_is_an_object() -> None:
    check = agreed(connected(protocol="2025-11-25", server={}, capabilities={"tools": True, "x": {}}))[2]
    assert (check.status, check.message) == ("problem", "A capability is an object, and `tools` is none.")


@pytest.mark.parametrize(
    ("cleanup", "status"),
    [
        ("not-needed", "ok"),
        ("confirmed", "ok"),
        ("server-managed", "ok"),
        ("refused", "warning"),
        ("lost", "warning"),
        ("unsent", "warning"),
    ],
)
def test_a_session_has_an_end(cleanup: str, status: str) -> None:
    check = ended(result(state={"kind": "disconnected", "cleanup": cleanup}))
    assert (check.id, check.status, check.facts["cleanup"]) == ("session", status, cleanup)


def heard(*streams: dict[str, Any] | None) -> Check:
    return stream([result(facts={} if facts is None else {"stream": facts}) for facts in streams])


def streaming(state: str, status: int | None, kind: str | None = "text/event-stream") -> dict[str, Any]:
    number = None if status is None else msgspec.Raw(str(status).encode())
    return {"state": state, "status": number, "contentType": kind}


@pytest.mark.parametrize(
    ("streams", "answered"),
    [
        ([], True),
        ([streaming("opening", None)], False),
        ([streaming("open", 200), streaming("opening", None)], False),
        ([streaming("opening", None), streaming("refused", 405)], True),
    ],
)
def test_a_get_without_an_answer_is_one_whose_last_sight_is_of_its_opening(
    streams: list[dict[str, Any]], answered: bool
) -> None:
    assert stream_answered([result(facts={"stream": each}) for each in streams]) is answered


@pytest.mark.parametrize(
    ("streams", "status", "told"),
    [
        ([None, None], "skipped", "no session"),
        ([streaming("opening", None), streaming("refused", 405, None)], "ok", "HTTP 405"),
        ([streaming("opening", None), streaming("open", 200), streaming("stopped", 200)], "ok", "opens a stream"),
        ([streaming("opening", None), streaming("stopped", 200)], "ok", "opens a stream"),
        ([streaming("open", 200), streaming("ended", 200)], "ok", "the server ends it"),
        ([streaming("opening", None), streaming("stopped", None)], "warning", "no answer so far"),
        ([streaming("refused", 404, "text/plain")], "warning", "HTTP 404 (text/plain)"),
        ([streaming("refused", 200, None)], "warning", "HTTP 200 (no type)"),
        ([streaming("failed", 200) | {"code": "protocol_error"}], "warning", "broke off (protocol_error)"),
    ],
)
def test_the_stream_is_told_by_what_was_seen_of_it_last(
    streams: list[dict[str, Any] | None], status: str, told: str
) -> None:
    check = heard(*streams)
    assert (check.id, check.status) == ("stream", status)
    assert told in check.message
