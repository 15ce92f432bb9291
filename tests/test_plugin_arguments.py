"""Arguments of commands: what is checked before anything is contacted, and what they are read into."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from plugin.checks.arguments import Surroundings, check_arguments, find_command
from plugin.commands import COMMANDS
from plugin.headers import RESERVED, canonical_name
from protocol.failures import Code, Failed
from protocol.values.redaction import Redactor

SECRETS = ("private-token", "4711", "true", "null", "a/private~value")


def surroundings(*secrets: str, query: bool = False, names: tuple[str, ...] = ()) -> Surroundings:
    return Surroundings(holds=Redactor(secrets).holds, header_names=frozenset(names), has_query=query)


def check(command: str, arguments: Mapping[str, Any], around: Surroundings | None = None, *still_open: str) -> Any:
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
    return check_arguments(find_command(command), texts, around or surroundings(), frozenset(still_open)).values


def refusal(command: str, arguments: Mapping[str, Any], around: Surroundings | None = None, *still_open: str) -> Any:
    with pytest.raises(Failed) as caught:
        check(command, arguments, around, *still_open)
    failure = caught.value.failure
    return failure.code, failure.where, failure.message


def test_arguments_are_read_into_what_handlers_take() -> None:
    assert check(
        "call_value",
        {
            "tool": "t",
            "arguments": {"n": 1.10},
            "select": "/a~1b/0",
            "expect": {"redacted": False},
            "path": "a/b",
            "tokenFile": "agent-key",
        },
    ) == {
        "tool": "t",
        "arguments": {"n": msgspec.Raw(b"1.1")},
        "select": ("a/b", "0"),
        "expect": {"redacted": False},
        "path": "a/b",
        "tokenFile": "agent-key",
    }


def test_numbers_in_arguments_keep_their_spelling() -> None:
    text = '{"a":1.10,"b":-0,"c":1e-400,"d":9007199254740993}'
    assert check("call", {"tool": "t", "arguments": text})["arguments"] == {
        "a": msgspec.Raw(b"1.10"),
        "b": msgspec.Raw(b"-0"),
        "c": msgspec.Raw(b"1e-400"),
        "d": msgspec.Raw(b"9007199254740993"),
    }


def test_an_unknown_command_is_named_beside_those_that_exist() -> None:
    with pytest.raises(Failed) as caught:
        find_command("calll")
    listed = ", ".join(f"`{name}`" for name in COMMANDS)
    message = f"There is no command `calll`; there are {listed}."
    assert caught.value.failure == (Code.INVALID_ARGUMENTS, message, None, None)


def test_an_unknown_argument_is_named_beside_those_that_exist() -> None:
    code, _, message = refusal("tools", {"expct": "{}"})
    assert code is Code.INVALID_ARGUMENTS
    assert message == "`tools` takes no argument `expct`; it takes `expect`, `path`, `tokenFile`."


@pytest.mark.parametrize(("command", "missing"), [("call", "tool"), ("call_value", "tool")])
def test_a_missing_argument_is_named(command: str, missing: str) -> None:
    assert refusal(command, {}) == (Code.INVALID_ARGUMENTS, missing, f"`{missing}` is required by `{command}`.")


@pytest.mark.requirement("arguments.json")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "a value is expected at character 1"),
        ("[]", "must be a JSON object"),
        ('"x"', "must be a JSON object"),
        ('{"a":1,}', "JSON"),
        ('{"a":NaN}', "NaN"),
        ('{"a":1,"a":2}', "repeats a member"),
        ('{"x":{"a":1,"\\u0061":2}}', "repeats a member"),
        ('{"a":"\\ud800"}', "lone surrogate"),
        ('{"a":' + "[" * 200 + "]" * 200 + "}", "nested too deeply"),
    ],
)
@pytest.mark.parametrize(
    ("name", "code"), [("arguments", Code.INVALID_ARGUMENTS), ("expect", Code.INVALID_EXPECTATION)]
)
def test_a_json_argument_is_read_strictly(name: str, code: Code, text: str, reason: str) -> None:
    found, where, message = refusal("call", {"tool": "t", name: text})
    assert (found, where) == (code, name)
    assert reason in message
    # What it is read for does not matter: an argument with open references has to be JSON as well.
    assert refusal("call", {"tool": "t", name: text}, None, name) == (found, where, message)


def test_an_argument_with_open_references_is_checked_for_its_json_only() -> None:
    values = check("call", {"tool": "", "expect": '{"isError":"${x}","no":1}'}, None, "tool", "expect")
    assert values == {}


@pytest.mark.parametrize("path", ["a", "support", "a/b/c", "A.b_c~d-e", "...", "a" * 256, "a/..b"])
def test_paths_are_admitted(path: str) -> None:
    assert check("connect", {"path": path}) == {"path": path}


@pytest.mark.parametrize(
    "path",
    ["", "/a", "a/", "a//b", ".", "..", "a/../b", "a/.", "a b", "a?b", "a#b", "a%2e", "é", "a" * 257, "a\n", "a:b"],
)
def test_other_paths_are_refused(path: str) -> None:
    code, where, message = refusal("connect", {"path": path})
    assert (code, where) == (Code.INVALID_ARGUMENTS, "path")
    assert "1 to 256 characters" in message


@pytest.mark.requirement("path.query")
def test_a_path_is_refused_when_the_endpoint_has_a_query() -> None:
    code, where, message = refusal("connect", {"path": "a"}, surroundings(query=True))
    assert (code, where) == (Code.INVALID_ARGUMENTS, "path")
    assert "query string" in message


@pytest.mark.requirement("token.file-name")
@pytest.mark.parametrize("name", ["a", "agent-key", "a.b_c-D9", "...", "a" * 128])
def test_token_file_names_are_admitted(name: str) -> None:
    assert check("tools", {"tokenFile": name}) == {"tokenFile": name}


@pytest.mark.requirement("token.file-name")
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a b", "a\0", "é", "a" * 129, "a\n"])
def test_other_token_file_names_are_refused(name: str) -> None:
    code, where, _ = refusal("tools", {"tokenFile": name})
    assert (code, where) == (Code.INVALID_ARGUMENTS, "tokenFile")


def test_text_arguments_are_bounded() -> None:
    for command, name, limit in (
        ("call", "tool", 1024),
        ("servers", "tool", 1024),
        ("get_prompt", "name", 1024),
        ("read_resource", "uri", 8192),
    ):
        assert check(command, {name: "a" * limit}) == {name: "a" * limit}
        for text in ("", "a" * (limit + 1)):
            found = refusal(command, {name: text})
            assert found == (Code.INVALID_ARGUMENTS, name, f"`{name}` has 1 to {limit} characters.")


@pytest.mark.parametrize("tool", ["", "a" * 1025])
def test_a_tool_has_a_name(tool: str) -> None:
    assert refusal("call", {"tool": tool})[:2] == (Code.INVALID_ARGUMENTS, "tool")
    assert check("call", {"tool": "a" * 1024})["tool"] == "a" * 1024


@pytest.mark.requirement("capture.pointer-refused")
@pytest.mark.parametrize("pointer", ["a", "/~", "/~2", "a/b", "#/a", "/a\x1bb"])
def test_a_malformed_pointer_is_refused(pointer: str) -> None:
    assert refusal("call_value", {"tool": "t", "select": pointer})[:2] == (Code.INVALID_ARGUMENTS, "select")


@pytest.mark.requirement("public-headers.canonical")
@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("x_tenant", "X_tenant"),
        ("x-region", "X-Region"),
        ("X_Tenant", "X_tenant"),
        ("ETAG", "Etag"),
        ("a--b", "A--B"),
        ("9-a", "9-A"),
        ("-a", "-A"),
        ("x-", "X-"),
    ],
)
def test_header_names_are_written_as_go_writes_them(name: str, canonical: str) -> None:
    assert canonical_name(name) == canonical
    assert check("connect", {"headers": {name: "v"}}) == {"headers": {canonical: "v"}}


@pytest.mark.requirement("public-headers.refused")
@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_in_canonical_form(name: str) -> None:
    assert canonical_name(name) == name
    assert refusal("connect", {"headers": {name.lower(): "v"}})[:2] == (Code.INVALID_ARGUMENTS, "headers")


@pytest.mark.requirement("public-headers.refused", "public-headers.limits")
@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"X-A": ""},
        {"X-A": 1},
        {"X-A": None},
        {"X-A": "a\n"},
        {"X-A": " a"},
        {"X-A": "é"},
        {"X A": "a"},
        {"": "a"},
        {"X-A": "a", "x-a": "b"},
        {"Authorization": "Bearer x"},
        {"cookie": "a=b"},
        {"X-API-Key": "abc"},
        {"Mcp-Session-Id": "x"},
        {"Mcp-Param-Region": "x"},
        {"X-Own": "x"},
        {f"H{number}": "v" for number in range(33)},
        {"X-A": "a" * 16385},
        {"A": "a" * 16384, "B": "b" * 16383},
    ],
)
def test_headers_that_may_not_be_public_are_refused(headers: dict[str, Any]) -> None:
    code, where, _ = refusal("connect", {"headers": headers}, surroundings(names=("X-Own",)))
    assert (code, where) == (Code.INVALID_ARGUMENTS, "headers")


@pytest.mark.requirement("public-headers.limits")
def test_headers_are_admitted_at_their_limits() -> None:
    assert len(check("connect", {"headers": {f"H{number}": "v" for number in range(32)}})["headers"]) == 32
    assert check("connect", {"headers": {"A": "a" * 16384, "B": "b" * 16382}})["headers"]["A"] == "a" * 16384


@pytest.mark.requirement(
    "expect.private-operands", "public-headers.refused", "capture.pointer-refused", "json.private-operands"
)
@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("call", {"tool": "x-private-token"}),
        ("call", {"tool": "t", "arguments": {"a": "private-token"}}),
        ("call", {"tool": "t", "arguments": {"private-token": 1}}),
        ("call", {"tool": "t", "arguments": {"a": 4711}}),
        ("call", {"tool": "t", "arguments": {"a": "cHJpdmF0ZS10b2tlbg=="}}),
        ("call", {"tool": "t", "arguments": {"a": "private%2Dtoken"}}),
        ("call", {"tool": "t", "arguments": '{"a":"private\\u002dtoken"}'}),
        ("call", {"tool": "t", "arguments": {"a": json.dumps({"b": "private-token"})}}),
        ("call", {"tool": "t", "expect": {"textIncludes": ["private-token"]}}),
        ("call", {"tool": "t", "expect": {"textExcludes": ["private-token"]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/private-token", "exists": False}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "equals": 4711}]}}),
        ("call", {"tool": "t", "expect": '{"json":[{"pointer":"/a","equals":4711.0}]}'}),
        ("call", {"tool": "t", "expect": '{"json":[{"pointer":"/a","equals":47.11e2}]}'}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "equals": "47.11e2"}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "equals": True}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "exists": True}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "equals": None}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "includes": "private-token"}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "count": 4711}]}}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/a", "type": "null"}]}}),
        ("call_value", {"tool": "t", "select": "/private-token"}),
        ("tools", {"expect": {"present": ["private-token"]}}),
        ("call_value", {"tool": "t", "select": "/a~1private~0value"}),
        ("call_value", {"tool": "t", "select": "/a/private~0value"}),
        ("call", {"tool": "t", "expect": {"json": [{"pointer": "/x/a~1private~0value/y", "exists": False}]}}),
        ("call", {"tool": "t", "http": {"status": 403, "scope": "private-token"}}),
        ("read_resource", {"uri": "file:///private-token"}),
        ("read_resource", {"uri": "file:///x", "expect": {"textExcludes": ["private-token"]}}),
        ("get_prompt", {"name": "private-token"}),
        ("get_prompt", {"name": "p", "arguments": {"a": "private-token"}}),
        ("servers", {"tool": "private-token"}),
        ("servers", {"expect": {"absent": ["private-token"]}}),
        ("tools", {"expect": {"count": 4711}}),
        ("connect", {"headers": {"X-A": "private-token"}}),
        ("connect", {"headers": {"private-token": "v"}}),
        ("connect", {"path": "private-token"}),
        ("connect", {"tokenFile": "private-token"}),
        ("call", {"tool": "t", "expect": {"private-token": 1}}),
    ],
)
def test_a_private_value_in_any_argument_is_refused_and_not_quoted(command: str, arguments: dict[str, Any]) -> None:
    code, where, message = refusal(command, arguments, surroundings(*SECRETS))
    assert code is Code.PRIVATE_OPERAND
    assert where in arguments
    assert not any(secret in message for secret in SECRETS)
