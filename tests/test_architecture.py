"""The rules of docs/architecture.md that a reader of one file cannot see: import arrows, the rim, and the layout."""

import ast
import importlib
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

#: The import packages, whether they have code yet or not.
PACKAGES = ("protocol", "oauth", "plugin", "host", "contract", "workflow")

#: Package (or subpackage) -> what of ours it may import. The longest matching key decides.
ARROWS: dict[str, tuple[str, ...]] = {
    "protocol": ("protocol.failures", "protocol.version"),
    "protocol.files": (),
    "protocol.values": ("protocol.values", "protocol.failures"),
    "protocol.wire": ("protocol.wire", "protocol.values", "protocol.failures"),
    "protocol.mcp": ("protocol.mcp", "protocol.values", "protocol.failures", "protocol.version"),
    "oauth": ("oauth", "protocol"),
    "plugin": ("plugin", "oauth", "protocol", "contract.core", "contract.files", "contract.program"),
    "host": (
        "host",
        "protocol.values",
        "protocol.wire",
        "protocol.failures",
        "protocol.files",
        "protocol.version",
        "contract",
        "workflow",
    ),
    "contract": ("contract", "protocol"),
    "contract.core": ("contract.core", "protocol.values"),
    "workflow": ("workflow", "protocol"),
}

#: Importing one of these means touching the world: clocks, entropy, files, processes, sockets, threads, HTTP clients.
WORLD = {
    "asyncio",
    "concurrent",
    "getpass",
    "http",
    "httpcore",
    "httpx",
    "multiprocessing",
    "os",
    "playwright",
    "random",
    "requests",
    "secrets",
    "select",
    "selectors",
    "shutil",
    "signal",
    "socket",
    "socketserver",
    "ssl",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "truststore",
    "urllib.request",
    "webbrowser",
}

#: Calls that read or write files without importing anything.
FILE_CALLS = {"open", "read_bytes", "read_text", "write_bytes", "write_text", "mkdir", "unlink", "touch", "rmdir"}

#: The rim: each module that may touch the world, and why. Everything else takes values and gives values.
RIM: dict[str, str] = {
    "protocol/mcp/answering.py": "answers to the server's requests: a thread",
    "protocol/mcp/attempts.py": "deadlines and interrupts: the clock, poll(), a pipe",
    "protocol/mcp/http.py": "the HTTP transport: httpx and httpcore",
    "protocol/mcp/listening.py": "the GET stream: a thread",
    "protocol/mcp/network.py": "sockets and TLS handshakes",
    "protocol/mcp/pool.py": "connections that are kept: httpcore, and a lock",
    "protocol/mcp/resolving.py": "host names: the system's resolver, on a thread",
    "protocol/files.py": "one regular file, read within a bound",
    "protocol/mcp/trust.py": "the TLS context: the system's trust",
    "contract/program.py": "the process of the offline verbs: its output and exit",
    "host/files.py": "looks for assay.toml, and at whose a bindings file is",
    "oauth/loopback.py": "the callback's listener: a socket, a thread, the clock",
    "oauth/perform.py": "one sign-in under way: a lock between the threads that run and cancel it",
    "plugin/__main__.py": "the process: its stdin, stdout and exit",
    "plugin/ending.py": "sessions that end side by side: threads",
    "protocol/wire/asking.py": "requests of a plugin to its host: the wait for an answer",
    "protocol/wire/command_line.py": "a plugin's process: its arguments, output and exit",
    "protocol/wire/serving.py": "a plugin's process: its descriptors, threads and signals, and its end",
    "plugin/signin.py": "one alias's sign-in: its entropy, and the age of its token",
    "plugin/tokenfile.py": "the directory of a per-run token, and whose it is",
    "host/baseline.py": "the baseline file beside a flow",
    "host/board.py": "the lines about what runs: a clock, a thread, the terminal's size",
    "host/child.py": "a plugin process: its pipes, threads, group and end",
    "host/__main__.py": "the process of `python -m host`: its exit",
    "host/conversation.py": "one server without a flow: its clock, arguments from a file",
    "host/desktop.py": "the person's own browser, and the page that sends it on",
    "host/doctor/examination.py": "the time that certificates are compared with",
    "host/documents.py": "the files that a user asks for",
    "host/discovery.py": "the folders of flows that a command line names",
    "host/outputs.py": "where reports go: paths",
    "host/parallel.py": "several flows at once: threads",
    "host/preparation.py": "the current folder, which settings are looked for in",
    "host/running.py": "the paths and times of runs",
    "host/providers/browser/__main__.py": "the process: its exit",
    "host/providers/browser/actions.py": "what a command does to a page: Playwright",
    "host/providers/browser/chromium.py": "Chromium's start and end: Playwright",
    "host/providers/browser/finding.py": "programs on PATH",
    "host/providers/browser/guard.py": "the requests of a page: Playwright",
    "host/providers/browser/loop.py": "the event loop of a browser, on a thread of its own",
    "host/providers/browser/masks.py": "what a page shows: Playwright",
    "host/providers/browser/tab.py": "a page and its end: Playwright",
    "host/providers/browser/work.py": "what happens on the browser's thread: deadlines and Playwright",
    "host/providers/browser/workplace.py": "the folder and the environment of a browser",
    "host/providers/shell/__main__.py": "the process: its exit",
    "host/providers/shell/binding.py": "whether a directory exists",
    "host/providers/shell/execution.py": "a bash command: its process group, pipes and end",
    "host/providers/shell/service.py": "the environment of commands; a lock",
    "host/engine.py": "one flow under way: its clock",
    "host/evidence.py": "the folder of a run: atomic writes, its lock, the scan at the end",
    "host/executable.py": "finds a provider's program and asks it to describe itself",
    "host/interruption.py": "Ctrl-C, SIGTERM and SIGHUP",
    "host/main.py": "what a thread that breaks down says",
    "host/private.py": "private values, shared by the threads that read plugins",
    "host/progress.py": "lines of flows that run at once: a lock",
    "host/provider.py": "one plugin over the wire: deadlines and signals",
    "host/runs.py": "kept runs, read back",
    "host/sides.py": "names of runs and baselines, looked up as files",
    "host/terminal.py": "standard output and standard error",
    "host/turns.py": "the threads of flows that share a port",
    "host/waiting.py": "the target's port: sockets, a clock",
}

#: Files over 350 lines, and why they are one noun all the same. Nothing may pass 500.
LONG_FILES: dict[str, str] = {}

#: Functions of 40 lines or more, and why they are one thought all the same.
LONG_FUNCTIONS: dict[str, str] = {}


@cache
def modules() -> tuple[Path, ...]:
    return tuple(path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py")))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """Every dotted name that a file imports, also inside functions; `from a import b` gives `a.b` when it is ours."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            if node.module.partition(".")[0] in PACKAGES:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module


def within(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def test_every_import_follows_the_arrows() -> None:
    wrong = [f"{relative(path)} imports {name}" for path in modules() for name in wrong_imports(path)]
    assert wrong == []


def wrong_imports(path: Path) -> list[str]:
    own = relative(path).removesuffix(".py").replace("/", ".")
    allowed = ARROWS[max((key for key in ARROWS if within(own, (key,))), key=len)]
    return [name for name in imports(path) if name.partition(".")[0] in PACKAGES and not within(name, allowed)]


def touches_world(path: Path) -> bool:
    if any(within(name, tuple(WORLD)) for name in imports(path)):
        return True
    calls = [node.func for node in ast.walk(tree(path)) if isinstance(node, ast.Call)]
    methods = {call.attr for call in calls if isinstance(call, ast.Attribute)}
    return bool(methods & FILE_CALLS) or any(isinstance(call, ast.Name) and call.id == "open" for call in calls)


def test_only_named_rim_modules_touch_the_world() -> None:
    assert [relative(path) for path in modules() if touches_world(path) and relative(path) not in RIM] == []


def test_every_rim_module_exists_and_needs_to_be_there() -> None:
    present = {relative(path) for path in modules() if touches_world(path)}
    assert sorted(set(RIM) - present) == []


def test_every_module_has_a_docstring() -> None:
    ours = [*modules(), ROOT / "noxfile.py"]
    for folder in ("examples", "benchmarks", "packaging", "tests"):
        ours += sorted((ROOT / folder).rglob("*.py"))
    assert [relative(path) for path in ours if path.exists() and not ast.get_docstring(tree(path))] == []


def test_package_files_hold_a_docstring_only() -> None:
    assert [relative(path) for path in modules() if path.name == "__init__.py" and len(tree(path).body) != 1] == []


def test_files_stay_short() -> None:
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in modules()}
    assert {name: count for name, count in lengths.items() if count > 500} == {}
    assert {name for name, count in lengths.items() if count > 350} == set(LONG_FILES)


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of a function without its decorators and docstring: what has to be held in mind at once."""
    documented = ast.get_docstring(node) is not None
    first = node.body[0]
    return (node.end_lineno or 0) - node.lineno + 1 - ((first.end_lineno or 0) - first.lineno + 1 if documented else 0)


def test_functions_stay_short() -> None:
    long = {
        f"{relative(path)}:{node.name}"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) >= 40
    }
    assert long == set(LONG_FUNCTIONS)


def test_the_folder_packaging_is_no_package_and_shadows_nothing() -> None:
    assert not (ROOT / "packaging" / "__init__.py").exists()
    found = importlib.import_module("packaging").__file__
    assert found is not None
    assert not Path(found).is_relative_to(ROOT / "packaging")


def test_test_folders_are_no_packages() -> None:
    assert [relative(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


def test_test_files_are_flat() -> None:
    assert [relative(path) for path in (ROOT / "tests").rglob("test_*.py") if path.parent != ROOT / "tests"] == []


def test_nothing_shadows_the_official_sdk() -> None:
    assert not (ROOT / "mcp").exists()
    assert not (ROOT / "mcp.py").exists()


@pytest.mark.parametrize(
    ("table", "key", "expected"),
    [
        (("tool", "pytest", "ini_options"), "pythonpath", ["."]),
        (("tool", "ruff", "lint", "isort"), "known-third-party", ["packaging"]),
    ],
)
def test_the_settings_that_make_generic_names_safe_are_there(
    table: tuple[str, ...], key: str, expected: list[str]
) -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for name in table:
        settings = settings[name]
    assert settings[key] == expected


def test_the_project_is_built_from_named_packages_and_never_uploaded() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    coded = {path.parts[len(ROOT.parts)] for path in modules()}
    assert set(settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == coded
    assert "Private :: Do Not Upload" in settings["project"]["classifiers"]
    assert "--import-mode=importlib" in settings["tool"]["pytest"]["ini_options"]["addopts"]
