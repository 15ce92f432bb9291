"""Revisions, the session's legal moves, and what is said of a session id."""

import subprocess
import sys
from typing import get_args

import pytest

from protocol.failures import Code
from protocol.mcp.revisions import ACCEPTED, LATEST, REVISIONS
from protocol.mcp.session import Move, Session, State, session_id_fault


def test_sessions_begin_with_the_latest_revision_and_accept_the_four_before_it() -> None:
    assert LATEST == "2025-11-25"
    assert ACCEPTED == ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07")


def test_each_revision_has_its_own_rules() -> None:
    assert [name for name in ACCEPTED if REVISIONS[name].version_header] == ["2025-11-25", "2025-06-18"]
    assert [name for name in ACCEPTED if REVISIONS[name].batches] == ["2025-03-26"]
    assert [name for name in ACCEPTED if "toolResult" in REVISIONS[name].tool_results] == ["2024-10-07"]


LEGAL = {
    ("none", "accept"): "open",
    ("none", "refuse"): "refused",
    ("none", "end"): "disconnected",
    ("open", "lose"): "closed",
    ("open", "end"): "disconnected",
    ("refused", "end"): "disconnected",
    ("closed", "end"): "disconnected",
}


@pytest.mark.parametrize("state", get_args(State))
@pytest.mark.parametrize("move", get_args(Move))
def test_a_session_makes_legal_moves_only(state: State, move: Move) -> None:
    session = Session()
    session.state = state
    if (state, move) in LEGAL:
        session.move(move)
        assert session.state == LEGAL[state, move]
    else:
        with pytest.raises(RuntimeError, match=f"a connection that is {state} cannot {move}"):
            session.move(move)


def test_requests_are_refused_unless_the_session_is_open() -> None:
    codes = {}
    for state in get_args(State):
        session = Session()
        session.state = state
        refusal = session.refusal()
        codes[state] = refusal and refusal.code
    assert codes == {
        "none": Code.NOT_CONNECTED,
        "open": None,
        "refused": Code.NOT_CONNECTED,
        "closed": Code.NOT_CONNECTED,
        "disconnected": Code.DISCONNECTED,
    }


def test_ids_are_never_used_twice() -> None:
    session = Session()
    assert [session.next_id() for _ in range(4)] == [1, 2, 3, 4]


@pytest.mark.parametrize("values", [[], ["!"], ["~"], ["a" * 5000], ["1868a90c-7d2f"]])
def test_a_session_id_of_visible_ascii_is_fine(values: list[str]) -> None:
    assert session_id_fault(values) is None


@pytest.mark.parametrize("values", [[""], ["a b"], ["a\x7f"], ["é"], ["a\tb"], ["a\n"], ["a", "a"]])
def test_any_other_session_id_is_a_fault_that_does_not_quote_it(values: list[str]) -> None:
    fault = session_id_fault(values)
    assert fault is not None
    assert "Mcp-Session-Id" in fault


def test_pure_modules_do_without_an_http_client() -> None:
    names = ["replies", "revisions", "negotiation", "paging", "inventories", "origins", "session", "challenge", "sse"]
    modules = ", ".join(f"protocol.mcp.{name}" for name in names)
    loaded = "[name for name in ('httpx', 'httpcore', 'ssl', 'asyncio') if name in sys.modules]"
    code = f"import sys, {modules}; print({loaded})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_transport_does_not_load_the_command_line_of_httpx() -> None:
    code = (
        "import sys, protocol.mcp.connection; "
        "print([name for name in ('httpx._main', 'rich', 'pygments', 'click', 'truststore') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
