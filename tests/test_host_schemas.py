"""Every document that the host writes is what its JSON Schema in docs/ says, on a real server and after failures."""

import json
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import jsonschema_rs
import pytest

from tests.host_command import TARGET, Command, Done
from tests.host_flows import text

DOCS = Path(__file__).resolve().parents[1] / "docs"
NAMES = sorted(path.name.removesuffix(".schema.json") for path in DOCS.glob("*.schema.json"))
FLOW = text(
    ("Look", "api.connect\napi.tools # list"),
    ("Use", 'api.call_value tool="read_numbers" select="/large" -> large\napi.call tool="restart_worker"\napi.tools'),
    ("Cleanup", "api.disconnect"),
)


@pytest.fixture
def assay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    command = Command(tmp_path, monkeypatch, capsys)
    command.write("f.md", FLOW)
    return command


def refuse(_uri: str) -> NoReturn:
    raise AssertionError("a schema of ours refers to nothing outside of it")


@cache
def validator(name: str) -> Any:
    schema = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
    return jsonschema_rs.Draft202012Validator(schema, retriever=refuse)


def problems(name: str, document: Any) -> list[str]:
    return [f"{name}: {error.instance_path}: {error.message}" for error in validator(name).iter_errors(document)]


def kept_problems(assay: Command, run: int = -1) -> list[str]:
    """Validate every file of a run whose form is the host's."""
    found = []
    for name, document in assay.kept(run).items():
        known = {"run.json": "run", "observation.json": "observation", "snapshot.json": "snapshot"}
        schema = known.get(Path(name).name, "diff" if name.endswith("-diff.json") else "")
        assert schema, name
        if document["format"] != "assay-tombstone/1":
            found += problems(schema, document)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_a_schema_and_says_what_it_is_of(name: str) -> None:
    schema = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_refuses_what_is_something_else(name: str) -> None:
    assert problems(name, {})
    assert problems(name, [])


def test_every_schema_is_named_in_the_page_about_evidence() -> None:
    page = (DOCS / "evidence.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"{name}.schema.json" not in page] == []


def test_what_is_kept_and_reported_of_a_real_server_is_as_documented(
    assay: Command, example_server: str, example_server_2: str
) -> None:
    def run(url: str, *words: str) -> Done:
        return assay("run", "f.md", "--target", url, "--json", "-", *words)

    documents = [run(example_server).document, run(example_server_2).document]
    assert [document["exit"] for document in documents] == [1, 1]
    statuses = [step["status"] for step in documents[1]["flows"][0]["steps"]]
    assert statuses == ["succeeded", "succeeded", "succeeded", "failed", "skipped", "succeeded"]
    found = [problem for document in documents for problem in problems("report", document)]
    found += kept_problems(assay, 0) + kept_problems(assay, 1)
    assert "steps/02-api.tools/tool-diff.json" in assay.kept(1)
    found += problems("comparison", assay("diff", "latest~1", "latest", "--json").document)
    assert found == []


def test_a_baseline_of_a_real_server_is_as_documented(assay: Command, example_server: str) -> None:
    assay.write("f.md", text(("Look", "api.connect\napi.tools # list\napi.disconnect")))
    assert assay("run", "f.md", "--target", example_server, "--update-baseline").exit == 0
    assert problems("baseline", json.loads((assay.folder / "f.baseline.json").read_text())) == []
    document = assay("run", "f.md", "--target", example_server, "--json", "-").document
    assert problems("report", document) + kept_problems(assay) == []


def test_documents_of_inspect_call_and_plugins_are_as_documented(assay: Command, example_server: str) -> None:
    inspected = assay("inspect", example_server, "--json").document
    assert len(inspected["inventories"]["tools"]["entries"]) == 11
    called = [assay("call", example_server, tool, "--json").document for tool in ("read_numbers", "nothing_of_it")]
    assert [document["kind"] for document in called] == ["result", "rpc-error"]
    found = problems("inspect", inspected) + problems("plugins", assay("plugins", "--json").document)
    assert found + [problem for document in called for problem in problems("call", document)] == []


def test_the_document_of_a_pin_is_as_documented(assay: Command, example_server: str, example_server_2: str) -> None:
    words = ("--endpoint", "https://mcp.desk.example/mcp", "--registry", "registry.json")
    made = assay("contract", "pin", example_server, "search_tickets", *words, "--json").document
    renewing = ("search_tickets", *words[2:], "--renew", "--json")
    renewed = [assay("contract", "pin", url, *renewing).document for url in (example_server, example_server_2)]
    assert [document["written"] for document in (made, *renewed)] == [True, False, True]
    assert [problem for document in (made, *renewed) for problem in problems("pin", document)] == []


def test_documents_about_a_server_that_is_down_are_as_documented(assay: Command) -> None:
    for command, words in (("inspect", ()), ("call", ("tool",))):
        done = assay(command, TARGET, *words, "--json")
        assert done.exit == 4
        assert problems(command, done.document) == []
    document = assay("run", "f.md", "--target", TARGET, "--json", "-").document
    assert document["flows"][0]["status"] == "error"
    assert problems("report", document) + kept_problems(assay) == []


@pytest.mark.parametrize(
    "behaviour",
    [
        {"commands": {"call": [[{"kill": True}]]}},
        {"commands": {"tools": [[{"stderr": "x"}, {"exit": 3}]]}},
        {"commands": {"call": [[{"learn": ["a-learnt-value"]}, {"result": {"message": "a-learnt-value"}}]]}},
        {"commands": {"call": [[{"result": {"status": "unknown", "code": "reply_lost", "message": "Lost."}}]]}},
        {"check": {"call": {"code": -32000, "message": "No.", "data": {"code": "invalid_expectation"}}}},
        {"initialize": [{"exit": 1}]},
    ],
)
def test_documents_are_as_documented_whatever_goes_wrong(assay: Command, behaviour: dict[str, Any]) -> None:
    assay.behave(**behaviour)
    document = assay.document("f.md")
    assert document["exit"] > 1
    assert problems("report", document) == []
    if assay.runs:
        assert kept_problems(assay) == []


def test_a_refused_flow_is_reported_as_documented(assay: Command) -> None:
    assay.write("f.md", FLOW.replace("api.tools", "api.tolls"))
    done = assay.run("f.md", "missing.md", "--json", "-")
    assert done.exit == 2
    assert len(done.document["flows"]) == 2
    assert problems("report", done.document) == []
