"""Step results as a host reads them."""

import msgspec
import pytest

from protocol.values.document import encode, parse
from protocol.wire.steps import Artifact, StepResult


def test_a_result_survives_the_wire_with_its_numbers_as_spelled() -> None:
    result = StepResult(
        status="succeeded",
        code=None,
        message="ok",
        effect="mutate",
        state={"value": msgspec.Raw(b"1e-400")},
        facts={"connection": "open"},
        capture="9007199254740993",
        artifacts=[Artifact("tool-diff.json", {"added": []})],
        display={"text": "x"},
    )
    assert StepResult.read(parse(encode(result)).value) == result


@pytest.mark.parametrize(
    "change",
    [
        {"status": "fine"},
        {"effect": "write"},
        {"message": None},
        {"facts": []},
        {"code": None},
        {"code": 7},
        {"status": "succeeded"},
        {"capture": 1},
        {"artifacts": [{"name": "x"}]},
        {"artifacts": ["x"]},
        {"artifacts": None},
        {"artifacts": 1},
        {"artifacts": {"x": 1}},
    ],
)
def test_a_result_of_another_form_is_refused(change: dict[str, object]) -> None:
    value: dict[str, object] = {"status": "failed", "code": "timeout", "message": "late", "effect": "observe"}
    assert StepResult.read(value).code == "timeout"
    with pytest.raises(ValueError, match=r"must|needs|has"):
        StepResult.read(value | change)


def test_a_result_that_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="object"):
        StepResult.read([])
