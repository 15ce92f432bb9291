"""How a run is set up: a target without bindings, committed bindings with environment names, and what goes wrong."""

import json
import os
import stat
from urllib.parse import urlsplit

import pytest

from tests.command_line import Assay
from tests.peers.process import free_port

FLOW = """---
name: Reach
providers:
  api: MCP
---

# Reach

```rfl
api.connect
api.call tool="search_tickets" arguments={"query":"refund"}
api.disconnect
```
"""


@pytest.mark.requirement("identity.kinds", "anonymous.connects")
def test_a_target_is_all_that_a_local_server_needs(assay: Assay, example_server: str) -> None:
    local = example_server.replace("127.0.0.1", "localhost")
    ran = assay.run(assay.write("f.md", FLOW), "--target", local)
    assert ran.statuses == ["connect succeeded", "call succeeded", "disconnect succeeded"], ran.out + ran.err
    assert ran.exit == 0


def test_the_target_comes_from_the_environment_too(assay: Assay, example_server: str) -> None:
    ran = assay.run(assay.write("f.md", FLOW), ASSAY_TARGET=example_server)
    assert ran.exit == 0, ran.out + ran.err


def test_bindings_that_name_variables_only_may_be_readable_by_all(
    assay: Assay, protected_server: str, token: str
) -> None:
    configuration = {"endpoint": protected_server, "bearerToken": {"env": "DESK_TOKEN"}}
    path = assay.write("bindings.json", json.dumps({"api": {"provider": "MCP", "configuration": configuration}}))
    path.chmod(0o644)
    ran = assay.run(assay.write("f.md", FLOW), "--target", protected_server, DESK_TOKEN=token)
    # the endpoint is private, so a file that holds it as it is has to be kept from others
    assert ran.exit == 2
    del configuration["endpoint"]
    path.write_text(json.dumps({"api": {"provider": "MCP", "configuration": configuration}}))
    ran = assay.run(
        assay.folder / "f.md", "--target", protected_server, "--bindings", path, DESK_TOKEN=token, CI="true"
    )
    assert ran.exit == 0, ran.out + ran.err


@pytest.mark.requirement("bindings.for-the-owner")
def test_bindings_with_private_values_have_to_be_kept_from_others(
    assay: Assay, protected_server: str, token: str
) -> None:
    configuration = {"bearerToken": token}
    path = assay.write("bindings.json", json.dumps({"api": {"provider": "MCP", "configuration": configuration}}))
    flow = assay.write("f.md", FLOW)
    path.chmod(0o644)
    refused = assay.run(flow, "--target", protected_server, "--bindings", path)
    assert refused.exit == 2
    assert "0600" in refused.out + refused.err
    assert token not in refused.out + refused.err
    path.chmod(0o600)
    assert assay.run(flow, "--target", protected_server, "--bindings", path).exit == 0


def test_a_target_that_is_down_says_so_and_keeps_the_evidence(assay: Assay) -> None:
    ran = assay.run(assay.write("f.md", FLOW), "--target", f"http://127.0.0.1:{free_port()}/mcp")
    assert ran.exit == 4
    assert ran.statuses[0] == "connect failed unreachable"
    assert ran.document["flows"][0]["status"] == "error"
    assert "Traceback" not in ran.out + ran.err
    assert any(path.name == "run.json" for path in ran.kept)


@pytest.mark.requirement("origins.admitted")
def test_an_origin_that_is_not_the_target_is_refused(assay: Assay, example_server: str) -> None:
    configuration = {"endpoint": {"env": "ENDPOINT"}}
    path = assay.write("bindings.json", json.dumps({"api": {"provider": "MCP", "configuration": configuration}}))
    flow = assay.write("f.md", FLOW)
    other = f"http://127.0.0.1:{free_port()}/mcp"
    refused = assay.run(flow, "--target", other, "--bindings", path, ENDPOINT=example_server)
    assert refused.exit == 2
    assert "origin_not_admitted" in json.dumps(refused.document)
    parts = urlsplit(example_server)
    admitted = ("--allow-origin", f"{parts.scheme}://{parts.netloc}")
    assert assay.run(flow, "--target", other, *admitted, "--bindings", path, ENDPOINT=example_server).exit == 0


def test_evidence_is_for_its_owner_only(assay: Assay, example_server: str) -> None:
    ran = assay.run(assay.write("f.md", FLOW), "--target", example_server)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in ran.kept}
    assert modes == {0o600}
    assert {stat.S_IMODE(run.stat().st_mode) for run in ran.runs} == {0o700}
    assert all(path.stat().st_uid == os.getuid() for path in ran.kept)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (FLOW.replace("api.connect", "api.conect"), 10),
        (FLOW.replace("api.connect", "app.connect"), 10),
        (FLOW.replace("tool=", "tols="), 11),
        (FLOW.replace("providers:", "provider:"), 3),
        (FLOW.replace('{"query":"refund"}', '{"query":"refund"'), 11),
        (FLOW.replace('"refund"', '"${nothing}"'), 11),
    ],
)
def test_a_malformed_flow_is_refused_with_its_line_and_nothing_is_contacted(assay: Assay, text: str, line: int) -> None:
    # nothing listens there: a contact would be exit 4
    ran = assay.run(assay.write("f.md", text), "--target", f"http://127.0.0.1:{free_port()}/mcp")
    assert ran.exit == 2
    (flow,) = ran.document["flows"]
    assert flow["status"] == "refused"
    assert line in [problem["line"] for problem in flow["problems"]]
    assert f"f.md:{line}:" in ran.out + ran.err
    assert "^" in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
    assert ran.kept == []


def test_a_plan_needs_no_secret_and_contacts_nothing(assay: Assay) -> None:
    ran = assay("plan", assay.write("f.md", FLOW), "--target", f"http://127.0.0.1:{free_port()}/mcp")
    assert ran.exit == 0, ran.out + ran.err
    assert "mutate" in ran.out
    assert "observe" in ran.out


def test_a_plugin_that_dies_is_told_apart_from_a_server_that_fails(assay: Assay, example_server: str) -> None:
    script = assay.write("dying", "#!/bin/sh\nexit 7\n")
    script.chmod(0o755)
    ran = assay.run(assay.write("f.md", FLOW), "--target", example_server, "--plugin", script)
    assert ran.exit == 4
    assert "plugin_died" in json.dumps(ran.document)
    assert "Traceback" not in ran.out + ran.err


def test_init_writes_a_flow_that_plans_and_runs(assay: Assay, example_server: str) -> None:
    made = assay("init", example_server)
    assert made.exit == 0, made.out + made.err
    ran = assay.run("flows")
    assert ran.exit == 0, ran.out + ran.err
