"""What came back from a tool call: how it is observed, compared with `expect`, and captured from."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugin.checks.expectation import read_expect
from plugin.checks.observation import Observation, observe, only_block, state_of
from plugin.checks.replies import compare_reply
from plugin.checks.selection import Selection, select
from plugin.checks.texts import search, strings
from plugin.commands import COMMANDS
from protocol.failures import Code
from protocol.mcp.replies import Outcome
from protocol.values.document import Members, parse
from protocol.values.hashes import digest
from protocol.values.pointer import MISSING, parse_pointer
from protocol.values.redaction import Redactor

TOKEN = "private-token-1"


def outcome(kind: Any, value: Any, raw: bytes) -> Outcome:
    return Outcome(kind, None, "", value, raw, {"status": 200}, False)


def seen(result: Any, *secrets: str) -> Observation:
    """Observe a tool result; a string is the text of its JSON."""
    text = result if isinstance(result, str) else json.dumps(result)
    return observe(outcome("result", parse(text).value, text.encode()), Redactor(secrets))


def refused(error: Any, *secrets: str) -> Observation:
    text = json.dumps(error)
    return observe(outcome("rpc-error", parse(text).value, text.encode()), Redactor(secrets))


UNAVAILABLE = observe(
    Outcome("unavailable", Code.PROTOCOL_ERROR, "", "repeated-member", b"", {}, False), Redactor([TOKEN])
)


def texts(*blocks: str, **members: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": block} for block in blocks], **members}


def failures(expect: Any, observation: Observation, *secrets: str) -> list[tuple[str, int | None, str]]:
    read = read_expect(parse(json.dumps(expect)).value, COMMANDS["call"].expect)
    redactor = Redactor(secrets)
    found = compare_reply(read, observation, lambda text: redactor.text(text).changed)
    return [(entry["expectation"], entry.get("index"), entry["reason"]) for entry in found.failures]


@pytest.mark.requirement("evidence.call.result")
def test_a_result_is_observed_with_its_text_types_and_hash() -> None:
    result = {
        "content": [
            {"type": "text", "text": "one"},
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "text", "text": "two"},
        ],
        "structuredContent": {"b": 1, "a": [2]},
        "isError": True,
    }
    assert state_of(seen(result)) == {
        "kind": "result",
        "isError": True,
        "contentTypes": ["text", "image", "text"],
        "text": "one\ntwo",
        "truncated": False,
        "structuredContent": digest(parse('{"a":[2],"b":1}').value),
        "redacted": False,
    }


def test_a_refusal_is_observed_with_its_code_and_message() -> None:
    assert state_of(refused({"code": -32602, "message": "no such tool", "data": [1]})) == {
        "kind": "rpc-error",
        "code": -32602,
        "message": "no such tool",
        "truncated": False,
        "redacted": False,
    }


def test_an_unavailable_reply_is_observed_with_its_reason_alone() -> None:
    assert state_of(UNAVAILABLE) == {"kind": "unavailable", "reason": "repeated-member"}


@pytest.mark.requirement("evidence.call.result")
@pytest.mark.parametrize(("length", "truncated"), [(16_384, False), (16_385, True)])
def test_text_is_cut_after_16384_characters(length: int, truncated: bool) -> None:
    state = state_of(seen(texts("é" * length)))
    assert (state["text"], state["truncated"]) == ("é" * 16_384, truncated)


@pytest.mark.requirement("evidence.call.result")
def test_text_is_redacted_before_it_is_cut() -> None:
    state = state_of(seen(texts("x" * 16_376 + TOKEN), TOKEN))
    assert state["text"] == "x" * 16_376 + "[redacte"
    assert TOKEN[:8] not in state["text"]


@pytest.mark.requirement("private.before-hashing")
def test_private_values_are_redacted_before_they_are_hashed() -> None:
    plain = seen(texts(structuredContent={"key": TOKEN}), TOKEN)
    assert (plain.kept or {})["structuredContent"] == digest({"key": "[redacted]"})
    assert plain.redacted


@pytest.mark.requirement("expect.redacted", "absence.exact", "exposure.redacted-false")
@pytest.mark.parametrize(
    "result",
    [
        texts(f"a {TOKEN} b"),
        texts(json.dumps({"a": TOKEN.replace("-", "\\u002d")}).replace("\\\\", "\\")),
        texts("x", _meta={TOKEN: 1}),
        texts("x", structuredContent={"a": [{"b": TOKEN}]}),
        texts("private%2Dtoken%2D1"),
        texts("cHJpdmF0ZS10b2tlbi0x"),
        texts("bell \x07"),
        {"content": [{"type": "resource", "resource": {"uri": f"x:{TOKEN}", "text": "y"}}]},
        {"content": [{"type": TOKEN}]},
    ],
)
def test_redacted_tells_of_a_private_value_or_control_anywhere_in_the_reply(result: Any) -> None:
    observation = seen(result, TOKEN)
    assert failures({"redacted": False}, observation) == [("redacted", None, "redacted")]
    assert failures({"redacted": True}, observation) == []
    kept = json.dumps([state_of(observation), [str(part) for part in strings(observation.whole)]])
    assert TOKEN not in kept
    assert "\\u0007" not in kept


def test_a_reply_without_private_values_is_not_redacted() -> None:
    assert failures({"redacted": True}, seen(texts("x"), TOKEN)) == [("redacted", None, "not-redacted")]


def test_two_names_that_redact_alike_both_stay() -> None:
    observation = seen(texts("x", structuredContent={TOKEN: 1, "[redacted]": 2}), TOKEN)
    assert isinstance(dict(observation.whole)["structuredContent"], Members)
    assert observation.redacted


@pytest.mark.requirement("refusal.rpc-error")
@pytest.mark.parametrize(
    ("observation", "expected"),
    [
        (seen(texts("x")), [("rpcError", None, "not-refused")]),
        (refused({"code": -1, "message": ""}), [("rpcError", None, "other-code")]),
        (refused({"code": -32602, "message": ""}), []),
        (UNAVAILABLE, [("rpcError", None, "reply-unavailable")]),
    ],
)
def test_rpc_error_holds_on_a_refusal_with_its_code(observation: Observation, expected: Any) -> None:
    assert failures({"rpcError": -32602}, observation) == expected


@pytest.mark.requirement("refusal.is-error", "expect.two-refusals")
@pytest.mark.parametrize(
    ("flag", "observation", "expected"),
    [
        (False, seen(texts("x")), []),
        (False, seen(texts("x", isError=False)), []),
        (False, seen(texts("x", isError=True)), [("isError", None, "tool-error")]),
        (True, seen(texts("x", isError=True)), []),
        (True, seen(texts("x")), [("isError", None, "no-tool-error")]),
        (True, refused({"code": -1, "message": ""}), [("isError", None, "refused")]),
        (False, refused({"code": -1, "message": ""}), [("isError", None, "refused")]),
        (False, UNAVAILABLE, [("isError", None, "reply-unavailable")]),
    ],
)
def test_is_error_holds_on_a_result_with_that_flag(flag: bool, observation: Observation, expected: Any) -> None:
    assert failures({"isError": flag}, observation) == expected


@pytest.mark.requirement("expect.text-includes", "absence.exact")
def test_text_includes_searches_the_whole_redacted_text() -> None:
    observation = seen(texts("a" * 20_000 + "end", f"key {TOKEN}"), TOKEN)
    assert failures({"textIncludes": ["aend", "end\nkey", "[redacted]"]}, observation) == []
    assert failures({"textIncludes": ["A", "end", "b"]}, observation) == [
        ("textIncludes", 0, "not-included"),
        ("textIncludes", 2, "not-included"),
    ]
    assert failures({"textIncludes": ["no such"]}, refused({"code": 1, "message": "no such tool"})) == []
    assert failures({"textIncludes": ["x"]}, UNAVAILABLE) == [("textIncludes", None, "reply-unavailable")]


EVERYWHERE = {
    "content": [
        {"type": "text", "text": "in-text", "annotations": {"audience": ["in-annotation"]}},
        {"type": "resource", "resource": {"uri": "in://uri", "text": "in-resource"}},
    ],
    "structuredContent": {"in-name": {"x": ["in-structured"]}},
    "_meta": {"k": "in-meta"},
}


@pytest.mark.requirement("expect.text-excludes", "expect.text-excludes.operands", "absence.everything", "absence.exact")
@pytest.mark.parametrize(
    "marker", ["in-text", "in-annotation", "in://uri", "in-resource", "in-name", "in-structured", "in-meta", "resource"]
)
def test_text_excludes_searches_every_string_and_name_of_the_reply(marker: str) -> None:
    observation = seen(EVERYWHERE)
    assert failures({"textExcludes": ["absent", marker]}, observation) == [("textExcludes", 1, "included")]
    assert failures({"textExcludes": [marker.upper()]}, observation) == []


@pytest.mark.requirement("expect.text-excludes", "absence.everything")
def test_text_excludes_searches_the_data_of_an_error() -> None:
    observation = refused({"code": 1, "message": "m", "data": {"deep": ["other-user-marker"]}})
    assert failures({"textExcludes": ["other-user"]}, observation) == [("textExcludes", 0, "included")]
    assert failures({"textExcludes": ["x"]}, UNAVAILABLE) == [("textExcludes", None, "reply-unavailable")]


@pytest.mark.requirement("absence.layers")
@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_json_string_literals_in_strings_are_decoded_up_to_four_layers(layers: int) -> None:
    text = "mark\ner"
    for _ in range(layers):
        text = json.dumps({"k": text})
    assert failures({"textExcludes": ["mark\ner"]}, seen(texts(text))) == [("textExcludes", 0, "included")]


@pytest.mark.requirement("absence.layers")
def test_a_fifth_layer_is_not_decoded() -> None:
    text = "mark\ner"
    for _ in range(5):
        text = json.dumps([text])
    assert search([text], ["mark\ner"]) == [False]


def test_a_backslash_outside_of_a_literal_is_a_backslash() -> None:
    assert search(["C:\\new"], ["C:\new", "C:\\new"]) == [False, True]


WITHOUT_NUL = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)


@settings(deadline=None, max_examples=200)
@given(st.lists(WITHOUT_NUL, max_size=4), WITHOUT_NUL, st.integers(0, 4))
def test_a_text_is_found_however_deep_it_is_quoted(around: list[str], wanted: str, layers: int) -> None:
    value: Any = [*around, {"k": f"x{wanted}y"}]
    for _ in range(layers):
        value = [json.dumps(value)]
    assert search(value, [wanted]) == [True]


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet='"\\ua0b1n {}', max_size=60))
def test_searching_never_fails_whatever_the_quotes_and_backslashes(text: str) -> None:
    assert search([text], [text or "x"]) == [bool(text)]


@pytest.mark.requirement("json.source.call")
@pytest.mark.parametrize(
    ("observation", "source"),
    [
        (seen(texts('{"a":1}', structuredContent={"b": True})), {"b": True}),
        (seen(texts('{"a":true}')), {"a": True}),
        (seen(texts('"x"')), "x"),
        (seen(texts("no json")), MISSING),
        (seen(texts('{"a":1,"a":2}')), MISSING),
        (seen(texts("[1", "2]")), MISSING),
        (seen(texts()), MISSING),
        (seen({"content": [{"type": "image"}, {"type": "text", "text": "null"}]}), None),
        (seen(texts("x", structuredContent=None)), MISSING),
        (refused({"code": 1, "message": "{}"}), MISSING),
        (UNAVAILABLE, MISSING),
    ],
)
def test_json_looks_at_structured_content_else_at_the_only_text_block(observation: Observation, source: Any) -> None:
    assert only_block(observation) == source
    expected = [("json", 0, "source-unavailable")] if source is MISSING else []
    assert failures({"json": [{"pointer": "", "exists": True}]}, observation) == expected


@pytest.mark.requirement("json.all", "json.evidence")
def test_every_assertion_is_recorded_without_operands_and_targets() -> None:
    expect = {
        "json": [
            {"pointer": "/id", "equals": "expected-value"},
            {"pointer": "/id", "type": "string"},
            {"pointer": "/none", "exists": True},
        ]
    }
    read = read_expect(parse(json.dumps(expect)).value, ("json",))
    found = compare_reply(read, seen(texts('{"id":"target-value"}')), lambda _: False)
    assert found.assertions == [
        {"pointer": "/id", "operator": "equals", "passed": False, "reason": "not-equal"},
        {"pointer": "/id", "operator": "type", "passed": True, "reason": None},
        {"pointer": "/none", "operator": "exists", "passed": False, "reason": "missing"},
    ]
    assert found.message == "2 expectations failed: json[0] at /id: not-equal, json[2] at /none: missing."
    assert "-value" not in json.dumps([found.failures, found.assertions, found.message])


@pytest.mark.requirement("json.private-target")
def test_a_target_with_a_private_value_cannot_satisfy() -> None:
    observation = seen(texts(structuredContent={"a": f"x {TOKEN}", "b": "c\x1b"}), TOKEN)
    expect = {"json": [{"pointer": "/a", "includes": "x"}, {"pointer": "/b", "equals": "c"}]}
    assert failures(expect, observation, TOKEN) == [("json", 0, "private-target"), ("json", 1, "private-target")]


def captured(observation: Observation, pointer: str, *secrets: str) -> Selection:
    return select(observation, parse_pointer(pointer), Redactor(secrets))


@pytest.mark.requirement("capture.source", "capture.scalar")
@pytest.mark.parametrize(
    "spelling",
    ["9007199254740993", "1.10", "1e-400", "-0", "1" * 400, "-0.0", "1E+5", "0", "true", "false", '"x"', '""'],
)
def test_scalars_are_captured_as_they_are_spelled(spelling: str) -> None:
    expected = json.loads(spelling) if spelling.startswith('"') else spelling
    result = '{"content":[],"structuredContent":{"id":%s}}' % spelling  # noqa: UP031 - braces of JSON
    assert captured(seen(result), "/id") == Selection(expected, None)
    assert captured(seen(texts(f'{{"id":{spelling}}}')), "/id") == Selection(expected, None)


@pytest.mark.requirement("capture.source", "capture.pointer")
def test_a_capture_is_taken_from_all_text_blocks_joined() -> None:
    assert captured(seen(texts('{"a":', '"b"}')), "/a") == Selection("b", None)
    assert captured(seen(texts("7")), "") == Selection("7", None)
    assert captured(seen(texts("1", "2")), "") == Selection(None, "not-json")


@pytest.mark.requirement("capture.scalar", "capture.refused", "capture.repeated")
@pytest.mark.parametrize(
    ("result", "pointer", "reason"),
    [
        (texts("no json"), "", "not-json"),
        (texts(), "", "not-json"),
        (texts('{"a":1,"a":2}'), "/a", "repeated-member"),
        (texts('{"a":1}'), "/b", "missing"),
        (texts('{"a":"b"}'), "/a/0", "missing"),
        (texts("[1]"), "/-", "missing"),
        (texts("[1]"), "/00", "missing"),
        (texts("null"), "", "not-a-scalar"),
        (texts("{}"), "", "not-a-scalar"),
        (texts("[]"), "", "not-a-scalar"),
        (texts(json.dumps("é" * 2049)), "", "too-long"),
        (texts("1" * 4097), "", "too-long"),
        (texts('"a\\nb"'), "", "control-character"),
        (texts('"\\t"'), "", "control-character"),
        (texts('"\\u009b"'), "", "control-character"),
        (texts(json.dumps(f"x{TOKEN}")), "", "private-value"),
        (texts("4711"), "", "private-value"),
        (texts("47.11e2"), "", "private-value"),
        (texts('"cHJpdmF0ZS10b2tlbi0x"'), "", "private-value"),
    ],
)
def test_what_is_no_public_scalar_is_not_captured(result: Any, pointer: str, reason: str) -> None:
    assert captured(seen(result), pointer, TOKEN, "4711") == Selection(None, reason)


@pytest.mark.requirement("capture.scalar")
def test_a_capture_may_have_4096_bytes() -> None:
    assert captured(seen(texts(json.dumps("é" * 2048))), "").capture == "é" * 2048


@pytest.mark.parametrize(
    ("value", "text", "source"),
    [
        ("plain", "plain", MISSING),
        ('{"a":1}', '{"a":1}', parse('{"a":1}').value),
        ({"a": True}, '{"a":true}', {"a": True}),
        ([], "[]", []),
        (None, "null", None),
    ],
)
def test_the_result_of_2024_10_07_is_text_or_structured(value: Any, text: str, source: Any) -> None:
    observation = seen({"toolResult": value})
    assert (observation.text, (observation.kept or {})["contentTypes"]) == (text, ["toolResult"])
    assert only_block(observation) == source
    assert not observation.is_error
