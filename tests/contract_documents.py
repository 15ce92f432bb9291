"""Registries, catalogs and calls to take apart: valid ones, changed ones, and spoilt ones out of a seed."""

import copy
import json
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from contract.core.refusal import SENTENCES, Refusal, Refused
from protocol.values.document import encode, parse

__all__ = [
    "ADMITTED",
    "ARGUMENTS",
    "DELETED",
    "PROJECTION",
    "UPSTREAM",
    "at",
    "call",
    "catalog",
    "changed",
    "data",
    "edge",
    "many",
    "number",
    "parsed",
    "places",
    "plain",
    "refusal",
    "registry",
    "route",
    "shuffled",
    "spoilt",
]

#: Stands for a member that is taken away.
DELETED: Any = object()

ADMITTED = {
    "type": "object",
    "properties": {
        "ticket": {"type": "integer", "minimum": 1, "maximum": 999},
        "body": {"type": "string", "minLength": 1, "maxLength": 80},
        "kind": {"type": "string", "maxLength": 8, "enum": ["note", "reply"]},
        "urgent": {"type": "boolean", "enum": [True, False]},
        "tags": {"type": "array", "minItems": 0, "maxItems": 3, "items": {"type": "string", "maxLength": 9}},
        "rank": {"type": "integer", "minimum": -3, "maximum": 3, "enum": [-3, 0, 3]},
    },
    "required": ["ticket", "body"],
    "additionalProperties": False,
}
UPSTREAM = {
    "type": "object",
    "title": "Add a comment",
    "description": "To a ticket.",
    "properties": {
        "ticket": {"type": "number", "minimum": 0.5, "description": "Its number."},
        "body": {"type": "string", "description": "In Markdown."},
        "kind": {"type": "string", "enum": ["note", "reply", "private"]},
        "urgent": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string", "minLength": 1}},
        "rank": {"type": "integer", "maximum": 1e3},
        "more": {"type": "object", "properties": {}, "additionalProperties": True},
    },
    "required": ["body"],
}
PROJECTION = {
    "fields": [
        {"source": "id", "name": "comment", "value_type": {"kind": "integer_id", "maximum": 1000}},
        {"source": "state", "name": "state", "value_type": {"kind": "status", "values": ["posted", "queued"]}},
    ]
}
ARGUMENTS = {"ticket": 7, "body": "Thanks.", "kind": "note", "urgent": True, "tags": ["a", "b"], "rank": -3}


def route(version: int = 2, **members: Any) -> dict[str, Any]:
    """A valid route; ``members`` are put in the place of its own, and DELETED takes one away."""
    value: dict[str, Any] = {
        "alias": "desk.comment",
        "server_id": "support-desk",
        "endpoint": {"host": "mcp.desk.example", "path": "/mcp"},
        "tool": "add_comment",
        "credential_binding": "desk-writer",
        "input_schema": copy.deepcopy(ADMITTED),
        "output_policy": "withhold",
        "max_request_bytes": 2048,
        "max_response_bytes": 8192,
        "timeout_ms": 10_000,
    }
    if version == 2:
        projected = {"output_policy": "typed_fields", "output_projection": copy.deepcopy(PROJECTION)}
        value |= {"upstream_input_schema": copy.deepcopy(UPSTREAM)} | projected
    return {name: member for name, member in (value | members).items() if member is not DELETED}


def registry(version: int = 2, **members: Any) -> dict[str, Any]:
    """A valid registry of one route, with members of it changed as :func:`route` does."""
    return {"version": version, "routes": [route(version, **members)]}


def catalog(*tools: Any, **members: Any) -> dict[str, Any]:
    """A catalog of the tools; without any, of the one that the routes pin."""
    return {"tools": list(tools) or [{"name": "add_comment", "inputSchema": copy.deepcopy(UPSTREAM)}], **members}


def call(**members: Any) -> dict[str, Any]:
    """A valid call, with members changed."""
    value = {"route": "desk.comment", "arguments": copy.deepcopy(ARGUMENTS)} | members
    return {name: member for name, member in value.items() if member is not DELETED}


def data(value: Any) -> bytes:
    """A document as bytes; a ``msgspec.Raw`` stands as it is spelled."""
    return encode(value)


def number(spelling: str) -> msgspec.Raw:
    return msgspec.Raw(spelling.encode())


def parsed(value: Any) -> Any:
    """A value as it is when it was read: numbers in their spelling."""
    return parse(data(value)).value


def refusal(do: Callable[..., Any], *given: Any, **named: Any) -> Refusal | None:
    """What a function refuses, None when it does not. The exception says its sentence and nothing else."""
    try:
        do(*given, **named)
    except Refused as error:
        refused = error
    else:
        return None
    assert str(refused) == SENTENCES[refused.refusal]
    assert refused.__suppress_context__ or refused.__context__ is None
    return refused.refusal


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a value, the value itself first."""
    yield path
    if isinstance(value, dict | list):
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(child, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """What stands at a path."""
    for key in path:
        value = value[key]
    return value


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy of a value with something else at a path; DELETED takes it away."""
    if not path:
        return new
    made = copy.copy(value)
    if len(path) == 1 and new is DELETED:
        del made[path[0]]
    else:
        made[path[0]] = changed(value[path[0]], path[1:], new)
    return made


def shuffled(value: Any, chance: random.Random) -> Any:
    """The same value with the members of every object in another order."""
    if isinstance(value, dict):
        names = chance.sample(list(value), len(value))
        return {name: shuffled(value[name], chance) for name in names}
    return [shuffled(child, chance) for child in value] if isinstance(value, list) else value


#: What is put in the place of something. Few are right anywhere, and none is right everywhere.
_ODD: list[Any] = [
    *(None, True, False, "", "x", "object", "string", "number", "é", "\x1b[31m", "a" * 65, "..", "localhost", [], {}),
    *(0, 1, -1, 2, 3, 64, 65, 4096, 4097, 2**53, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 1.5),
    *map(number, ("-0", "1.0", "1e2", "1E999999", "-1e-9999999", "1" * 2000)),
    *([None], [1, "1", True], ["a", "a"], [[]], {"type": "object"}, {"kind": "status"}, {"type": ["string"]}),
    {"type": "object", "properties": {}, "additionalProperties": False},
]
_NAMES = ["enum", "title", "type", "$ref", "pattern", "required", "nextCursor", "isError", "result", "tools", "Ω"]


def spoilt(value: Any, chance: random.Random) -> bytes:
    """A document in which up to three things are changed, and now and then a few bytes. The value itself stays."""
    for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
        path = chance.choice(list(places(value)))
        value = chance.choice(_WAYS)(value, path, chance)
    text = bytearray(data(value))
    if chance.random() < 0.15:
        start = chance.randrange(len(text))
        text[start : start + chance.randrange(3)] = chance.choice((b"", b'"', b"\\ud800", b"\xff", b"[" * 200, b"{}"))
    if chance.random() < 0.1:
        name = chance.choice(re.findall(rb'"[a-z_]+":', text) or [b""])
        text = bytearray(text.replace(name, name + b"0," + name, 1))
    return bytes(text)


def _replaced(value: Any, path: tuple[Any, ...], chance: random.Random) -> Any:
    return changed(value, path, chance.choice(_ODD))


def _removed(value: Any, path: tuple[Any, ...], _chance: random.Random) -> Any:
    return changed(value, path, DELETED if path else {})


def _added(value: Any, path: tuple[Any, ...], chance: random.Random) -> Any:
    """A member or an item more, where there is an object or an array."""
    found = at(value, path)
    odd = chance.choice(_ODD)
    if isinstance(found, dict):
        return changed(value, path, found | {chance.choice(_NAMES): odd})
    return changed(value, path, [*found, *(found[:1] or [odd])]) if isinstance(found, list) else value


def _nested(value: Any, path: tuple[Any, ...], chance: random.Random) -> Any:
    """What stands there, inside of itself or of arrays."""
    found = at(value, path)
    typed = chance.random() < 0.8
    for _ in range(chance.randrange(12)):
        found = {"type": "array", "maxItems": 1, "items": found} if typed else [found]
    return changed(value, path, found)


_WAYS = (_replaced, _replaced, _replaced, _removed, _added, _nested)


def many(*values: Any) -> tuple[Any, ...]:
    """Values of any types, to be gone through one by one."""
    return values


def plain(value: Any) -> Any:
    """A value with Python's numbers, for libraries that know no others."""
    return json.loads(data(value))


def edge(refused: Refusal, *rows: Any) -> list[Any]:
    """Parameters of a test: each row with the refusal that it has to end in, named by it."""
    return [pytest.param(row, refused, id=f"{refused}-{index}") for index, row in enumerate(rows)]
