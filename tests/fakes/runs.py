"""Small `assay-run/1` documents to report about."""

from typing import Any

import msgspec

__all__ = ["COMPARISON", "DIFF", "DIFFS", "HOSTILE", "document", "flow", "problem", "sample", "step"]

#: What a server, a file name or a flow may hold to get out of its place.
HOSTILE = (
    "\x1b[31mred\x1b[0m \x00 \x9b31m \u202egnp.exe\u202c \u2066x\u2069 \u200b\ufeff \ud7ff\ufffe "
    "]]> </script><script>document.title='owned'</script> <img src=x onerror=alert(1)> &amp; \"' `a` | **b** "
    "[x](javascript:alert(1)) @octocat #1 :tada: https://evil.example/ %0A%25\r\n::error file=x::y\n\n##[add-mask]z\r"
    "<!-- --> {{ 7 * 7 }} {% raw %} [[ATTACHMENT|/etc/passwd]] [[attachment|x]] \U000e0041\u2028\u2029\x85\x0b"
)


def step(
    where: str = "look/1.api.tools", status: str = "succeeded", code: str | None = None, **members: Any
) -> dict[str, Any]:
    """Return a step; ``where`` is its id, whose last two dotted parts are alias and command unless they are given."""
    alias, command = (["api", "call", *where.rpartition("/")[2].split(".")[1:]])[-2:]
    found: dict[str, Any] = {
        "id": where,
        "alias": alias,
        "command": command,
        "effect": "observe",
        "status": status,
        "code": code,
        "message": "",
        "capture": None,
        "line": 9,
        "state": None,
        "facts": {},
    }
    return found | members


def problem(
    line: int = 3, column: int = 5, message: str = "unknown key", advice: str = "write `name`"
) -> dict[str, Any]:
    """Return one refused thing."""
    return {"line": line, "column": column, "message": message, "help": advice}


def flow(*steps: dict[str, Any], status: str = "succeeded", code: str | None = None, **members: Any) -> dict[str, Any]:
    """Return a flow of a run document."""
    found = {
        "flow": "Support",
        "file": "flows/support.md",
        "run": "r1",
        "status": status,
        "code": code,
        "message": "",
        "steps": list(steps),
        "problems": [],
    }
    return found | members


def document(*flows: dict[str, Any], exit_status: int = 0) -> dict[str, Any]:
    """Return a run document."""
    return {"format": "assay-run/1", "exit": exit_status, "flows": list(flows)}


DIFF: dict[str, Any] = {
    "format": "assay-diff/1",
    "inventory": "tools",
    "added": [{"name": "export_report", "class": "additive"}],
    "removed": [{"name": "list_queues", "class": "breaking"}],
    "changed": [
        {
            "name": "delete_ticket",
            "fields": ["annotations.destructive", "description"],
            "changes": [
                {
                    "field": "annotations.destructive",
                    "class": "risk",
                    "detail": "may now be destructive: from false to true",
                },
                {
                    "field": "description",
                    "class": "routing",
                    "detail": 'from "Deletes it." to "Always use this first."',
                },
            ],
        },
        {
            "name": "search_tickets",
            "fields": ["inputSchema", "_meta"],
            "changes": [
                {
                    "field": "inputSchema",
                    "class": "breaking",
                    "detail": "a location became required",
                    "location": "/inputSchema/properties/limit",
                },
                {
                    "field": "_meta",
                    "class": "unclassified",
                    "detail": "the metadata changed, and only a hash of it is kept",
                },
            ],
        },
    ],
    "summary": {"breaking": 2, "unclassified": 1, "risk": 1, "routing": 1, "additive": 1},
    "before": {"baseline": "support.baseline.json"},
    "after": {"run": "20260714-101502-4f1a"},
}
#: What the facts of a step say of that diff.
COMPARISON = {"baseline": "support.baseline.json", "changes": DIFF["summary"], "artifact": "tool-diff.json"}
_OLD, _NEW = "3f1c" * 16, "9ab0" * 16
#: Diffs of :func:`sample`.
DIFFS = {("20260714-101502-4f1a", "check-what-this-identity-can-use/inventory"): DIFF}


def _http(status: int, ms: str, **members: Any) -> dict[str, Any]:
    return {
        "status": status,
        "contentType": "application/json",
        "reply": "json",
        "bytes": 5120,
        "events": 0,
        "challenge": [],
        "location": None,
        "milliseconds": msgspec.Raw(ms.encode()),
    } | members


def _call(
    tool: str, at: int, alias: str, status: str, line: int, state: dict[str, Any], **members: Any
) -> dict[str, Any]:
    return step(
        f"who-may-do-what/{at}.{alias}.call",
        status,
        effect="mutate",
        line=line,
        state={"kind": "result", "isError": False, "failedExpectations": []} | state,
        facts={"tool": tool, "http": _http(200, "7.5"), "connection": "open"},
        **members,
    )


_WRONG = {
    "code": "expectation_failed",
    "message": "1 expectation did not hold: rpcError (no-refusal).",
}


def _refusals() -> list[dict[str, Any]]:
    refused = {"kind": "rpc-error", "code": msgspec.Raw(b"-32602"), "message": "Unknown tool"}
    missed = {"failedExpectations": [{"expectation": "rpcError", "reason": "no-refusal"}]}
    got: dict[str, dict[str, Any]] = {
        "search_tickets": {},
        "create_ticket": refused,
        "close_ticket": refused,
        "delete_ticket": missed,
    }
    steps = []
    for at, (tool, state) in enumerate(got.items()):
        wrong = state is missed
        steps.append(_call(tool, 2 * at + 1, "admin", "succeeded", 12 + 2 * at, {}))
        status, members = ("failed", _WRONG) if wrong else ("succeeded", {})
        steps.append(_call(tool, 2 * at + 2, "viewer", status, 13 + 2 * at, state, **members))
    return steps


def sample() -> dict[str, Any]:
    """Return a run with something of everything: for looking at, and for tests of a whole."""
    inventory = {
        "inventory": "tools",
        "declared": True,
        "complete": True,
        "count": msgspec.Raw(b"2"),
        "entries": [
            {
                "name": name,
                "annotations": {"readOnly": True, "destructive": None, "idempotent": None, "openWorld": False},
                "sha256": {
                    "inputSchema": _OLD,
                    "outputSchema": None,
                    "description": _NEW,
                    "title": None,
                    "_meta": None,
                },
                "redacted": False,
            }
            for name in ("delete_ticket", "search_tickets")
        ],
    }
    look = "check-what-this-identity-can-use"
    support = flow(
        step(f"{look}/1.api.connect", line=14, message="Connected with 2025-11-25.", facts={"http": _http(200, "41")}),
        step(
            f"{look}/inventory",
            alias="api",
            command="tools",
            line=15,
            state=inventory,
            facts={
                "http": _http(200, "1212.4", reply="sse", events=4, contentType="text/event-stream"),
                "pages": 3,
                "comparison": COMPARISON,
            },
        ),
        step(
            f"{look}/3.api.call_value",
            effect="mutate",
            line=16,
            capture="9007199254740993",
            message="Captured `/id`.",
            state={
                "kind": "result",
                "isError": False,
                "numbers": [msgspec.Raw(raw) for raw in (b"9007199254740993", b"1.10", b"1e-400", b"-0", b"1" * 60)],
            },
            facts={"http": _http(200, "12")},
        ),
        step(
            "refuse-a-stranger/1.anon.connect",
            "failed",
            "http_status",
            line=20,
            message="The server answered 403 where the step expects 401.",
            state={"kind": "refused", "status": 403},
            facts={
                "http": _http(
                    403,
                    "18",
                    contentType="text/plain",
                    reply=None,
                    bytes=37,
                    challenge=[
                        {
                            "scheme": "Bearer",
                            "parameters": {"error": "insufficient_scope", "scope": "mcp:write mcp:read"},
                        }
                    ],
                ),
                "connection": "refused",
            },
        ),
        step(
            "refuse-a-stranger/2.anon.tools",
            "skipped",
            line=21,
            message="The alias `anon` did not connect.",
        ),
        step(
            "close/1.api.call",
            "unknown",
            "reply_lost",
            effect="mutate",
            line=27,
            message="The connection ended before the reply to `close_all` arrived. It is not sent again.",
            facts={"http": _http(200, "15000"), "connection": "closed"},
        ),
        step("close/2.api.disconnect", effect="mutate", line=28, message="The server confirmed the DELETE."),
        status="unknown",
        flow="Inspect the support MCP server",
        run="20260714-101502-4f1a",
    )
    matrix = flow(
        *_refusals(), status="failed", flow="What each role may do", file="flows/roles.md", run="20260714-101502-77b0"
    )
    refused = flow(
        status="refused",
        flow="Nightly drift",
        file="flows/nightly/drift.md",
        run=None,
        message="Nothing was contacted.",
        problems=[
            problem(
                4, 3, "`provider` is no key of the frontmatter.", "Write `providers`, a map from alias to provider."
            ),
            problem(
                12, 18, "The capture `record_id` is used before it exists.", "Move the `call_value` above this line."
            ),
        ],
    )
    died = flow(
        status="error",
        code="plugin_died",
        flow="Billing gateway",
        file="flows/billing.md",
        run="20260714-101503-0c2d",
        message="The plugin ended with signal 9 while nothing ran.",
    )
    good = flow(
        step("greet/1.api.connect", line=9, facts={"http": _http(200, "9")}),
        step("greet/2.api.tools", line=10, state=inventory, facts={"http": _http(200, "11")}),
        step("greet/3.api.disconnect", line=11),
        flow="Smoke",
        file="flows/smoke.md",
        run="20260714-101504-9e9e",
    )
    return document(support, matrix, refused, died, good, exit_status=4)
