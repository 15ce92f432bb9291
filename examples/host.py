"""A whole host in the standard library: `python examples/host.py URL [PLUGIN…]` inspects the example server."""

import itertools
import json
import subprocess
import sys
from typing import Any
from urllib.parse import urlsplit

if not sys.argv[1:]:
    sys.exit(__doc__)
url, *command = sys.argv[1:]
plugin = subprocess.Popen(
    command or [sys.executable, "-m", "plugin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
)
ids = itertools.count(1)


def ask(method: str, **params: Any) -> Any:
    """Send one request, skip the plugin's own messages, and return what it answers."""
    request = {"jsonrpc": "2.0", "id": next(ids), "method": method, "params": params}
    print(json.dumps(request), file=plugin.stdin, flush=True)
    for line in plugin.stdout or ():
        message = json.loads(line)
        if message.get("id") == request["id"] and "method" not in message:
            if "error" in message:
                sys.exit(f"{method}: {message['error']['message']}")
            return message["result"]
    sys.exit("The plugin ended without an answer.")


def step(command: str, **arguments: str) -> None:
    """Run one command as the identity `api` and print how it went."""
    result = ask("run", alias="api", command=command, arguments=arguments)
    print(f"{result['status']:<9} {command:<10} {result['message']}")


origin = "{0.scheme}://{0.netloc}".format(urlsplit(url))
host = {"name": "forty-lines", "version": "1"}
ask("initialize", protocol=1, host=host, origins=[origin], bindings={"api": {"endpoint": url}})
step("connect")
step("tools", expect='{"present":["search_tickets"]}')
step("call", tool="search_tickets", arguments='{"query":"refund"}', expect='{"isError":false}')
step("disconnect")
ask("shutdown")
