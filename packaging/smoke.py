"""Runs what was built: `python packaging/smoke.py dist/plugin`. A build that prints "complete" may still be dead."""

import json
import ssl
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import trustme
from PyInstaller.archive.readers import CArchiveReader

from tests.driven_plugin import DrivenPlugin
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.browser import browse
from tests.fakes.http_server import HttpServer, McpScript

ROOT = Path(__file__).resolve().parents[1]
ASSAY = Path(sys.executable).with_name("assay")

#: Largest executable, in bytes, and what must not be in it: other programs' libraries, which cost size and start.
SIZE_LIMIT = 25 * 1000 * 1000
FORBIDDEN = {"anyio", "click", "cryptography", "host", "jsonschema_rs", "mcp", "playwright", "pygments", "rich"}
#: Seconds that any one run may take.
PATIENCE = 60


def run(*command: str | Path, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=False, cwd=ROOT)


def says_its_version(plugin: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert run(plugin, "--version").stdout.decode() == f"assay-mcp {version}\n"


def describes_itself_as_the_source_does(plugin: Path) -> None:
    built, source = run(plugin, "--describe"), run(sys.executable, "-m", "plugin", "--describe")
    assert built.returncode == 0
    assert built.stdout == source.stdout


def answers_each_line_and_ends_with_its_input(plugin: Path) -> None:
    ended = run(plugin, given=b'{"jsonrpc":"2.0","id":1,"method":"nothing"}\nno json\n')
    assert ended.returncode == 0, ended.stderr.decode()
    assert [json.loads(line)["id"] for line in ended.stdout.splitlines()] == [1, None]


@contextmanager
def served_example() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, "-m", "examples.server"], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8"
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


def inspects_a_server(plugin: Path) -> None:
    with served_example() as url:
        seen = run(sys.executable, ROOT / "examples" / "host.py", url, plugin)
    words = [line.split()[:2] for line in seen.stdout.decode().splitlines()]
    assert words == [["succeeded", name] for name in ("connect", "tools", "call", "disconnect")], seen


def trusts_the_system_and_what_a_binding_adds(plugin: Path) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with HttpServer(McpScript(), tls=tls) as server, authority.cert_pem.tempfile() as pem:
        codes = []
        for configuration in ({}, {"caFile": pem}):
            with DrivenPlugin([plugin]) as driven:
                driven.bind(server.url, **configuration)
                codes.append(driven.run("connect")["code"])
    assert codes == ["tls_failed", None]


def signs_in(plugin: Path) -> None:
    oauth = {"issuer": "endpoint", "allowLoopbackHttp": True}
    with AuthorizationServer() as server, DrivenPlugin([plugin], consent=browse) as driven:
        driven.bind(server.url, oauth=oauth)
        codes = [driven.run(command)["code"] for command in ("oauth_begin", "oauth_finish", "tools", "disconnect")]
    assert codes == [None] * 4


def runs_a_flow(plugin: Path) -> None:
    with served_example() as url, tempfile.TemporaryDirectory() as folder:
        flow = ROOT / "examples" / "flows" / "capture.md"
        done = run(ASSAY, "run", flow, "--target", url, "--plugin", plugin, "--evidence", folder)
    assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()


def keeps_a_contract_offline(plugin: Path) -> None:
    for exit_status, *words in (
        (0, "validate", "registry.json"),
        (0, "qualify", "registry.json", "catalog.json"),
        (2, "qualify", "registry.json", "drifted-catalog.json"),
        (0, "prepare", "registry.json", "call.json"),
        (2, "prepare", "call.json"),
    ):
        named = [ROOT / "examples" / "contract" / word if "." in word else word for word in words]
        built, source = (run(*program, "contract", *named) for program in ([plugin], [sys.executable, "-m", "plugin"]))
        assert (built.returncode, built.stdout, built.stderr) == (exit_status, source.stdout, source.stderr), built


def holds_nothing_that_it_does_not_need(plugin: Path) -> None:
    assert plugin.stat().st_size <= SIZE_LIMIT, f"{plugin.stat().st_size} bytes"
    archive = CArchiveReader(str(plugin))
    inside = set(archive.open_embedded_archive("PYZ.pyz").toc) | set(archive.toc)
    assert sorted(FORBIDDEN & {name.replace("/", ".").partition(".")[0] for name in inside}) == []


CHECKS = (
    says_its_version,
    describes_itself_as_the_source_does,
    answers_each_line_and_ends_with_its_input,
    inspects_a_server,
    trusts_the_system_and_what_a_binding_adds,
    signs_in,
    runs_a_flow,
    keeps_a_contract_offline,
    holds_nothing_that_it_does_not_need,
)


def main() -> None:
    plugin = Path(sys.argv[1]).resolve()
    for check in CHECKS:
        check(plugin)
        print(f"ok  {check.__name__.replace('_', ' ')}", flush=True)
    print(f"{plugin.relative_to(ROOT)}: {plugin.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
