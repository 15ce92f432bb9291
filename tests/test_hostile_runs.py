"""A connection that is cut in the middle of a call, seen from the command line: unknown once, and then only the end."""

import pytest

from tests.command_line import Assay
from tests.fakes.hostile_server import hostile, seen_at

FLOW = """---
name: Cut
providers:
  api: MCP
---

# Call

```rfl
api.connect
api.call tool="t" # first
api.call tool="t" # second
```

# Later

```rfl
api.tools
```

# The end

```rfl
api.disconnect
```
"""
CUTS = ("closes-before-the-head", "closes-between-events", "closes-in-a-chunk", "answers-twice", "closes-in-the-body")


@pytest.mark.requirement("commands.unknown", "closing.lost", "closing.delete")
@pytest.mark.parametrize("name", CUTS)
def test_a_call_that_is_cut_is_unknown_once_and_only_the_disconnect_follows(assay: Assay, name: str) -> None:
    with hostile() as server:
        ran = assay.run(assay.write("f.md", FLOW), "--target", f"{server.origin}/{name}")
        seen = list(seen_at(server, name))
    assert ran.statuses == [
        "connect succeeded",
        f"call unknown {'reply_ambiguous' if name == 'answers-twice' else 'reply_lost'}",
        "call skipped",
        "tools skipped",
        "disconnect succeeded",
    ], ran.out + ran.err
    assert ran.exit == 3
    assert (seen.count("tools/call"), seen.count("tools/list"), seen.count("DELETE")) == (1, 0, 1)
