"""docs/contract.md lists refusals, verbs, diagnostics and limits as the code has them; and what the examples are."""

import json
import re
import subprocess
import sys
from pathlib import Path

from contract.core.admitted_schema import CHOICE_LIMIT, ITEM_LIMIT, LENGTH_LIMIT
from contract.core.catalog import TOOL_LIMIT
from contract.core.document import CALL, CATALOG, REGISTRY
from contract.core.endpoint import HOST_LIMIT, PATH_LIMIT
from contract.core.identifier import IDENTIFIER_LIMIT
from contract.core.projection import FIELD_LIMIT, OUTPUT_LIMIT, TOKEN_LIMIT, VALUE_LIMIT
from contract.core.qualification import Diagnostic
from contract.core.refusal import SENTENCES
from contract.core.registry import ROUTE_LIMIT
from contract.core.route import LIMITS
from contract.core.schema import DEPTH_LIMIT, NODE_LIMIT, PROPERTY_LIMIT, SIZE_LIMIT
from contract.core.upstream_schema import ANNOTATION_LIMIT
from contract.core.upstream_schema import CHOICE_LIMIT as UPSTREAM_CHOICE_LIMIT
from contract.core.widest import CHANGES
from contract.verbs import VERBS
from tests.command_line import Assay

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
TEXT = " ".join(PAGE.split())


def test_the_page_lists_every_refusal_with_its_sentence() -> None:
    rows = PAGE.partition("| refusal | sentence |\n|---|---|\n")[2].splitlines()
    assert rows == [f"| `{refusal}` | {told.replace('|', chr(92) + '|')} |" for refusal, told in SENTENCES.items()]


def test_the_page_lists_every_verb_and_diagnostic() -> None:
    for name, verb in VERBS.items():
        option = r" [--domain assay\|opaque]" if verb.domain else ""
        assert f"`assay contract {name}{option} {' '.join(kind.name.upper() for kind in verb.documents)}`" in PAGE
    assert re.findall(r"^  \| `(\w+)` \|", PAGE, re.MULTILINE) == list(Diagnostic)


def test_the_page_lists_every_change_that_a_pin_makes() -> None:
    rows = PAGE.partition("| change | what a person has to look at |\n|---|---|\n")[2].partition("\n\n")[0].splitlines()
    assert rows == [f"| `{change}` | {told} |" for change, told in CHANGES.items()]


def test_the_page_says_every_limit() -> None:
    said = [
        f"{REGISTRY.limit >> 20} MiB (registry), {CATALOG.limit >> 10} KiB (catalog) or {CALL.limit >> 10} KiB (call)",
        f"`routes` has 1 to {ROUTE_LIMIT} entries",
        f"has 1 to {IDENTIFIER_LIMIT} characters out of",
        f"A *host* has at most {HOST_LIMIT} characters",
        f"begins with `/` and has at most {PATH_LIMIT} characters",
        f"at most {DEPTH_LIMIT} steps deep and of at most {NODE_LIMIT} parts",
        f"at most {SIZE_LIMIT >> 10} KiB in its canonical form",
        f"`properties` (at most {PROPERTY_LIMIT})",
        f"`maxLength` at most {LENGTH_LIMIT};",
        f"`maxItems` at most {ITEM_LIMIT};",
        f"An admitted `enum` has 1 to {CHOICE_LIMIT} values of its type, an upstream one 1 to {UPSTREAM_CHOICE_LIMIT} ",
        f"strings of at most {ANNOTATION_LIMIT >> 10} KiB",
        f"of 1 to {FIELD_LIMIT} fields",
        f"one of 1 to {VALUE_LIMIT} different tokens of 1 to {TOKEN_LIMIT} characters",
        f"At most {OUTPUT_LIMIT} bytes are disclosed",
        f"At most {TOOL_LIMIT} tools",
        *(f"| `{name}` | 1 to {largest} |" for name, largest in LIMITS.items()),
    ]
    assert [limit for limit in said if limit not in TEXT] == []


def test_a_catalog_is_made_from_what_inspect_writes_as_the_page_tells(assay: Assay, example_server: str) -> None:
    program = re.findall(r"^python3 -c '(.*)' < inspected\.json > catalog\.json$", PAGE, re.MULTILINE)
    inspected = assay("inspect", example_server, "--json")
    assert inspected.exit == 0, inspected.err
    made = subprocess.run(
        [sys.executable, "-c", *program], input=inspected.out, stdout=subprocess.PIPE, text=True, check=True
    )
    catalog = assay.write("catalog.json", made.stdout)
    ran = assay("contract", "qualify", ROOT / "examples" / "contract" / "desk-registry.json", catalog)
    assert (ran.exit, json.loads(ran.out)["routes"]) == (
        0,
        [{"route": "desk.search", "compatible": True, "diagnostic": "pinned_schema_matches"}],
    )


def test_the_example_is_a_comment_with_open_strings_descriptions_and_an_upstream_number() -> None:
    folder = ROOT / "examples" / "contract"
    route = json.loads((folder / "registry.json").read_text(encoding="utf-8"))["routes"][0]
    listed = json.loads((folder / "catalog.json").read_text(encoding="utf-8"))["result"]["tools"]
    drifted = json.loads((folder / "drifted-catalog.json").read_text(encoding="utf-8"))["result"]["tools"]
    admitted, upstream = route["input_schema"]["properties"], route["upstream_input_schema"]["properties"]
    assert (admitted["ticket"]["type"], upstream["ticket"]["type"]) == ("integer", "number")
    assert "maxLength" in admitted["body"]
    assert "maxLength" not in upstream["body"]
    assert all("description" in part for part in upstream.values())
    changes = [(before, after) for before, after in zip(listed, drifted, strict=True) if before != after]
    assert [before["name"] for before, _ in changes] == ["add_comment"]
