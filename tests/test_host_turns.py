"""Fixed callback ports: which flows have one, and that no two flows have it at once."""

import json
import threading
from typing import Any

import pytest

from host.turns import Turns, callback_ports


@pytest.mark.parametrize(
    ("oauth", "ports"),
    [
        ({"issuer": "endpoint", "callbackPort": 4711}, {4711}),
        ('{"issuer": "endpoint", "callbackPort": 4711}', {4711}),
        ({"issuer": "endpoint", "callbackPort": 0}, set()),
        ({"issuer": "endpoint"}, set()),
        ({"issuer": "endpoint", "callbackPort": "4711"}, set()),
        ("no JSON", set()),
        ("[1]", set()),
        (None, set()),
    ],
)
def test_a_port_is_read_from_a_binding_in_either_form(oauth: Any, ports: set[int]) -> None:
    other = {"issuer": "listed", "callbackPort": json.loads("5000")}
    assert callback_ports({"api": {"oauth": oauth}}) == ports
    assert callback_ports({"api": {"oauth": oauth}, "other": {"oauth": other}, "anon": {}}) == ports | {5000}


def test_whoever_shares_a_port_waits_and_nobody_else_does() -> None:
    turns, events = Turns(), []
    inside, leave = threading.Event(), threading.Event()

    def first() -> None:
        with turns.take([2, 1]):
            inside.set()
            assert leave.wait(20)
            events.append("first")

    def second() -> None:
        with turns.take([1, 3]):
            events.append("second")

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    assert inside.wait(20)
    with turns.take([3, 4]), turns.take([]):
        events.append("other")
    threads[1].start()
    leave.set()
    for thread in threads:
        thread.join(20)
    assert events == ["other", "first", "second"]
