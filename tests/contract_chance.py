"""Schemas of the upstream subset, and values that are likely to be what they describe, out of a seed."""

import random
from collections.abc import Callable
from typing import Any

__all__ = ["Chance"]


class Chance(random.Random):
    """Schemas and values out of a seed, from small alphabets, so that they meet."""

    def text(self) -> str:
        return "".join(self.choices("ab\U0001f600é", k=self.randrange(5)))

    def integer(self) -> int:
        return self.choice((-3, -2, -1, 0, 1, 2, 3, 2**53 + 1, 2**63 - 1, -(2**63)))

    def bound(self) -> int | float:
        return self.choice((self.integer(), 0.5, -1.5, 1.0, 1e3, 2.0))

    def scalar(self) -> Any:
        return self.choice((self.text, self.bound, lambda: self.random() < 0.5))()

    def some(self, **members: Callable[[], Any]) -> dict[str, Any]:
        return {name: make() for name, make in members.items() if self.random() < 0.5}

    def few(self, make: Callable[[], Any]) -> Callable[[], list[Any]]:
        return lambda: [make() for _ in range(self.randrange(1, 4))]

    def size(self) -> int:
        return self.randrange(4)

    def schema(self, depth: int = 0) -> dict[str, Any]:
        """A schema of the upstream subset whose root is an object."""
        properties = {name: self.part(depth + 1) for name in "abc"[: self.randrange(4)]}
        required = [name for name in properties if self.random() < 0.5]
        closed = self.some(additionalProperties=lambda: self.random() < 0.5, required=lambda: required)
        return {"type": "object", "properties": properties, **closed}

    def part(self, depth: int) -> dict[str, Any]:
        kind = self.choice(("string", "integer", "number", "boolean", "array", "object")[: 6 if depth < 3 else 4])
        enum = self.some(enum=self.few(self.scalar)) if self.random() < 0.5 else {}
        if kind == "object":
            return self.schema(depth)
        if kind == "array":
            return {"type": kind, "items": self.part(depth + 1)} | self.some(minItems=self.size, maxItems=self.size)
        if kind == "string":
            return {"type": kind} | self.some(minLength=self.size, maxLength=self.size) | enum
        bounds = {} if kind == "boolean" else self.some(minimum=self.bound, maximum=self.bound)
        return {"type": kind} | bounds | enum

    def value(self, schema: dict[str, Any]) -> Any:
        """A value that is likely, but not certain, to be what a schema describes."""
        kind = schema["type"]
        if self.random() < 0.05:
            return self.choice((None, self.text(), self.integer(), True, [], {}))
        whole = [each for each in schema.get("enum", []) if not isinstance(each, float)]
        if whole and self.random() < 0.7:
            return self.choice(whole)
        if kind == "object":
            made = {name: self.value(child) for name, child in schema["properties"].items() if self.random() < 0.8}
            return made | ({self.choice("abcd"): self.integer()} if self.random() < 0.2 else {})
        if kind == "array":
            return [self.value(schema["items"]) for _ in range(self.randrange(5))]
        return {"string": self.text, "boolean": lambda: self.random() < 0.5}.get(kind, self.integer)()
