"""One server without a flow: what `inspect`, `call` and `init` ask of it, through the plugin. Keeps no evidence."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

from host.bindings import VARIABLE, Bindings, bind
from host.board import Board, Row
from host.consent import check_page
from host.files import absolute
from host.inbox import Progress
from host.interruption import Interruption
from host.origins import admitted_origins
from host.outcome import ERROR_EXIT, exit_of_code, may_have_run, remedy
from host.preparation import describe_providers
from host.private import Private
from host.session import Identities, Session
from host.terminal import Terminal, line
from protocol.failures import Code, Failed, Failure
from protocol.values.document import encode
from protocol.wire.steps import StepResult

__all__ = ["Conversation", "Server", "read_argument", "read_server", "variable"]

PROVIDER: Final = "MCP"
ALIAS: Final = "server"
#: Seconds for everything that one command does; each request has its own, much shorter deadline.
LIMIT_SECONDS: Final = 600.0
#: Bytes of arguments in a file or on standard input: what a line of the host wire has room for.
ARGUMENT_LIMIT: Final = 8 * 1024 * 1024
#: Nobody minds what became of a session whose plugin died, so its death is told as that alone.
_DISCONNECT: Final = "disconnect"
_HEADER: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Server(NamedTuple):
    """A server and how to reach it.

    ``headers`` are public and go to `connect`; ``configuration`` is the binding, its private values as `{"env": NAME}`.
    """

    url: str
    origins: tuple[str, ...]
    headers: Mapping[str, str]
    configuration: Mapping[str, Any]
    plugin: str | None


def read_server(
    url: str,
    *,
    allow_origins: tuple[str, ...],
    bearer_env: str | None,
    header_envs: tuple[str, ...],
    headers: tuple[str, ...],
    ca_file: str | None,
    timeout: float | None,
    plugin: str | None,
) -> Server:
    """Read the options of a command that talks to one server. Raises Failed (``invalid_arguments``)."""
    configuration: dict[str, Any] = {}
    if bearer_env is not None:
        configuration["bearerToken"] = {"env": variable("--bearer-env", bearer_env)}
    private = _pairs("--header-env HEADER=NAME", header_envs)
    if private:
        configuration["headers"] = {name: {"env": variable("--header-env", named)} for name, named in private.items()}
    if ca_file is not None:
        configuration["caFile"] = str(absolute(ca_file))
    if timeout is not None:
        configuration["timeoutMs"] = round(timeout * 1000)
    origins = admitted_origins(url, allow_origins)
    return Server(url, origins, _pairs("--header KEY=VALUE", headers), configuration, plugin)


class Conversation:
    """A plugin with one alias bound to one server, and ``spare`` more of them for fresh sessions with the same server.

    Raises Failed when it cannot be started or refuses the binding.
    ``hidden`` names the environment variables that no child may get.
    """

    def __init__(
        self,
        server: Server,
        environment: Mapping[str, str],
        interruption: Interruption,
        board: Board,
        *,
        spare: int = 0,
    ) -> None:
        executables, descriptions, failures = describe_providers([PROVIDER], server.plugin, environment)
        for failure in failures.values():
            raise Failed(failure.code, failure.message, data=failure.data)
        # A server that ends sessions itself answers DELETE with 405, which is no finding here.
        configuration = {"sessionCleanup": "server-managed", **server.configuration}
        self._aliases = [ALIAS, *(f"{ALIAS}_{number}" for number in range(2, spare + 2))]
        bindings = Bindings(dict.fromkeys(self._aliases, (PROVIDER, configuration)))
        missing = sorted(name for name in bindings.names if not environment.get(name))
        if missing:
            told = f"The environment variable {', '.join(missing)} is not set, or is empty."
            raise Failed(Code.INVALID_ARGUMENTS, told)
        providers = dict.fromkeys(self._aliases, PROVIDER)
        bound = bind(providers, bindings, server.url, environment, descriptions)
        #: The commands that the plugin has.
        self.commands = frozenset(descriptions[PROVIDER].commands)
        self._headers = server.headers
        self._origins = frozenset(server.origins)
        self.hidden = bindings.names
        self._private = Private(bound.private)
        self._board = board
        self._row: Row | None = None
        self.renewals = 0
        self.is_open = False
        identities = Identities(server.origins, bound.configurations, bindings.names)
        codes = {code: status for each in descriptions.values() for code, status in each.codes.items()}
        heard = self._progress
        with self._shown("starting the plugin"):
            self._session = Session(executables, environment, identities, self._private, interruption, heard, codes)
        self._deadline = time.monotonic() + LIMIT_SECONDS + server.configuration.get("timeoutMs", 0) / 1000

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.end()

    def connect(self) -> StepResult:
        """Initialize the session, with the public headers."""
        return self.run("connect", {"headers": encode(dict(self._headers)).decode()} if self._headers else {})

    def run(self, command: str, arguments: Mapping[str, str], show: Callable[[str], None] | None = None) -> StepResult:
        """Check and run one command; ``show`` opens the consent page that it asks for.

        A mutation whose plugin died over it is unknown. Raises Failed: what is refused, ``plugin_died`` otherwise.
        """
        provider = self._session.provider(PROVIDER)
        stop = self._session.interrupted
        alias = self._aliases[self.renewals]
        on_consent = None if show is None else partial(self._consent, show)
        with self._shown(command.replace("_", " ")):
            effect = provider.check(alias, command, arguments, (), stop)
            try:
                result = provider.run(
                    alias, command, arguments, deadline=self._deadline, stop=stop, on_consent=on_consent
                )
            except Failed as failed:
                if effect != "mutate" or command == _DISCONNECT or not may_have_run(failed.failure):
                    raise
                result = _unknown(failed.failure)
        self.is_open = result.facts.get("connection") == "open"
        return result

    def discover(self) -> StepResult:
        """Look for the authorization server of the endpoint, without a client and without consent. Raises Failed."""
        provider = self._session.provider(PROVIDER)
        stop = self._session.interrupted
        with self._shown("discovery"):
            return provider.discover(self._aliases[self.renewals], deadline=self._deadline, stop=stop)

    def _consent(self, show: Callable[[str], None], _alias: str, url: str) -> None:
        check_page(url, self._origins)
        self._private.learn("", [url])
        show(url)

    def renew(self) -> StepResult:
        """Initialize a fresh session, because the one so far was closed. Raises IndexError when none is spare."""
        self.renewals += 1
        return self.connect()

    def disconnect_all(self) -> list[StepResult]:
        """End every session, the first one first; return how each ended."""
        last = self.renewals
        endings = []
        for self.renewals in range(last + 1):
            endings.append(self.run(_DISCONNECT, {}))
        return endings

    @contextmanager
    def _shown(self, what: str) -> Iterator[None]:
        """Show on the board what is going on; nothing is printed meanwhile."""
        self._row = self._board.add(what)
        try:
            yield
        finally:
            self._row.end()

    def _progress(self, progress: Progress) -> None:
        if self._row is not None:
            self._row.progress(progress)

    def end_session(self, terminal: Terminal) -> None:
        """End the session; that a server does not confirm it is worth a line, and no failure."""
        if not self._session.provider(PROVIDER).alive:
            return
        ended = self.run(_DISCONNECT, {})
        if ended.status != "succeeded":
            terminal.progress(f"note: {line(self.text(ended.message))}")

    def tell(self, terminal: Terminal, result: StepResult) -> None:
        """Say why a step did not succeed, and what to do where nothing could be carried out."""
        if result.status == "succeeded":
            return
        told = line(self.text(result.message))
        terminal.problem(f"{result.status}: {told} [{line(result.code or '')}]")
        plugin = result.facts.get("plugin")
        terminal.last_words(plugin.get("diagnostics") if isinstance(plugin, dict) else None)
        if exit_of_code(result.code) == ERROR_EXIT:
            terminal.problem(f"help: {remedy(result.code)}")

    def shown(self, content: bytes) -> bytes:
        """Return what is about to be shown. Raises Failed (``evidence_leak``) when it holds a private value."""
        if self._private.leaks(content):
            raise Failed(Code.EVIDENCE_LEAK, "A private value came back that was not taken out; nothing is shown.")
        return content

    def text(self, text: str) -> str:
        """Return a text with nothing private in it."""
        return self._private.text(text)


def _unknown(failure: Failure) -> StepResult:
    """Make the result of a mutation that may have been carried out, though its plugin died over it."""
    diagnostics = (failure.data or {}).get("diagnostics")
    return StepResult(
        status="unknown",
        code=str(failure.code),
        message=failure.message,
        effect="mutate",
        facts={"plugin": {"diagnostics": diagnostics}} if diagnostics else {},
    )


def read_argument(text: str, standard_input: Callable[[int], bytes]) -> str:
    """Return the JSON that an argument stands for: itself, `@file`, or `-` for standard input. Raises Failed."""
    if text != "-" and not text.startswith("@"):
        return text
    try:
        data = standard_input(ARGUMENT_LIMIT) if text == "-" else _read(text[1:])
        if len(data) > ARGUMENT_LIMIT:
            raise Failed(Code.INVALID_ARGUMENTS, f"The arguments have more than {ARGUMENT_LIMIT} bytes.")
        return data.decode()
    except OSError as error:
        reason = error.strerror or "the system refused"
        raise Failed(Code.INVALID_ARGUMENTS, f"The file {text[1:]} cannot be read: {reason}.") from None
    except UnicodeDecodeError:
        raise Failed(Code.INVALID_ARGUMENTS, "The arguments are not UTF-8.") from None


def _read(name: str) -> bytes:
    with Path(name).open("rb") as file:  # a pipe is as good as a file: `@<(make-arguments)`
        return file.read(ARGUMENT_LIMIT + 1)


def _pairs(form: str, given: tuple[str, ...]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not _HEADER.fullmatch(name):
            raise Failed(Code.INVALID_ARGUMENTS, f"`{form.partition(' ')[0]}` takes the name of a header: `{form}`.")
        if name in pairs:
            raise Failed(Code.INVALID_ARGUMENTS, f"The header `{name}` is given twice. Keep one of them.")
        pairs[name] = value
    return pairs


def variable(option: str, name: str) -> str:
    """Return the name of an environment variable that an option takes. Raises Failed for anything else."""
    if not VARIABLE.fullmatch(name):
        told = f"`{option}` takes the name of an environment variable, never the value itself."
        raise Failed(Code.INVALID_ARGUMENTS, told)
    return name
