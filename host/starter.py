"""The texts that `assay init` writes: settings, a first flow, bindings and what version control ignores. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

__all__ = ["IGNORED", "Listed", "bindings_text", "flow_text", "listed", "settings_text"]

#: Stands in the settings until there is a server.
EXAMPLE_TARGET: Final = "http://localhost:8000/mcp"
#: Tools that the first flow expects by name; more would bury what it shows.
_EXPECTED: Final = 50
#: Characters of the server's name in the flow's.
_NAME_SHOWN: Final = 80
IGNORED: Final = """\
# What runs keep
.assay/
# Who connects. It may be committed when each private field in it is {"env": "NAME"}.
bindings.json
"""


_SEEN: Final = """\
The server lists its tools. What is expected here was there when `assay init` looked; a tool that is gone fails the
step."""
_UNSEEN: Final = """\
The server lists its tools. Write what has to be among them: `api.tools expect={"present":["NAME"]}`."""


class Listed(NamedTuple):
    """A tool as the server lists it, so far as a first flow needs it; ``required`` are its required arguments."""

    name: str
    read_only: bool
    required: tuple[str, ...]


def listed(entries: Sequence[Any]) -> tuple[Listed, ...]:
    """Return the tools of an inventory's redacted entries that can be named: each once, nothing private in its name."""
    found: dict[str, Listed] = {}
    for entry in entries:
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and name and "[redacted]" not in name:
            hints, schema = entry.get("annotations"), entry.get("inputSchema")
            read_only = isinstance(hints, dict) and hints.get("readOnlyHint") is True
            required = schema.get("required") if isinstance(schema, dict) else None
            names = [each for each in required if isinstance(each, str)] if isinstance(required, list) else []
            found.setdefault(name, Listed(name, read_only, tuple(names)))
    return tuple(found.values())


def settings_text(target: str | None, *, private: str | None = None) -> str:
    """Return `assay.toml`. ``private`` is the origin of a server whose URL is private: the bindings hold that URL."""
    if private is not None:
        return f"""\
# Settings of this project. Options and ASSAY_TARGET win over them.
# The server's URL is private: it is the `endpoint` in bindings.json, and this file is for everybody.
allow_origins = [{_quoted(private)}]
# bindings = "bindings.json"
# evidence = ".assay"
"""
    return f"""\
# Settings of this project. Options and ASSAY_TARGET win over them.
target = {_quoted(target or EXAMPLE_TARGET)}
# bindings = "bindings.json"
# allow_origins = ["https://auth.example.com"]
# evidence = ".assay"
"""


def bindings_text(configuration: Mapping[str, Any]) -> str:
    """Return `bindings.json` with one alias, `api`; ``configuration`` holds `{{"env": NAME}}` for private values."""
    fields = {"timeoutMs": 15000, **configuration}
    return json.dumps({"api": {"provider": "MCP", "configuration": fields}}, indent=2) + "\n"


def flow_text(server: str | None, tools: Sequence[Listed], headers: Mapping[str, str]) -> str:
    """Return the first flow. It connects, lists tools and disconnects: nothing that may change something is called."""
    connect = f"api.connect headers={_argument(dict(headers))}" if headers else "api.connect"
    expected = [tool.name for tool in tools[:_EXPECTED]]
    listing = f"api.tools expect={_argument({'present': expected})}" if expected else "api.tools"
    return f"""\
---
name: {_quoted(_title(server))}
providers:
  api: MCP
---

# What this identity can use

{_SEEN if expected else _UNSEEN}
`assay run flows --update-baseline` makes every later change of a tool show as well.

```rfl
{connect}
{listing} # inventory
```
{_advice(tools)}
# Cleanup

```rfl
api.disconnect
```
"""


def _advice(tools: Sequence[Listed]) -> str:
    """Show how a tool is called, by one that says that it only reads; `assay init` calls none.

    It is a section without commands: it is for the reader of the file, and no part of what runs or of a report.
    """
    tool = next((each for each in tools if each.read_only), None)
    if tool is None:
        return ""
    arguments = _argument(dict.fromkeys(tool.required, "…"))
    return f"""
# How a tool is called

A call is written like this; put it into a block tagged `rfl`, with arguments of your own:

```text
api.call tool={_argument(tool.name)} arguments={arguments} expect={{"isError":false}}
```
"""


def _title(server: str | None) -> str:
    """Return a name for the flow; of the server's name, what is visible and not too long."""
    visible = "".join(character for character in server or "" if character.isprintable()).strip()
    return f"What {visible[:_NAME_SHOWN]} offers" if visible else "What the server offers"


def _quoted(text: str) -> str:
    """Return a text between double quotes as JSON, TOML and YAML all read it; it is legible where it is printable."""
    return json.dumps(text, ensure_ascii=not text.isprintable())


def _argument(value: Any) -> str:
    """Return a value as an argument: a string, or an object that stands bare. `$${` is a literal `${`."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return (text if text.isprintable() else json.dumps(value, separators=(",", ":"))).replace("${", "$${")
