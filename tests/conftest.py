"""Fixtures that start real MCP servers on loopback, each once a session and in an environment of its own; a browser."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.oauth_server import PASSWORD_VARIABLE
from tests import plugin_under_test
from tests.command_line import Assay
from tests.peers.installation import node, node_modules, python_environment
from tests.peers.process import free_port, running

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "tests" / "peers"

#: The token of the protected server. It exists nowhere else, so every occurrence of it is a leak.
TOKEN = "tok-5fKq81-not-for-anyone-else-Zr"
#: The password of the login form, in the same way.
PASSWORD = "pw-7Yh2Lq9-of-the-login-form"
#: The token of the protected server's owner, who may use more of its tools.
OWNER_TOKEN = "own-77Hd02-for-the-owner-alone-Qe"


#: Files that are run whole with a built executable. Of the others that drive a plugin, the tests that prove a
#: requirement are, unless they look inside.
WHOLE = ("test_hostile_", "test_plugin_oauth_wire", "test_plugin_wire")
#: What a file imports that drives a plugin.
DRIVERS = {"Assay", "PluginDriver", "bench"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--plugin", metavar="PATH", help="run the tests of the plugin's behaviour with this executable")


def pytest_configure(config: pytest.Config) -> None:
    """Tell every process of the run which plugin it drives, before a test file is read."""
    named = config.getoption("--plugin")
    if named:
        if not os.access(named, os.X_OK):
            raise pytest.UsageError(
                f"--plugin: {named} is no program; `python3 noxfile.py -s build` makes dist/plugin."
            )
        os.environ[plugin_under_test.VARIABLE] = os.path.abspath(named)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only Linux can show elsewhere, and with ``--plugin`` what another plugin cannot change."""
    chosen: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        possible = sys.platform == "linux" or item.get_closest_marker("linux") is None
        chosen[possible and (not config.getoption("--plugin") or drives_a_plugin(item))].append(item)
    config.hook.pytest_deselected(items=chosen[False])
    items[:] = chosen[True]


def drives_a_plugin(item: pytest.Item) -> bool:
    if item.path.name.startswith(WHOLE):
        return True
    drives = isinstance(item, pytest.Function) and not DRIVERS.isdisjoint(vars(item.module))
    marks = {mark.name for mark in item.iter_markers()}
    return drives and "requirement" in marks and "inside" not in marks


def example(*options: str, token: str = "") -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "examples.server", "--port", str(port), *options]
    environment = {"EXAMPLE_SERVER_TOKEN": token, "EXAMPLE_SERVER_OWNER_TOKEN": OWNER_TOKEN}
    with running(command, port, environment, ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="session")
def example_server() -> Iterator[str]:
    """The URL of the example server, version 1."""
    yield from example()


@pytest.fixture(scope="session")
def example_server_2() -> Iterator[str]:
    """The URL of the example server, version 2: other tools."""
    yield from example("--version", "2")


@pytest.fixture(scope="session")
def protected_server() -> Iterator[str]:
    """The URL of an example server that answers 401 without ``token``."""
    yield from example("--protected", token=TOKEN)


@pytest.fixture(scope="session")
def token() -> str:
    """The bearer token that the protected server accepts."""
    return TOKEN


@pytest.fixture(scope="session")
def owner_token() -> str:
    """The bearer token of the protected server's owner."""
    return OWNER_TOKEN


@pytest.fixture(scope="session")
def everything_server() -> Iterator[str]:
    """The URL of npm's server-everything over Streamable HTTP: sessions and SSE."""
    port = free_port()
    script = node_modules(PEERS) / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    with running([node(), script, "streamableHttp"], port, {"PORT": str(port)}, ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="session")
def fastmcp_server() -> Iterator[str]:
    """The URL of a FastMCP server with two tools a page."""
    port = free_port()
    python = python_environment(PEERS / "fastmcp.txt")
    with running([python, PEERS / "fastmcp_server.py", str(port)], port, {}, PEERS):
        yield f"http://127.0.0.1:{port}/mcp"


def sdk_server(*options: str) -> Iterator[str]:
    port = free_port()
    with running([sys.executable, "-m", "tests.peers.sdk_server", str(port), *options], port, {}, ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="session")
def json_server() -> Iterator[str]:
    """The URL of a server by the official SDK that has sessions and answers in JSON."""
    yield from sdk_server("--json")


@pytest.fixture(scope="session")
def stateless_server() -> Iterator[str]:
    """The URL of a server by the official SDK that has no sessions and answers in event streams."""
    yield from sdk_server("--stateless")


@pytest.fixture(scope="session")
def oauth_server() -> Iterator[str]:
    """The URL of a server behind an authorization server of the official Python SDK's classes, with a login form."""
    port = free_port()
    environment = {PASSWORD_VARIABLE: PASSWORD, "PYTHONPATH": str(ROOT)}
    with running([sys.executable, "-m", "examples.oauth_server", "--port", str(port)], port, environment, ROOT):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(scope="session")
def password() -> str:
    """What the user `demo` types into that form."""
    return PASSWORD


@pytest.fixture(scope="session")
def sdk_oauth_server() -> Iterator[tuple[str, str]]:
    """The URL of the TypeScript SDK's OAuth demo, and the origin of its authorization server."""
    port, issuer = free_port(), free_port()
    examples = node_modules(PEERS) / "@modelcontextprotocol" / "sdk" / "dist" / "esm" / "examples" / "server"
    command: list[str | Path] = [node(), examples / "simpleStreamableHttp.js", "--oauth", "--oauth-strict"]
    with running(command, port, {"MCP_PORT": str(port), "MCP_AUTH_PORT": str(issuer)}, ROOT):
        yield f"http://localhost:{port}/mcp", f"http://localhost:{issuer}"


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """The real command line, in an empty folder."""
    return Assay(tmp_path)


@pytest.fixture(scope="session")
def chromium() -> dict[str, Any]:
    """How Playwright launches the browser of this machine in a test: ``playwright.chromium.launch(**chromium)``."""
    # Not above: Playwright takes a quarter of a second, which most tests need not wait for.
    from host.providers.browser.chromium import FLAGS
    from host.providers.browser.finding import find_chromium
    from host.providers.browser.workplace import is_root

    path = find_chromium("", os.environ)
    return {"executable_path": path, "args": list(FLAGS), "chromium_sandbox": not is_root()}
