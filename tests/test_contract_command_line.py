"""`assay contract` and `plugin contract`: one answer on one line, one sentence that quotes nothing, exit 0 or 2."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contract import program
from contract.core.refusal import SENTENCES, Refusal
from contract.program import run
from contract.verbs import VERBS
from host.main import main
from tests.contract_documents import call, catalog, data, registry, route

ROOT = Path(__file__).resolve().parents[1]
#: In every file and argument of a command line that is refused: it must not come back.
MARK = "mark-4Kq-of-the-input"


class Done(NamedTuple):
    exit: int
    out: str
    err: str


Program = Callable[..., Done]


@pytest.fixture(params=["assay", "plugin"])
def contract(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Program:
    """Either command line, in a folder with files of every kind."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "registry": registry(),
        "registry-1": registry(1),
        "catalog": catalog(),
        "drifted": catalog({"name": "add_comment", "inputSchema": {"title": MARK}}),
        "call": call(),
        "other-call": call(route=MARK),
        "no-registry": registry(tool=f"{MARK}!"),
    }.items():
        Path(name).write_bytes(data(content))
    Path("no-json").write_text(f'{{"{MARK}')

    def carry_out(*words: str) -> Done:
        capsys.readouterr()
        status = main(["contract", *words]) if request.param == "assay" else run("plugin contract", words)
        return Done(status, *capsys.readouterr())

    return carry_out


def answered(done: Done, exit_status: int = 0) -> dict[str, Any]:
    assert (done.exit, done.err) == (exit_status, "")
    assert done.out.endswith("}\n")
    assert done.out.count("\n") == 1
    document: dict[str, Any] = json.loads(done.out)
    assert (document["mode"], document["runtime_gateway_enabled"]) == ("offline_contract", False)
    return document


def refused(done: Done, refusal: Refusal) -> None:
    assert done == Done(2, "", SENTENCES[refusal] + "\n")


def test_validate_counts_the_routes_of_a_registry(contract: Program) -> None:
    assert answered(contract("validate", "registry")) == {
        "mode": "offline_contract",
        "registry_valid": True,
        "route_count": 1,
        "runtime_gateway_enabled": False,
    }
    Path("many").write_bytes(data({"version": 2, "routes": [route(alias=f"r{index}") for index in range(3)]}))
    assert answered(contract("validate", "many"))["route_count"] == 3


def test_qualify_says_of_each_route_whether_its_pin_matches(contract: Program) -> None:
    answer = {
        "mode": "offline_contract",
        "scope": "catalog_pin_match_only",
        "compatible": True,
        "routes": [{"route": "desk.comment", "compatible": True, "diagnostic": "pinned_schema_matches"}],
        "runtime_gateway_enabled": False,
    }
    assert answered(contract("qualify", "registry", "catalog")) == answer
    drifted = [{"route": "desk.comment", "compatible": False, "diagnostic": "upstream_schema_drift"}]
    done = contract("qualify", "registry", "drifted")
    assert answered(done, 2) == answer | {"compatible": False, "routes": drifted}
    assert MARK not in done.out


@pytest.mark.parametrize(
    ("name", "version", "policy"), [("registry-1", 2, "withhold"), ("registry", 3, "typed_fields")]
)
def test_prepare_prints_the_digest_of_a_call(contract: Program, name: str, version: int, policy: str) -> None:
    document = answered(contract("prepare", name, "call"))
    digest = document.pop("action_digest")
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert document == {
        "mode": "offline_contract",
        "status": "prepared_not_authorized",
        "runtime_gateway_enabled": False,
        "route": "desk.comment",
        "prepared_contract_version": version,
        "output_policy": policy,
    }
    assert answered(contract("prepare", "--domain", "assay", name, "call"))["action_digest"] == digest
    other = answered(contract("prepare", name, "--domain=opaque", "--", "call"))["action_digest"]
    assert other != digest


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["validate", MARK], Refusal.REGISTRY_UNREADABLE),
        (["validate", "."], Refusal.REGISTRY_UNREADABLE),
        (["validate", "-"], Refusal.REGISTRY_UNREADABLE),
        (["validate", "no-json"], Refusal.REGISTRY_NOT_JSON),
        (["validate", "no-registry"], Refusal.ROUTE_IDENTIFIER),
        (["validate", "catalog"], Refusal.REGISTRY_MEMBERS),
        (["qualify", "registry", MARK], Refusal.CATALOG_UNREADABLE),
        (["qualify", "no-json", "catalog"], Refusal.REGISTRY_NOT_JSON),
        (["qualify", "registry", "no-json"], Refusal.CATALOG_NOT_JSON),
        (["qualify", "registry", "call"], Refusal.CATALOG_SHAPE),
        (["prepare", "registry", MARK], Refusal.CALL_UNREADABLE),
        (["prepare", "registry", "no-json"], Refusal.CALL_NOT_JSON),
        (["prepare", "registry", "registry"], Refusal.CALL_MEMBERS),
        (["prepare", "registry", "other-call"], Refusal.ROUTE_UNKNOWN),
    ],
)
def test_what_is_refused_is_told_by_one_sentence_that_quotes_nothing(
    contract: Program, words: list[str], refusal: Refusal
) -> None:
    refused(contract(*words), refusal)


@pytest.mark.parametrize(
    "words",
    [
        *([], [""], [MARK], ["--"], [f"--{MARK}"], ["Validate", "registry"], ["valid", "registry"]),
        *(["validate"], ["validate", "registry", MARK], ["validate", f"--{MARK}", "registry"], ["validate", "-x"]),
        *(["qualify"], ["qualify", "registry"], ["qualify", "registry", "catalog", MARK]),
        *(["prepare"], ["prepare", "registry"], ["prepare", "registry", "call", MARK], ["prepare", "--", "--help"]),
        *(["prepare", "registry", "call", "--domain"], ["prepare", "registry", "call", "--domain", MARK]),
        *(["prepare", "registry", "call", "--domain="], ["prepare", "registry", "call", "--domain", "Assay"]),
        *(["validate", "--domain", "assay", "registry"], ["qualify", "--domain=assay", "registry", "catalog"]),
    ],
)
def test_a_wrong_command_line_is_told_by_one_sentence_that_quotes_nothing(contract: Program, words: list[str]) -> None:
    refused(contract(*words), Refusal.USAGE)


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_the_verbs_and_each_verb_its_files(contract: Program, flag: str) -> None:
    done = contract(flag)
    assert (done.exit, done.err) == (0, "")
    # `assay` alone has a verb that asks a server.
    assert re.findall(r"^  (\w+)  +[A-Z]", done.out, re.MULTILINE) in ([*VERBS], [*VERBS, "pin"])
    for name, verb in VERBS.items():
        done = contract(name, flag)
        assert (done.exit, done.err) == (0, "")
        assert " ".join(kind.name.upper() for kind in verb.documents) in done.out
        assert " ".join(verb.explanation.split()) in " ".join(done.out.split())
        assert ("--domain" in done.out) == verb.domain
        assert done.out.isascii()
        assert max(map(len, done.out.splitlines())) <= 100


def test_a_defect_is_a_sentence_too(contract: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_arguments: Any) -> None:
        raise KeyError(MARK)

    monkeypatch.setattr(program, "read_file", break_down)
    refused(contract("validate", "registry"), Refusal.DEFECT)


def process(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    given: dict[str, Any] = {"cwd": ROOT, "capture_output": True, "text": True, "timeout": 60, "check": False} | options
    return subprocess.run([sys.executable, *words], **given)


EXAMPLE = str(ROOT / "examples" / "contract" / "registry.json")


@pytest.mark.parametrize("module", ["host", "plugin"])
def test_each_program_has_the_verbs(module: str) -> None:
    ran = process("-m", module, "contract", "validate", EXAMPLE)
    assert (ran.returncode, ran.stdout.count("\n"), ran.stderr) == (0, 1, "")
    ran = process("-m", module, "contract", "validate", MARK)
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", SENTENCES[Refusal.REGISTRY_UNREADABLE] + "\n")


@pytest.mark.parametrize("module", ["host", "plugin"])
@pytest.mark.parametrize(
    ("streams", "status", "told"),
    [
        (f"validate {EXAMPLE} | true", 0, ""),
        (f"validate {EXAMPLE} >&-", 0, ""),
        (f"validate {EXAMPLE} >&- 2>&- <&-", 0, ""),
        ("validate none 2>&-", 2, ""),
        ("validate none 2>/dev/full", 2, ""),
        (f"validate {EXAMPLE} >/dev/full", 2, SENTENCES[Refusal.OUTPUT_LOST] + "\n"),
        (f"validate {EXAMPLE} >/dev/full 2>/dev/full", 2, ""),
        ("validate --help >/dev/full", 2, f"{SENTENCES[Refusal.OUTPUT_LOST]}\n"),
        ("--help >/dev/full", 2, f"{SENTENCES[Refusal.OUTPUT_LOST]}\n"),
        ("-- validate x", 2, f"{SENTENCES[Refusal.USAGE]}\n"),
        ("prepare --domain bad --domain assay x y", 2, f"{SENTENCES[Refusal.USAGE]}\n"),
    ],
)
def test_the_exit_status_is_0_or_2_whatever_the_streams_are(module: str, streams: str, status: int, told: str) -> None:
    command = f"{sys.executable} -m {module} contract {streams}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        ["/bin/sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (status, told)


def imported(*words: str) -> set[str]:
    ran = process("-X", "importtime", "-m", "plugin", *words, stdin=subprocess.DEVNULL)
    return set(re.findall(r"\| +([\w.]+)$", ran.stderr, re.MULTILINE))


@pytest.mark.parametrize("words", [["--version"], ["--describe"], ["--help"], []], ids=str)
def test_the_plugin_imports_nothing_of_a_contract_for_anything_else(words: list[str]) -> None:
    assert {name for name in imported(*words) if name.partition(".")[0] == "contract"} == set()


def test_the_verbs_of_the_plugin_need_neither_the_host_nor_the_inspector_nor_a_network() -> None:
    seen = imported("contract", "validate", EXAMPLE)
    assert "contract.core.registry" in seen
    heavy = {"host", "click", "oauth", "httpx", "socket", "ssl", "threading", "asyncio", "subprocess", "authlib"}
    assert {name.partition(".")[0] for name in seen} & heavy == set()
    assert {name for name in seen if name.startswith(("plugin.", "protocol.mcp", "protocol.wire."))} == {
        "protocol.wire.command_line"
    }


def test_the_sentence_on_use_names_every_verb_and_those_on_files_name_a_missing_one() -> None:
    assert all(f"`{verb} " in SENTENCES[Refusal.USAGE] for verb in (*VERBS, "pin"))
    unreadable = (Refusal.REGISTRY_UNREADABLE, Refusal.CATALOG_UNREADABLE, Refusal.CALL_UNREADABLE)
    assert all("that is there" in SENTENCES[refusal] for refusal in unreadable)
