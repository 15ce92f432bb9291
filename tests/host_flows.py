"""Flows of a few lines for tests of the host, read against the fake plugin's description."""

import json
from collections.abc import Mapping
from typing import Any

from host.description import Description, read_description
from host.flow import Flow, Reading
from host.reading import check_flow, parse_flow
from tests.fakes.plugin_process import description

__all__ = ["DESCRIPTIONS", "flow", "read_flow", "text"]

DESCRIPTIONS: dict[str, Description] = {
    provider: read_description(json.dumps(description(provider)).encode())
    for provider in ("MCP", "LocalBash", "Browser")
}


def read_flow(
    file: str, data: bytes, descriptions: Mapping[str, Description], given: Mapping[str, str], *, planning: bool = False
) -> Reading:
    """Read one flow in one go."""
    return check_flow(parse_flow(file, data), descriptions, given, planning=planning)


def text(*sections: tuple[str, str], aliases: str = "api", extra: str = "", name: str = "A flow") -> str:
    """Return a flow's text: each section is a title and its commands, one a line; ``extra`` is more frontmatter.

    ``aliases`` are MCP's, or of another provider: `api site:Browser`.
    """
    pairs = [alias.partition(":") for alias in aliases.split()]
    providers = "".join(f"  {alias}: {provider or 'MCP'}\n" for alias, _, provider in pairs)
    blocks = "".join(f"\n# {title}\n\n```rfl\n{commands.strip()}\n```\n" for title, commands in sections)
    return f"---\nname: {name}\nproviders:\n{providers}{extra}---\n{blocks}"


def flow(*sections: tuple[str, str], **options: Any) -> Flow:
    """Return a flow that was read; it has to be right."""
    reading = read_flow("f.md", text(*sections, **options).encode(), DESCRIPTIONS, {})
    assert reading.flow is not None, reading.problems
    return reading.flow
