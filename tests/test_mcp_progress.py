"""What a progress notification says, and what is none."""

from typing import Any

import msgspec
import pytest

from protocol.mcp.messages import Notification
from protocol.mcp.progress import progress


def raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(text.encode())


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"progress": raw("1")}, (1.0, None)),
        ({"progress": raw("0.5"), "total": raw("1e2"), "message": "half"}, (0.5, 100.0)),
        ({"progress": raw("3"), "total": "many"}, (3.0, None)),
        ({"progress": raw("3"), "total": raw("1e999")}, (3.0, None)),
        ({"progress": raw("1e999")}, None),
        ({"progress": raw("1" * 65)}, None),
        ({"progress": "1"}, None),
        ({"total": raw("1")}, None),
        ({}, None),
    ],
)
def test_progress_is_two_finite_numbers(params: dict[str, Any], expected: tuple[float, float | None] | None) -> None:
    assert progress(Notification("notifications/progress", params)) == expected


def test_other_notifications_are_no_progress() -> None:
    assert progress(Notification("notifications/message", {"progress": raw("1")})) is None
