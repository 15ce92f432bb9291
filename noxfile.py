"""What the project can do with itself: `python3 noxfile.py -s NAME`. Brings its own nox; needs Python 3.11 and pip."""

import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
CONSTRAINTS = ROOT / "constraints.txt"
PROJECT = ROOT / "pyproject.toml"
PEERS = ROOT / "tests" / "peers"
WORKFLOWS = sorted(map(str, ROOT.glob(".github/workflows/*.yml")))
CACHE = ROOT / ".nox"


def fingerprint(*parts: object) -> str:
    """Tells whether what an environment was made from has changed: the pins, the project's settings, and ``parts``."""
    digest = hashlib.sha256(CONSTRAINTS.read_bytes() + PROJECT.read_bytes())
    digest.update(repr((sys.version_info[:3], parts)).encode())
    return digest.hexdigest()


def bootstrap(arguments: list[str]) -> int:
    """Make an environment that holds nox, once, and run nox there. Returns the exit status of nox."""
    if sys.version_info < (3, 11):
        return complain("Assay needs Python 3.11 or newer; this is {}.{}.".format(*sys.version_info[:2]))
    if importlib.util.find_spec("ensurepip") is None:
        return complain("This Python cannot make environments: install its venv package (Debian: python3-venv).")
    home = CACHE / "bootstrap"
    python = home / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = home / "assay-stamp"
    if not stamp.exists() or stamp.read_text() != fingerprint("nox"):
        print(
            "Making .nox/bootstrap with nox in it (once): pip takes up to a minute, and prints nothing.",
            file=sys.stderr,
            flush=True,
        )
        venv.create(home, clear=True, with_pip=True)
        install = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-c", str(CONSTRAINTS)]
        if subprocess.run([*install, "--upgrade", "pip", "nox"], check=False).returncode:
            return complain("nox could not be installed: pip's message above says why.")
        stamp.write_text(fingerprint("nox"))
    return subprocess.run([python, "-m", "nox", "-f", __file__, *arguments], check=False).returncode


def complain(message: str) -> int:
    print(message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(bootstrap(sys.argv[1:]))

import nox

nox.needs_version = ">=2026.4"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "demo", "tests"]


def prepare(session: nox.Session, *groups: str, project: bool = True) -> None:
    """Install dependency groups at their pins, and the project as it lies here; at once when nothing has changed."""
    stamp = Path(session.virtualenv.location) / "assay-stamp"
    wanted = fingerprint(groups, project)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    session.log("Installing what this session needs (once): pip takes a minute or more, and prints nothing.")
    pinned = ("-qq", "--constraint", str(CONSTRAINTS))
    session.install(*pinned, "--upgrade", "pip")
    session.install(*pinned, *(word for group in groups for word in ("--group", group)))
    if project:
        session.install(*pinned, "--no-build-isolation", "--editable", ".")
    stamp.write_text(wanted)


@nox.session
def demo(session: nox.Session) -> None:
    """Run three flows against MCP servers made for it, and show steps, captures, a tool diff and the evidence."""
    prepare(session, "examples", "project")
    session.run("python", "-m", "examples.demo", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests, on every core; what stands behind `--` goes to pytest instead, but for `--plugin=PATH`."""
    prepare(session, "tests")
    # Most tests wait for processes of their own. A file stays on one worker: its tests share servers.
    all_of_them = all(word.startswith("--plugin=") for word in session.posargs)
    words = ["--numprocesses=auto", "--dist=loadfile", "--quiet"] if all_of_them else []
    session.run("python", "-m", "pytest", *words, *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting with ruff, and the workflows against their schema."""
    prepare(session, "lint", project=False)
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")
    session.run("check-jsonschema", "--quiet", "--builtin-schema", "vendor.github-workflows", *WORKFLOWS)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy in strict mode."""
    prepare(session, "types")
    session.run("mypy", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build the plugin as one native file in dist/, then run what was built."""
    prepare(session, "build")
    session.run(
        *("python", "-m", "PyInstaller", "--noconfirm", "--clean", "--log-level", "WARN"),
        *("--distpath", "dist", "--workpath", "build", "packaging/plugin.spec"),
    )
    session.run("python", "packaging/smoke.py", "dist/plugin", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed and size on loopback, as ratios within this run, and write benchmarks/RESULTS.md."""
    prepare(session, "bench")
    session.run("python", "-m", "benchmarks", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Run client scenarios of the public MCP conformance suite; `-- --plugin PATH` tests a built executable."""
    prepare(session, "tests")
    session.run("python", "-m", "tests.conformance", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Resolve every dependency anew and write the pins: constraints.txt and the peers' own files under tests/peers/."""
    session.install("--quiet", "--upgrade", "pip")
    groups = [name for name in tomllib.loads(PROJECT.read_text())["dependency-groups"] if not name.startswith("peer-")]
    resolve(session, CONSTRAINTS, ".", *(word for name in groups for word in ("--group", name)))
    for peer in ("fastmcp", "mcp-assert"):
        resolve(session, PEERS / f"{peer}.txt", "--group", f"peer-{peer}")


def resolve(session: nox.Session, target: Path, *wanted: str) -> None:
    report = Path(session.create_tmp()) / "report.json"
    session.run(
        *("python", "-m", "pip", "install", "-qq", "--dry-run", "--ignore-installed"),
        *("--report", str(report), *wanted),
    )
    installed = [entry["metadata"] for entry in json.loads(report.read_text())["install"]]
    pins = sorted(
        f"{entry['name'].lower().replace('_', '-')}=={entry['version']}"
        for entry in installed
        if entry["name"] != "assay-mcp"
    )
    target.write_text("# Written by `python3 noxfile.py -s lock`.\n" + "\n".join(pins) + "\n")
