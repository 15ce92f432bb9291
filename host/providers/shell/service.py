"""The service of LocalBash: one command at a time, in its binding's directory."""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from host.providers.outcome import Asked, Outcome
from host.providers.service import ProviderService
from host.providers.shell.binding import PATH_MINIMUM, Binding, read_binding
from host.providers.shell.commands import ABOUT, COMMAND_LIMIT, COMMANDS
from host.providers.shell.environment import check_values, command_environment
from host.providers.shell.execution import Execution
from host.providers.shell.report import report
from protocol.failures import Code, Failed
from protocol.wire.service import Notify

__all__ = ["ShellService"]

#: The folder that our packages lie in: what the host puts on PYTHONPATH when they are not installed.
_ROOT: Final = str(Path(__file__).resolve().parents[3])


class ShellService(ProviderService):
    """Runs `bash`. Nothing of a command outlives its step."""

    def __init__(self, notify: Notify) -> None:
        super().__init__(notify, ABOUT, COMMANDS)
        self._bindings: dict[str, Binding] = {}
        self._guard = threading.Lock()
        self._execution: Execution | None = None

    def bind(self, alias: str, configuration: Any) -> Callable[[], None]:
        """Read one binding. Its directory is private, by either of its names."""
        binding = read_binding(alias, configuration)

        def take() -> None:
            self._bindings[alias] = binding
            self.context.redactor.add(binding.cwd)
            if binding.real != binding.cwd and len(binding.real) >= PATH_MINIMUM:
                self.context.learn(binding.real)

        return take

    def read(self, _alias: str, values: Mapping[str, Any]) -> None:
        """Hold the command to its limits."""
        text = values.get("command")
        if text is not None and (not text.strip() or len(text.encode("utf-8", "replace")) > COMMAND_LIMIT):
            raise Failed(Code.INVALID_ARGUMENTS, f"`command` has 1 to {COMMAND_LIMIT} bytes.", where="command")
        if text is not None and "\0" in text:
            raise Failed(Code.INVALID_ARGUMENTS, "`command` holds a NUL character.", where="command")
        check_values(values.get("environment", {}))

    def perform(self, asked: Asked) -> Outcome:
        """Run the command to its end, its deadline or its cancel."""
        binding = self._bindings[asked.alias]
        environment = command_environment(os.environ, asked.values.get("environment", {}), binding.cwd, _ROOT)
        execution = Execution(asked.values["command"], binding.cwd, environment)
        with self._guard:
            self._execution = execution
        if asked.cancelled():
            execution.cancel()
        try:
            ended = execution.run(binding.timeout)
        finally:
            with self._guard:
                self._execution = None
        return report(ended, self.context.redactor)

    def interrupt(self, _params: dict[str, Any]) -> None:
        """End the command that runs."""
        with self._guard:
            if self._execution is not None:
                self._execution.cancel()

    def warm(self) -> None:
        """Do nothing: bash starts in milliseconds."""

    def end(self) -> None:
        """Do nothing: a command leaves nothing behind."""
