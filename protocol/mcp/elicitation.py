"""Answers to form elicitations without a person: the defaults of the requested schema (MCP 2025-11-25, elicitation)."""

from typing import Any, Final

import msgspec

__all__ = ["CAPABILITY", "fill_in"]

#: What a client declares that answers forms, and nothing but forms.
CAPABILITY: Final[dict[str, Any]] = {"elicitation": {"form": {}}}

_DECLINED: Final[dict[str, Any]] = {"action": "decline"}


def fill_in(params: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result for ``elicitation/create``, or None when it asks for no form or its schema is none.

    Every property with a default that a form can hold gets it; one without is left out. When a required property is
    among those the answer is to decline: nobody is there who could fill it in.
    """
    schema = params.get("requestedSchema")
    if params.get("mode", "form") != "form" or not isinstance(schema, dict):
        return None
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    content = {
        name: entry["default"]
        for name, entry in properties.items()
        if isinstance(entry, dict) and _is_answer(entry.get("default"))
    }
    if any(name not in content for name in required if isinstance(name, str)):
        return _DECLINED
    return {"action": "accept", "content": content}


def _is_answer(value: Any) -> bool:
    """Tell whether a form can hold a value: a string, number or boolean, or the strings of a multiple choice."""
    if isinstance(value, list):
        return all(isinstance(entry, str) for entry in value)
    return isinstance(value, str | bool | msgspec.Raw)
