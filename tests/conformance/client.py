"""The client under test: a small host that drives the real plugin executable through one conformance scenario.

The suite appends the server's URL to the command line, names the scenario in the environment, and fails the scenario
when the client's exit status is not 0, unless it is one in which a client has to give up.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from protocol.values.document import encode
from tests.conformance.scenarios import binding
from tests.driven_plugin import DrivenPlugin
from tests.fakes.browser import browse
from tests.plugin_under_test import program

#: The suite's servers take whatever port is free, each its own: a user would admit one origin after another.
LOOPBACK = [f"http://localhost:{port}" for port in range(1024, 65536)]
#: Refusals that a sign-in, or another one, may answer.
CHALLENGED = (401, 403)


class Client:
    """Runs commands one after another, and signs in whenever one is refused for want of a token or a scope."""

    def __init__(self, plugin: DrivenPlugin, *, signs_in: bool) -> None:
        self._plugin = plugin
        self._signs_in = signs_in

    def run(self, command: str, **given: Any) -> dict[str, Any]:
        """Run a command to its success. Raises SystemExit when it does not succeed."""
        result = self._step(command, given)
        while self._signs_in and status(result) in CHALLENGED:
            self.sign_in()
            result = self._step(command, given)
        if result["status"] != "succeeded":
            raise SystemExit(1)
        return result

    def sign_in(self) -> None:
        for half in ("oauth_begin", "oauth_finish"):
            result = self._step(half, {})
            for attempt in result["facts"].get("signIn", ()):
                print("   ", *attempt.values(), flush=True)
            if result["status"] != "succeeded":
                raise SystemExit(1)

    def _step(self, command: str, given: Mapping[str, Any]) -> dict[str, Any]:
        arguments = {name: value if isinstance(value, str) else encode(value).decode() for name, value in given.items()}
        result = self._plugin.run(command, **arguments)
        print(command, result["status"], result["message"], flush=True)
        return result


def status(result: dict[str, Any]) -> int | None:
    http = result["facts"].get("http") or {}
    found = http.get("status")
    return int(bytes(found)) if found is not None else None


def plugin() -> DrivenPlugin:
    return DrivenPlugin(program(), consent=browse)


def demanded(url: str) -> list[str]:
    """Look at a server without a token: which scopes a refusal asks for, of another request than `initialize`.

    A sign-in finds out by itself what `initialize` is refused with.
    """
    with plugin() as anonymous:
        anonymous.bind(url)
        if anonymous.run("connect")["status"] != "succeeded":
            return []
        result = anonymous.run("tools")
        anonymous.run("disconnect")
    challenges = (result["facts"].get("http") or {}).get("challenge") or []
    return [scope for each in challenges for scope in each["parameters"].get("scope", "").split()]


def issuer(url: str) -> str:
    """Look up which issuer a server means: a secret is shown to none that nobody has named."""
    with plugin() as anonymous:
        anonymous.bind(url, LOOPBACK)
        facts = anonymous.ask("discover", {"alias": "api"})["facts"]
    # One that is for clients with a secret alone lacks what `discover` looks for; the suite's have no path.
    place: str = facts["signIn"][-1]["url"]
    return str(facts["found"]["issuer"]) if "found" in facts else place.partition("/.well-known/")[0]


def main() -> int:
    scenario, url = os.environ["MCP_CONFORMANCE_SCENARIO"], sys.argv[-1]
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    signs_in = scenario.startswith("auth/")
    with plugin() as driven:
        configuration = binding(scenario, context, demanded(url) if signs_in else [])
        if "clientSecret" in configuration.get("oauth", {}):
            configuration["oauth"]["issuer"] = issuer(url)
        driven.bind(url, LOOPBACK if signs_in else (), **configuration)
        client = Client(driven, signs_in=signs_in)
        if signs_in:
            client.sign_in()
        client.run("connect")
        STEPS.get(scenario, call_first_tool)(client)
        client.run("disconnect")
    return 0


def call_first_tool(client: Client) -> None:
    entries = client.run("tools")["display"]["entries"]
    client.run("call", tool=entries[0]["name"])


def add_numbers(client: Client) -> None:
    client.run("tools")
    client.run("call", tool="add_numbers", arguments={"a": 5, "b": 3})


def echo_schema(client: Client) -> None:
    entries = {entry["name"]: entry for entry in client.run("tools")["display"]["entries"]}
    schema = entries["json_schema_2020_12_tool"]["inputSchema"]
    client.run("call", tool="json_schema_echo", arguments={"schema": schema})


#: Scenario -> what is done between `connect` and `disconnect`, where that is not to call the first tool.
STEPS: Mapping[str, Callable[[Client], Any]] = {
    "initialize": lambda client: client.run("tools"),
    "tools_call": add_numbers,
    "json-schema-2020-12-preservation": echo_schema,
}


if __name__ == "__main__":
    sys.exit(main())
