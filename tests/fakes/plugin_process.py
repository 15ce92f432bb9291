"""A plugin that behaves, or misbehaves, as its behaviour says: the host's opposite in tests. Standard library only.

`plugin_process.py --behaviour FILE`. The behaviour is JSON: {"commands": {"api.tools" or "tools": [turn,
…]}, "check": {…}, "initialize": [op, …], "shutdown": [op, …], "log": FILE, "describe": {…}}. Each run of a command
takes its next turn, the last one again and again; a turn is a list of operations (see OPERATIONS), and a command
without turns succeeds.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

TEXT: dict[str, object] = {"type": "string"}
OBJECT: dict[str, object] = {
    "type": "string",
    "contentMediaType": "application/json",
    "contentSchema": {"type": "object"},
}
PLACE: dict[str, dict[str, object]] = {"path": TEXT, "tokenFile": TEXT}
EFFECTS = {
    "connect": "observe",
    "tools": "observe",
    "call": "mutate",
    "call_value": "mutate",
    "disconnect": "mutate",
    "oauth_begin": "mutate",
    "oauth_finish": "mutate",
    "click": "mutate",
}
ARGUMENTS: dict[str, tuple[dict[str, dict[str, object]], list[str]]] = {
    "connect": ({"headers": OBJECT, "expect": OBJECT, **PLACE}, []),
    "tools": ({"expect": OBJECT, **PLACE}, []),
    "call": ({"tool": TEXT, "arguments": OBJECT, "expect": OBJECT, **PLACE}, ["tool"]),
    "call_value": ({"tool": TEXT, "arguments": OBJECT, "select": TEXT, "expect": OBJECT, **PLACE}, ["tool", "select"]),
    "disconnect": (PLACE, []),
    "oauth_begin": ({"path": TEXT}, []),
    "oauth_finish": ({}, []),
    "click": ({"selector": TEXT}, []),
}
AFTER = {"disconnect": "disconnected", "oauth_begin": "none", "oauth_finish": "none"}
PRIVATE = {"type": "string", "writeOnly": True}


def description(provider):
    """Return what --describe prints."""
    return {
        "protocol": 1,
        "plugin": {"name": "fake", "version": "1", "provider": provider},
        "configuration": {
            "type": "object",
            "properties": {
                "endpoint": PRIVATE,
                "bearerToken": PRIVATE,
                "oauth": {"type": ["object", "string"], "writeOnly": True},
                "timeoutMs": {"type": "integer"},
            },
            "required": ["endpoint"],
            "additionalProperties": False,
        },
        "commands": [
            {
                "name": name,
                "effect": EFFECTS[name],
                "summary": f"Does {name}.",
                "capture": name == "call_value",
                "arguments": {
                    "type": "object",
                    "properties": {key: {**schema, "description": key} for key, schema in properties.items()},
                    "required": required,
                    "additionalProperties": False,
                },
                "expect": {"type": "object", "properties": {"isError": {}}, "additionalProperties": False},
            }
            for name, (properties, required) in ARGUMENTS.items()
        ],
        "codes": [{"code": "tool_error", "meaning": "The tool failed.", "remedy": "Look.", "exit": 1}],
    }


class Plugin:
    """Reads lines on one thread and answers runs on another, so that `cancel` is seen while a command runs."""

    def __init__(self, behaviour):
        self.behaviour = behaviour
        self.provider = behaviour.get("provider", "MCP")
        self.turns = {name: list(turns) for name, turns in behaviour.get("commands", {}).items()}
        self.cancelled = threading.Event()
        self.answered = threading.Event()
        self.lock = threading.Lock()
        self.running = None

    def log(self, entry):
        if "log" in self.behaviour:
            with Path(self.behaviour["log"]).open("a") as file:
                file.write(json.dumps(entry) + "\n")

    def write(self, text):
        with self.lock:
            sys.stdout.write(text)
            sys.stdout.flush()

    def send(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")

    def serve(self):
        self.log({"pid": os.getpid(), "environment": sorted(os.environ), "argv": sys.argv[3:]})
        for line in sys.stdin:
            message = json.loads(line)
            self.log(message)
            method = message.get("method")
            if method == "run":
                self.cancelled.clear()
                self.running = threading.Thread(target=self.run, args=(message,), daemon=True)
                self.running.start()
            elif method == "cancel":
                self.cancelled.set()
            elif method is None:
                self.answered.set()
            elif "id" in message and "method" in message and self.answer(message, method):
                return
        self.log({"end": "input"})
        self.perform(self.behaviour.get("end", []), {"id": None, "params": {}})

    def answer(self, message, method):
        ops = self.behaviour.get(method, [])
        if method == "initialize":
            info = {"name": "fake", "version": "1", "provider": self.provider}
            self.perform(ops, message) or self.send({"id": message["id"], "result": {"protocol": 1, "plugin": info}})
        elif method == "check":
            params = message["params"]
            refused = self.behaviour.get("check", {}).get(params["command"])
            effect = {"effect": EFFECTS[params["command"]]}
            self.send({"id": message["id"], **({"error": refused} if refused else {"result": effect})})
        elif method in ("consent/show", "consent/close"):
            self.perform(ops, message) or self.send({"id": message["id"], "result": {}})
        elif method == "discover":
            self.perform(ops, message) or self.reply(message, {})
        elif method == "compare":
            self.perform(ops, message) or self.send({"id": message["id"], "result": compare(**message["params"])})
        elif method == "shutdown":
            self.perform(ops, message) or self.send({"id": message["id"], "result": {}})
            return True
        return False

    def run(self, message):
        params = message["params"]
        name = params["command"]
        turns = self.turns.get(f"{params['alias']}.{name}", self.turns.get(name, [[]]))
        ops = turns.pop(0) if len(turns) > 1 else turns[0]
        if not self.perform(ops, message):
            self.reply(message, {})

    def perform(self, ops, message):
        """Carry out operations in order; tell whether one of them answered."""
        answered = False
        for op in ops:
            for name, value in op.items():
                answered = bool(OPERATIONS[name](self, message, value)) or answered
        return answered

    def reply(self, message, value):
        command = message["params"].get("command", "")
        facts = {"connection": AFTER.get(command, "open")}
        result = {
            "status": "succeeded",
            "code": None,
            "message": f"Did {command}.",
            "effect": EFFECTS.get(command, "observe"),
            "state": None,
            "facts": facts,
        }
        if command == "tools":
            result["state"] = inventory([])
        if command == "call_value":
            result["capture"] = "value"
        result |= value
        if "tools" in result:
            result["state"] = inventory(result.pop("tools"))
        self.send({"id": message["id"], "result": result})
        return True

    def spawn(self, message, value):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        self.log({"spawned": child.pid})


def inventory(entries):
    """Return the state of a tools step; entries are names, or objects with a name."""
    records = [entry if isinstance(entry, dict) else {"name": entry, "description": None} for entry in entries]
    return {
        "inventory": "tools",
        "declared": True,
        "complete": True,
        "count": len(records),
        "entries": sorted(records, key=lambda record: record["name"]),
    }


def compare(inventory, before, after):
    """Return the diff of two tools states: a tool that is gone is breaking, another text is routing."""
    old, new = ({entry["name"]: entry for entry in state["entries"]} for state in (before, after))
    return {
        "inventory": inventory,
        "added": [{"name": name, "class": "additive"} for name in new if name not in old],
        "removed": [{"name": name, "class": "breaking"} for name in old if name not in new],
        "changed": [
            {"name": name, "changes": [{"field": "description", "class": new[name].get("class", "routing")}]}
            for name in new
            if name in old and new[name] != old[name]
        ],
    }


def wait_for_cancel(plugin, message, value):
    plugin.cancelled.wait()
    effect = EFFECTS[message["params"]["command"]]
    status = "unknown" if effect == "mutate" else "failed"
    return plugin.reply(message, {"status": status, "code": "cancelled", "message": "Cancelled.", **(value or {})})


def consent(plugin, message, value):
    """Ask the host for a consent page, and wait for its answer; what it was stands in the log."""
    plugin.answered.clear()
    plugin.send({"id": "plugin-1", "method": "consent/open", "params": value})
    plugin.answered.wait()


def stall(plugin, message, value):
    threading.Event().wait()


def ignore_signals(plugin, message, value):
    plugin.log({"ignoring": True})


def wait_for_file(plugin, message, value):
    until = time.monotonic() + 30
    while not Path(value).exists() and time.monotonic() < until:
        time.sleep(0.01)


def pad(plugin, message, value):
    plugin.write("x" * value + "\n")


OPERATIONS = {
    "result": Plugin.reply,
    "raw_result": lambda plugin, message, value: plugin.send({"id": message["id"], "result": value}) or True,
    "error": lambda plugin, message, value: plugin.send({"id": message["id"], "error": value}) or True,
    "wrong_id": lambda plugin, message, value: plugin.send({"id": value, "result": {}}) or True,
    "exit": lambda plugin, message, value: os._exit(value),
    "kill": lambda plugin, message, value: os.kill(os.getpid(), signal.SIGKILL),
    "garbage": lambda plugin, message, value: plugin.write(value),
    "pad": pad,
    "learn": lambda plugin, message, value: plugin.send({"method": "secrets/learnt", "params": {"values": value}}),
    "notify": lambda plugin, message, value: plugin.send(value),
    "request": lambda plugin, message, value: plugin.send({"id": "plugin-1", **value}),
    "consent": consent,
    "stderr": lambda plugin, message, value: print(value, file=sys.stderr, flush=True),
    "close": lambda plugin, message, value: os.close(1),
    "touch": lambda plugin, message, value: Path(value).touch(),
    "wait_for_file": wait_for_file,
    "wait_for_cancel": wait_for_cancel,
    "spawn": Plugin.spawn,
    "stall": stall,
}


def main():
    behaviour = json.loads(Path(sys.argv[2]).read_text())
    if behaviour.get("ignore_sigterm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    Plugin(behaviour).serve()


if __name__ == "__main__":
    main()
