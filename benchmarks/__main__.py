"""Measures and writes benchmarks/RESULTS.md and results.svg: `python -m benchmarks [PART…]` (see README.md).

Named parts are measured and printed, and nothing is written.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import calls, flows, inventories, memory, sessions, starts, streams
from benchmarks.page import line, page
from benchmarks.picture import picture
from benchmarks.programs import Plugin, measured
from benchmarks.row import Row

FOLDER = Path(__file__).parent

PARTS: dict[str, Callable[[Plugin], Iterator[Row]]] = {
    "starts": starts.rows,
    "sessions": sessions.rows,
    "calls": calls.rows,
    "inventories": inventories.rows,
    "streams": streams.rows,
    "memory": memory.rows,
    "flows": flows.rows,
}


def main(wanted: list[str]) -> int:
    unknown = [name for name in wanted if name not in PARTS]
    if unknown:
        print(f"There is no part {unknown[0]}; there are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    found = []
    for name in wanted or PARTS:
        for row in PARTS[name](measured()):
            print(line(row), flush=True)
            found.append(row)
    if not wanted:
        (FOLDER / "RESULTS.md").write_text(page(found), encoding="utf-8")
        (FOLDER / "results.svg").write_text(picture(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
