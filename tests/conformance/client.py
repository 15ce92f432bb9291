"""The client under test: a small host that drives the real plugin executable through one conformance scenario.

The suite appends the server's URL to the command line and names the scenario in the environment.
"""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from protocol.wire.messages import PROTOCOL, Response, decode, encode_request

#: Names the plugin to test; the default is the source tree's.
PLUGIN_VARIABLE = "ASSAY_CONFORMANCE_PLUGIN"

#: Scenario -> the commands after `connect`, each with its arguments.
STEPS: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "initialize": (("tools", {}),),
    "tools_call": (("tools", {}), ("call", {"tool": "add_numbers", "arguments": {"a": 5, "b": 3}})),
}


class Plugin:
    """One plugin process; asks and waits for the answer, one request at a time."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._asked = 0

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        assert self._process.stdin is not None
        self._asked += 1
        self._process.stdin.write(encode_request(self._asked, method, params))
        self._process.stdin.flush()
        for message in self._responses():
            if message.id == self._asked:
                if message.error is not None:
                    raise SystemExit(f"{method}: {message.error}")
                return message.result
        raise SystemExit(f"{method}: the plugin ended")

    def _responses(self) -> Iterator[Response]:
        for line in self._process.stdout or ():
            message = decode(line.rstrip(b"\n"))
            if isinstance(message, Response):
                yield message

    def end(self) -> int:
        self.ask("shutdown", {})
        return self._process.wait(10)


def main() -> int:
    url = sys.argv[-1]
    steps = STEPS[os.environ["MCP_CONFORMANCE_SCENARIO"]]
    plugin = Plugin(shlex.split(os.environ.get(PLUGIN_VARIABLE, "")) or [sys.executable, "-m", "plugin"])
    parts = urlsplit(url)
    opening = {"origins": [f"{parts.scheme}://{parts.netloc}"], "bindings": {"api": {"endpoint": url}}}
    plugin.ask("initialize", {"protocol": PROTOCOL, "host": {"name": "conformance", "version": "1"}} | opening)
    failed = False
    for command, given in (("connect", {}), *steps):
        arguments = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
        result = plugin.ask("run", {"alias": "api", "command": command, "arguments": arguments})
        print(command, result["status"], result["message"], flush=True)
        failed = failed or result["status"] != "succeeded"
    plugin.ask("run", {"alias": "api", "command": "disconnect", "arguments": {}})
    return plugin.end() or int(failed)


if __name__ == "__main__":
    sys.exit(main())
