"""`read_resource` and `get_prompt`: what is sent, what of the answer is kept, and what can be expected of it."""

import base64
import hashlib
import json
from typing import Any

import pytest

from protocol.failures import Failed
from protocol.values.hashes import digest, text_digest
from tests.fakes.http_server import HttpServer, McpScript, Refusal
from tests.fakes.plugin_bench import bench

URI = "file:///notes/a.json"
TEXT = {"uri": URI, "mimeType": "application/json", "text": '{"id":1.10,"tags":["x"]}'}
BLOB = {"uri": "file:///b.png", "blob": "iVBORw0KGgo="}
MESSAGES = [
    {"role": "user", "content": {"type": "text", "text": "Summarise this."}},
    {"role": "assistant", "content": {"type": "text", "text": "Gladly."}},
    {"role": "user", "content": {"type": "resource", "resource": BLOB}},
]


def read(contents: Any, expect: Any = None, **configuration: Any) -> dict[str, Any]:
    """Read a resource whose result holds these contents (a `Refusal` refuses, other objects are the result)."""
    answer = {"contents": contents} if isinstance(contents, list) else contents
    with HttpServer(McpScript(on={"resources/read": answer})) as server, bench(server, **configuration) as plugin:
        seen = plugin.run("read_resource", uri=URI, **({"expect": expect} if expect else {}))
        assert [request.json["params"] for request in server.seen("resources/read")] == [{"uri": URI}]
        assert seen["effect"] == "observe"
        return seen


def render(messages: Any, expect: Any = None, **configuration: Any) -> dict[str, Any]:
    answer = {"description": "A summary.", "messages": messages} if isinstance(messages, list) else messages
    with HttpServer(McpScript(on={"prompts/get": answer})) as server, bench(server, **configuration) as plugin:
        seen = plugin.run("get_prompt", name="p", **({"expect": expect} if expect else {}))
        assert len(server.seen("prompts/get")) == 1
        return seen


def outcome(seen: dict[str, Any]) -> tuple[str, str | None]:
    return seen["status"], seen["code"]


SUCCEEDED = ("succeeded", None)
FAILED = ("failed", "expectation_failed")


@pytest.mark.requirement("command.read-resource")
def test_a_resource_is_read_and_hashed_entry_by_entry() -> None:
    seen = read([TEXT, BLOB])
    assert (outcome(seen), seen["message"]) == (SUCCEEDED, "The resource was read.")
    assert seen["state"] == {
        "kind": "result",
        "count": 2,
        "contents": [
            {"uri": URI, "mimeType": "application/json", "form": "text", "sha256": text_digest(TEXT["text"])},
            {"uri": BLOB["uri"], "mimeType": None, "form": "blob", "sha256": text_digest(BLOB["blob"])},
        ],
        "text": TEXT["text"],
        "truncated": False,
        "redacted": False,
        "failedExpectations": [],
    }
    assert seen["display"] == {"result": {"contents": [TEXT, BLOB]}}
    assert seen["facts"]["uri"] == URI


@pytest.mark.requirement("private.blobs")
def test_a_blob_is_hashed_as_it_was_received_and_shown_without_private_values() -> None:
    token = "token-1234567"
    blob = base64.b64encode(f"key {token}".encode()).decode()
    seen = read([{"uri": URI, "blob": blob}], bearerToken=token)
    assert seen["state"]["contents"][0]["sha256"] == hashlib.sha256(blob.encode()).hexdigest()
    assert blob not in json.dumps(seen)


@pytest.mark.requirement("exposure.redacted-false")
@pytest.mark.parametrize("blob", ["token-1234567", base64.b64encode(b"token-1234567").decode()])
def test_a_private_value_in_a_blob_is_noticed(blob: str) -> None:
    contents = [{"uri": URI, "blob": blob}]
    assert outcome(read(contents, {"redacted": False}, bearerToken="token-1234567")) == FAILED
    assert outcome(read(contents, {"redacted": True}, bearerToken="token-1234567")) == SUCCEEDED


def test_text_is_redacted_before_it_is_hashed_and_cut() -> None:
    seen = read([{"uri": f"{URI}?token-1234567", "text": "x" * 16_380 + "token-1234567"}], bearerToken="token-1234567")
    assert seen["state"]["text"] == "x" * 16_380 + "[red"
    assert seen["state"]["truncated"] is True
    assert seen["state"]["contents"][0] == {
        "uri": f"{URI}?[redacted]",
        "mimeType": None,
        "form": "text",
        "sha256": text_digest("x" * 16_380 + "[redacted]"),
    }
    assert seen["state"]["redacted"] is True


@pytest.mark.requirement("command.read-resource", "expect.reading", "json.source.resource")
@pytest.mark.parametrize(
    ("expect", "expected"),
    [
        ({"textIncludes": ['"id":1.10']}, SUCCEEDED),
        ({"textIncludes": ["other"]}, FAILED),
        ({"textExcludes": ["other"]}, SUCCEEDED),
        ({"textExcludes": ["b.png"]}, FAILED),
        ({"textExcludes": ["mimeType"]}, FAILED),
        ({"redacted": False}, SUCCEEDED),
        ({"count": 2}, SUCCEEDED),
        ({"count": 1}, FAILED),
        ({"json": [{"pointer": "/id", "equals": 1.1}, {"pointer": "/tags", "count": 1}]}, SUCCEEDED),
        ({"json": [{"pointer": "/contents", "exists": True}]}, FAILED),
        ({"rpcError": -32002}, FAILED),
    ],
)
def test_every_key_is_evaluated_on_a_resource(expect: Any, expected: Any) -> None:
    assert outcome(read([TEXT, BLOB], expect)) == expected


@pytest.mark.requirement("json.source.resource", "json.source.unavailable")
@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ([BLOB], "source-unavailable"),
        ([], "source-unavailable"),
        ([TEXT, TEXT], "source-unavailable"),
        ([{"uri": URI, "text": "no json"}], "source-unavailable"),
        ([{"uri": URI, "text": '{"a":1,"a":2}'}], "source-unavailable"),
        ([{"uri": URI, "text": '{"a":NaN}'}], "source-unavailable"),
    ],
)
def test_json_of_a_resource_is_its_only_text_entry(contents: Any, reason: str) -> None:
    seen = read(contents, {"json": [{"pointer": "", "exists": True}, {"pointer": "/a", "exists": False}]})
    assert outcome(seen) == FAILED
    assert [entry["reason"] for entry in seen["state"]["assertions"]] == [reason, reason]


@pytest.mark.requirement("absence.alone")
@pytest.mark.parametrize("expect", [{"count": 0}, {"textExcludes": ["x"]}])
def test_a_resource_may_be_empty(expect: Any) -> None:
    assert outcome(read([], expect)) == SUCCEEDED
    assert outcome(read([{"uri": URI, "text": ""}])) == SUCCEEDED


@pytest.mark.requirement("closing.invalid-content")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "contents-not-an-array"),
        ({"contents": {}}, "contents-not-an-array"),
        ({"contents": ["x"]}, "contents-entry-malformed"),
        ({"contents": [{"uri": URI}]}, "neither-text-nor-blob"),
        ({"contents": [{**TEXT, "blob": ""}]}, "text-and-blob"),
        ({"contents": [{"uri": URI, "text": 5}]}, "text-not-a-string"),
        ({"contents": [{"uri": URI, "blob": []}]}, "blob-not-a-string"),
    ],
)
def test_a_resource_that_cannot_be_used_fails_its_step_only(answer: Any, reason: str) -> None:
    with HttpServer(McpScript(on={"resources/read": answer})) as server, bench(server) as plugin:
        seen = plugin.run("read_resource", uri=URI)
        assert (outcome(seen), seen["facts"]["connection"]) == (("failed", "protocol_error"), "open")
        assert seen["state"] == {"kind": "unavailable", "reason": reason, "failedExpectations": []}
        expected = plugin.run("read_resource", uri=URI, expect={"count": 0})
        assert outcome(expected) == FAILED
        assert expected["state"]["failedExpectations"] == [{"expectation": "count", "reason": "reply-unavailable"}]
        assert plugin.outcome("tools") == ("succeeded", None, "open")


@pytest.mark.requirement("command.read-resource", "absence.alone")
@pytest.mark.parametrize("run", [read, render])
def test_a_refusal_is_asserted_and_fails_without_expect(run: Any) -> None:
    refused = Refusal(-32002, "Resource not found", {"uri": URI})
    assert outcome(run(refused)) == ("failed", "unexpected_refusal")
    seen = run(refused, {"rpcError": -32002, "textIncludes": ["not found"], "textExcludes": ["secret"]})
    assert outcome(seen) == SUCCEEDED
    assert seen["message"] == "The server refused with JSON-RPC error -32002, as expected."
    assert seen["facts"]["refusal"] == {"code": -32002, "message": "Resource not found", "data": {"uri": URI}}
    counted = run(refused, {"count": 1})
    assert counted["state"]["failedExpectations"] == [{"expectation": "count", "reason": "refused"}]


@pytest.mark.requirement("command.get-prompt")
def test_a_prompt_is_rendered_and_hashed_message_by_message() -> None:
    seen = render(MESSAGES)
    assert (outcome(seen), seen["message"]) == (SUCCEEDED, "The prompt was rendered.")
    assert seen["state"] == {
        "kind": "result",
        "count": 3,
        "description": text_digest("A summary."),
        "messages": [
            {"role": "user", "type": "text", "sha256": digest(MESSAGES[0]["content"])},
            {"role": "assistant", "type": "text", "sha256": digest(MESSAGES[1]["content"])},
            {"role": "user", "type": "resource", "sha256": text_digest(BLOB["blob"])},
        ],
        "text": "Summarise this.\nGladly.",
        "truncated": False,
        "redacted": False,
        "failedExpectations": [],
    }
    assert seen["facts"]["prompt"] == "p"


@pytest.mark.requirement("command.get-prompt", "expect.reading", "json.source.prompt")
@pytest.mark.parametrize(
    ("expect", "expected"),
    [
        ({"json": [{"pointer": "/description", "equals": "A summary."}]}, SUCCEEDED),
        ({"json": [{"pointer": "/messages/0/content/text", "includes": "Summarise"}]}, SUCCEEDED),
        ({"json": [{"pointer": "/messages", "count": 3}]}, SUCCEEDED),
        ({"json": [{"pointer": "/_meta", "exists": False}]}, SUCCEEDED),
        ({"json": [{"pointer": "/messages/3", "exists": True}]}, FAILED),
        ({"textIncludes": ["this.\nGladly"]}, SUCCEEDED),
        ({"textIncludes": ["A summary."]}, FAILED),
        ({"textExcludes": ["A summary."]}, FAILED),
        ({"count": 3}, SUCCEEDED),
        ({"count": 2}, FAILED),
        ({"redacted": False}, SUCCEEDED),
    ],
)
def test_every_key_is_evaluated_on_a_prompt(expect: Any, expected: Any) -> None:
    assert outcome(render({"description": "A summary.", "messages": MESSAGES, "_meta": {"a": 1}}, expect)) == expected


@pytest.mark.requirement("json.source.prompt")
def test_a_prompt_without_a_description_has_none_in_its_envelope() -> None:
    seen = render({"messages": []}, {"json": [{"pointer": "/description", "exists": False}], "count": 0})
    assert (outcome(seen), seen["state"]["description"]) == (SUCCEEDED, None)
    null = render({"description": None, "messages": []}, {"json": [{"pointer": "/description", "equals": None}]})
    assert outcome(null) == SUCCEEDED


@pytest.mark.requirement("closing.invalid-content")
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({}, "messages-not-an-array"),
        ({"messages": [1]}, "message-malformed"),
        ({"messages": [{"content": MESSAGES[0]["content"]}]}, "message-malformed"),
        ({"messages": [{"role": "user", "content": "text"}]}, "content-block-malformed"),
        ({"messages": [{"role": "user", "content": {"type": "text"}}]}, "text-not-a-string"),
        ({"messages": [], "description": 5}, "description-not-a-string"),
    ],
)
def test_a_prompt_that_cannot_be_used_fails_its_step_only(answer: Any, reason: str) -> None:
    seen = render(answer)
    assert (outcome(seen), seen["facts"]["connection"]) == (("failed", "protocol_error"), "open")
    assert seen["state"]["reason"] == reason


@pytest.mark.requirement("command.get-prompt")
def test_arguments_of_a_prompt_are_sent_as_they_are_written() -> None:
    with HttpServer(McpScript(on={"prompts/get": {"messages": []}})) as server, bench(server) as plugin:
        plugin.run("get_prompt", name="p", arguments='{"a":"x","n":1e-400}')
        plugin.run("get_prompt", name="p")
        bodies = [request.body for request in server.seen("prompts/get")]
        assert b'"params":{"name":"p","arguments":{"a":"x","n":1e-400}}' in bodies[0]
        assert b'"params":{"name":"p"}' in bodies[1]


def test_a_prompt_that_echoes_a_private_value_is_redacted_before_it_is_hashed() -> None:
    message = {"role": "user", "content": {"type": "text", "text": "as token-1234567"}}
    seen = render({"description": "for token-1234567", "messages": [message]}, bearerToken="token-1234567")
    assert seen["state"]["text"] == "as [redacted]"
    assert seen["state"]["description"] == text_digest("for [redacted]")
    assert seen["state"]["messages"][0]["sha256"] == digest({"type": "text", "text": "as [redacted]"})
    assert "token-1234567" not in json.dumps(seen)


def test_a_lost_reply_to_a_reading_is_failed_and_closes_the_connection() -> None:
    with HttpServer(McpScript(on={"resources/read": lambda request, peer: peer.close()})) as server:
        with bench(server) as plugin:
            assert plugin.outcome("read_resource", uri=URI) == ("failed", "reply_lost", "closed")
            assert plugin.outcome("get_prompt", name="p") == ("failed", "not_connected", "closed")
        assert len(server.seen("resources/read")) == 1


@pytest.mark.parametrize(
    ("command", "argument", "limit"), [("read_resource", "uri", 8192), ("get_prompt", "name", 1024)]
)
def test_uris_and_names_are_bounded(command: str, argument: str, limit: int) -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        plugin.run(command, **{argument: "x" * limit})
        for text in ("", "x" * (limit + 1)):
            with pytest.raises(Failed) as caught:
                plugin.run(command, **{argument: text})
            assert caught.value.code == "invalid_arguments"
        assert len(server.seen("resources/read") + server.seen("prompts/get")) == 1
