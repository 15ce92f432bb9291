"""The client under test: a small host that drives the real plugin executable through one conformance scenario.

The suite appends the server's URL to the command line and names the scenario in the environment.
"""

import json
import os
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from tests.driven_plugin import SOURCE, DrivenPlugin

#: Names the plugin to test; the default is the source tree's.
PLUGIN_VARIABLE = "ASSAY_CONFORMANCE_PLUGIN"

#: Scenario -> the commands between `connect` and `disconnect`, each with its arguments.
STEPS: Mapping[str, tuple[tuple[str, Mapping[str, Any]], ...]] = {
    "initialize": (("tools", {}),),
    "tools_call": (("tools", {}), ("call", {"tool": "add_numbers", "arguments": {"a": 5, "b": 3}})),
}


def main() -> int:
    steps = STEPS[os.environ["MCP_CONFORMANCE_SCENARIO"]]
    statuses = []
    with DrivenPlugin(shlex.split(os.environ.get(PLUGIN_VARIABLE, "")) or SOURCE) as plugin:
        plugin.bind(sys.argv[-1])
        for command, given in (("connect", {}), *steps):
            arguments = {name: value if isinstance(value, str) else json.dumps(value) for name, value in given.items()}
            result = plugin.run(command, **arguments)
            print(command, result["status"], result["message"], flush=True)
            statuses.append(result["status"])
        plugin.run("disconnect")
    return int(set(statuses) != {"succeeded"})


if __name__ == "__main__":
    sys.exit(main())
