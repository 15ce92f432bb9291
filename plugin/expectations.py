"""The table of `expect` keys: the JSON Schema of each operand, made from the limits that the checks enforce."""

from typing import Any, Final

__all__ = [
    "ANNOTATIONS",
    "ASSERTIONS_LIMIT",
    "ASSERTION_COUNT_LIMIT",
    "COUNT_LIMIT",
    "EXPECTATIONS",
    "EXPECT_EXCLUSIONS",
    "NAMES_LIMIT",
    "NUMBER_LIMIT",
    "OPERATORS",
    "STATUS_RANGE",
    "TEXTS_LIMIT",
    "TYPE_NAMES",
]

#: Names in one `present`, `absent` or `only`: as many as `maxItems` can be.
NAMES_LIMIT: Final = 100_000
#: Largest `count` of entries, contents or messages, for the same reason.
COUNT_LIMIT: Final = 100_000
#: Strings in one `textIncludes` or `textExcludes` (seed).
TEXTS_LIMIT: Final = 64
#: Assertions in one `json` (seed).
ASSERTIONS_LIMIT: Final = 32
#: Largest operand of a `json` assertion's `count` (seed).
ASSERTION_COUNT_LIMIT: Final = 10_000
#: Largest magnitude of a number operand: a double holds every integer up to here (seed).
NUMBER_LIMIT: Final = 2**53 - 1
#: HTTP statuses that `connect` can expect (seed).
STATUS_RANGE: Final = (100, 599)
#: The annotation hints of a tool, without the suffix that MCP gives them ("Hint").
ANNOTATIONS: Final = ("readOnly", "destructive", "idempotent", "openWorld")
#: The JSON types that a `json` assertion can name.
TYPE_NAMES: Final = ("string", "number", "boolean", "null", "array", "object")

#: Operators of a `json` assertion and the JSON Schema of their operands.
OPERATORS: Final[dict[str, dict[str, Any]]] = {
    "exists": {"type": "boolean"},
    "equals": {
        "type": ["string", "number", "boolean", "null"],
        "minimum": -NUMBER_LIMIT,
        "maximum": NUMBER_LIMIT,
    },
    "type": {"enum": list(TYPE_NAMES)},
    "count": {"type": "integer", "minimum": 0, "maximum": ASSERTION_COUNT_LIMIT},
    "includes": {"type": "string"},
}


def _names(meaning: str, least: int = 1) -> dict[str, Any]:
    return {
        "description": meaning,
        "type": "array",
        "items": {"type": "string"},
        "minItems": least,
        "maxItems": NAMES_LIMIT,
        "uniqueItems": True,
    }


def _texts(meaning: str) -> dict[str, Any]:
    return {
        "description": meaning,
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "minItems": 1,
        "maxItems": TEXTS_LIMIT,
        "uniqueItems": True,
    }


#: Every key that some command's `expect` accepts, with the JSON Schema of its operand.
EXPECTATIONS: Final[dict[str, dict[str, Any]]] = {
    "present": _names("Every one of these names is listed."),
    "absent": _names("None of these names is listed."),
    "only": _names("Exactly these names are listed.", least=0),
    "count": {
        "description": "Exactly this many entries are listed, contents read, or messages rendered.",
        "type": "integer",
        "minimum": 0,
        "maximum": COUNT_LIMIT,
    },
    "noTrueAnnotations": {
        "description": "No listed tool has one of these annotation hints set to true.",
        "type": "array",
        "items": {"enum": list(ANNOTATIONS)},
        "minItems": 1,
        "maxItems": len(ANNOTATIONS),
        "uniqueItems": True,
    },
    "rpcError": {
        "description": "The server refuses with a JSON-RPC error of this code.",
        "type": "integer",
        "minimum": -NUMBER_LIMIT,
        "maximum": NUMBER_LIMIT,
    },
    "isError": {"description": "The tool result's isError flag; a missing flag is false.", "type": "boolean"},
    "textIncludes": _texts("Each string occurs in the redacted text of the reply."),
    "textExcludes": _texts("No string occurs in any string or member name of the redacted reply."),
    "redacted": {
        "description": "Whether a private value or a terminal control was removed from the reply.",
        "type": "boolean",
    },
    "json": {
        "description": "Assertions on the reply's JSON; all are evaluated.",
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"pointer": {"type": "string", "format": "json-pointer"}, **OPERATORS},
            "required": ["pointer"],
            "minProperties": 2,
            "maxProperties": 2,
            "additionalProperties": False,
        },
        "minItems": 1,
        "maxItems": ASSERTIONS_LIMIT,
        "uniqueItems": True,
    },
    "status": {
        "description": "The server refuses to initialize with this HTTP status.",
        "type": "integer",
        "minimum": STATUS_RANGE[0],
        "maximum": STATUS_RANGE[1],
    },
}

#: Keys that may not stand beside a key: a JSON-RPC error has no tool result to look at.
EXPECT_EXCLUSIONS: Final[dict[str, tuple[str, ...]]] = {"rpcError": ("isError", "json")}
