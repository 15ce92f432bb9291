"""What CI installs is pinned: every declared dependency has one version in constraints.txt, within its range."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(path: Path) -> dict[str, str]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


def declared() -> list[tuple[str, Requirement]]:
    groups = {"project": SETTINGS["project"]["dependencies"], **SETTINGS["dependency-groups"]}
    entries = [(name, entry) for name, group in groups.items() for entry in group if isinstance(entry, str)]
    return [(name, Requirement(entry)) for name, entry in entries]


@pytest.mark.parametrize(("group", "requirement"), declared(), ids=str)
def test_a_dependency_is_pinned_within_its_range(group: str, requirement: Requirement) -> None:
    known = pins(ROOT / ("tests/peers/fastmcp.txt" if group == "peer-fastmcp" else "constraints.txt"))
    assert requirement.specifier.contains(known[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("path", ["constraints.txt", "tests/peers/fastmcp.txt"])
def test_a_pin_is_one_exact_version_and_nothing_else(path: str) -> None:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9.-]+==[0-9][0-9a-z.+]*", line)] == []
    assert lines == sorted(set(lines))


@pytest.mark.parametrize("folder", ["tests/peers", "tests/conformance"])
def test_the_pins_of_npm_name_no_registry(folder: str) -> None:
    assert '"resolved"' not in (ROOT / folder / "package-lock.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", ["constraints.txt", "tests/peers/fastmcp.txt", "noxfile.py", ".ci/run", "pyproject.toml"]
)
def test_where_packages_come_from_is_left_to_the_machine(path: str) -> None:
    text = (ROOT / path).read_text(encoding="utf-8").casefold()
    assert [word for word in ("index-url", "find-links", "registry", "pypi.org", "npmjs") if word in text] == []
