"""The example flows succeed on the example server, as the README and the demo show them."""

from pathlib import Path

import pytest

from tests.command_line import Assay

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def test_the_inspection_succeeds_on_both_versions(assay: Assay, example_server: str, example_server_2: str) -> None:
    for url in (example_server, example_server_2):
        ran = assay.run(EXAMPLES / "flows" / "inspect.md", "--target", url)
        assert ran.statuses == [
            "connect succeeded",
            "tools succeeded",
            "call succeeded",
            "call succeeded",
            "call succeeded",
            "disconnect succeeded",
        ], ran.out + ran.err


def test_the_capture_flow_reads_back_what_it_created_and_keeps_numbers_exact(assay: Assay, example_server: str) -> None:
    ran = assay.run(EXAMPLES / "flows" / "capture.md", "--target", example_server, "--input", 'title=a "quoted" one')
    assert ran.exit == 0, ran.out + ran.err
    assert ran.captures[1:] == ["9007199254740993", "1.10"]


@pytest.mark.requirement("anonymous.refused")
def test_the_leak_flow_notices_every_form(assay: Assay, protected_server: str, token: str) -> None:
    bindings = EXAMPLES / "bindings.json"
    ran = assay.run(
        EXAMPLES / "flows" / "leaks.md", "--target", protected_server, "--bindings", bindings, DESK_TOKEN=token
    )
    assert ran.exit == 0, ran.out + ran.err
    assert len(ran.steps) == 9


def test_the_leak_flow_fails_where_nothing_is_asked_for_a_token(assay: Assay, example_server: str) -> None:
    bindings = EXAMPLES / "bindings.json"
    ran = assay.run(
        EXAMPLES / "flows" / "leaks.md", "--target", example_server, "--bindings", bindings, DESK_TOKEN="abcd-efgh"
    )
    assert ran.statuses[0].startswith("connect failed")
    assert ran.exit == 1
