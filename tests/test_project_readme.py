"""The README tells the truth: its flow runs and says what the README shows, and what it names is there."""

import re
import shutil
from pathlib import Path

import pytest

from tests.command_line import Assay

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def normalised(output: str) -> str:
    """Output without what differs from run to run: times, run ids, and ids that the server counts up."""
    output = re.sub(r"\(\d+ ms\)", "(0 ms)", output)
    output = re.sub(r"\d{8}T\d{12}Z-[0-9a-f]{8}", "RUN", output)
    return re.sub(r"\bR-\d+\b", "R-1", output).strip()


def block(opening: str) -> str:
    fence = opening.rstrip("abcdefghijklmnopqrstuvwxyz")
    return README.partition(f"\n{opening}\n")[2].partition(f"\n{fence}\n")[0] + "\n"


def test_the_flow_of_the_readme_gives_the_output_of_the_readme(assay: Assay, example_server: str) -> None:
    assay.write("check.md", block("````markdown"))
    ran = assay("run", "check.md", "--target", example_server)
    assert ran.exit == 0, ran.out + ran.err
    assert normalised(ran.out) == normalised(block("```text"))


def test_the_bindings_of_the_readme_work_on_a_server_that_asks_for_a_token(
    assay: Assay, protected_server: str, token: str
) -> None:
    assay.write("check.md", block("````markdown"))
    assay.write("bindings.json", block("```json"))
    ran = assay("run", "check.md", "--target", protected_server, DESK_TOKEN=token)
    assert ran.exit == 0, ran.out + ran.err


def test_the_contract_commands_of_the_readme_say_what_the_readme_shows(assay: Assay) -> None:
    shutil.copytree(ROOT / "examples" / "contract", assay.folder / "examples" / "contract")
    shown = re.findall(r"^\$ assay (.*)\n([^$]*)", block("```console"), re.MULTILINE)
    assert [words.split()[1] for words, _ in shown] == ["validate", "qualify", "prepare"]
    for words, output in shown:
        assert assay(*words.split())[:3] == (0, output, "")
    drifted = "examples/contract/drifted-catalog.json"
    assert drifted in README
    ran = assay("contract", "qualify", "examples/contract/registry.json", drifted)
    assert (ran.exit, ran.err) == (2, "")
    assert '"diagnostic":"upstream_schema_drift"' in ran.out
    assert "private notes" in (assay.folder / drifted).read_text(encoding="utf-8")
    assert "private notes" not in ran.out


def test_every_session_that_the_documents_name_exists() -> None:
    sessions = set(re.findall(r"@nox\.session\ndef (\w+)", (ROOT / "noxfile.py").read_text(encoding="utf-8")))
    for name in ("README.md", "CONTRIBUTING.md", ".ci/run", "benchmarks/README.md"):
        named = set(re.findall(r"noxfile\.py -s (\w+)", (ROOT / name).read_text(encoding="utf-8")))
        assert named
        assert named <= sessions, name


def test_ci_runs_what_the_readme_tells_people_to_run() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for session in ("lint", "types", "demo", "tests"):
        assert f"python3 noxfile.py -s {session}\n" in script
    assert "python3 noxfile.py -s demo" in README
    assert "python3 noxfile.py -s tests" in README


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *(p.name for p in ROOT.glob("docs/*.md"))]
)
def test_every_link_of_a_page_leads_somewhere(page: str) -> None:
    path = ROOT / page if (ROOT / page).exists() else ROOT / "docs" / page
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


def test_the_exit_codes_of_the_readme_are_those_of_the_table_of_codes() -> None:
    from protocol.failures import CODES

    rows = {int(row) for row in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert {entry.exit for entry in CODES.values()} <= rows


def test_the_pages_show_what_pins_really_say(assay: Assay, example_server: str, example_server_2: str) -> None:
    shutil.copytree(ROOT / "examples", assay.folder / "examples")
    page = (ROOT / "docs" / "contract.md").read_text(encoding="utf-8")
    shown = re.findall(r"^\$ assay (.*)\n([^$]*?)^```$", page, re.MULTILINE)
    assert [words.split()[0] for words, _ in shown] == ["run", "contract"]
    servers = {"http://localhost:8809/mcp": example_server_2, "http://localhost:8808/mcp": example_server}
    registry = str(assay.folder / "examples" / "contract" / "desk-registry.json")
    for words, output in shown:
        ran = assay(*(servers.get(word, word) for word in words.split()), DESK_REGISTRY=registry)
        assert normalised(ran.out) == normalised(output)
    assert f"\nassay {shown[0][0]}\n" in README
    told = README.partition("calls that tool alone")[2].partition("```text\n")[2].partition("```")[0]
    assert normalised(told) in normalised(shown[0][1])
