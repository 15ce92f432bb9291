"""Reads a flow file whole: first its frontmatter, headings and commands, then all of it against the plugins."""

from collections.abc import Mapping
from typing import NamedTuple

from host.description import Description
from host.flow import Reading
from host.problems import Problem

__all__ = ["Draft", "check_flow", "parse_flow", "read_flow"]


class Draft(NamedTuple):
    """A flow whose form was read and whose commands are not yet compared with their plugins.

    ``providers`` (alias to provider) says which descriptions :func:`check_flow` needs; it is empty when unreadable.
    """

    file: str
    text: str
    providers: Mapping[str, str]
    tags: tuple[str, ...]
    problems: tuple[Problem, ...]


def parse_flow(file: str, data: bytes) -> Draft:
    """Read the form of one flow. Total: whatever the bytes, the answer is a draft, with its problems."""
    raise NotImplementedError


def check_flow(
    draft: Draft, descriptions: Mapping[str, Description], given: Mapping[str, str], *, planning: bool = False
) -> Reading:
    """Compare a draft with the plugins' descriptions (by provider) and the inputs that were given.

    The steps of a provider without a description are read as far as the file says (the caller reports
    `provider_missing`); a provider that is neither known nor described is a problem. With ``planning`` an input may be
    without a value.
    """
    raise NotImplementedError


def read_flow(
    file: str, data: bytes, descriptions: Mapping[str, Description], given: Mapping[str, str], *, planning: bool = False
) -> Reading:
    """Read one flow in one go: :func:`parse_flow`, then :func:`check_flow`."""
    return check_flow(parse_flow(file, data), descriptions, given, planning=planning)
