"""Every runtime dependency, and what it depends on in turn, has a wheel for an ARM Mac. This asks the package index."""

import json
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.test_project_pins import pins

ROOT = Path(__file__).resolve().parents[1]

PLATFORM = ("--platform", "macosx_11_0_arm64", "--python-version", "3.12", "--implementation", "cp")
#: What markers of requirements are about there; pip itself looks at the machine that it runs on.
MAC = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "arm64",
    "platform_python_implementation": "CPython",
    "platform_system": "Darwin",
    "python_full_version": "3.12.0",
    "python_version": "3.12",
    "sys_platform": "darwin",
    "extra": "",
}


@cache
def resolved() -> dict[str, dict[str, Any]]:
    """Have pip choose a wheel for each, at the pins, without fetching any; name -> the wheel's metadata."""
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "--quiet", "install", "--dry-run", "--ignore-installed", "--report", "-"),
            *("--only-binary", ":all:", *PLATFORM, "--constraint", "constraints.txt", *wanted),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    metadata = [entry["metadata"] for entry in json.loads(done.stdout)["install"]]
    return {canonicalize_name(entry["name"]): entry for entry in metadata}


def test_each_is_there_at_its_pin() -> None:
    known = pins(ROOT / "constraints.txt")
    versions = {name: entry["version"] for name, entry in resolved().items()}
    assert len(versions) > 20
    assert versions == {name: known.get(name) for name in versions}


def test_a_mac_needs_no_other() -> None:
    needed = [
        requirement
        for entry in resolved().values()
        for requirement in map(Requirement, entry.get("requires_dist", ()))
        if requirement.marker is None or requirement.marker.evaluate(MAC)
    ]
    assert {canonicalize_name(requirement.name) for requirement in needed} - set(resolved()) == set()
