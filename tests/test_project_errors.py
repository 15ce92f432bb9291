"""docs/errors.md lists every code with its meaning, remedy and exit status, and nothing else."""

from pathlib import Path

from protocol.failures import CODES, Code

PAGE = Path(__file__).resolve().parents[1] / "docs" / "errors.md"


def test_every_code_has_an_entry() -> None:
    assert set(CODES) == set(Code)


def test_the_page_lists_every_code_as_the_table_has_it() -> None:
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    expected = [f"| `{code}` | {entry.meaning} | {entry.remedy} | {entry.exit} |" for code, entry in CODES.items()]
    assert rows == expected
