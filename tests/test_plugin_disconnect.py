"""`disconnect`: one DELETE at most, and what is recorded of it."""

from typing import Any

import pytest

from tests.fakes.http_server import HttpServer, McpScript
from tests.fakes.plugin_bench import bench
from tests.fakes.scripted_replies import answer


@pytest.mark.requirement(
    "field.session-cleanup",
    "command.disconnect",
    "cleanup.one-delete",
    "cleanup.confirmed",
    "cleanup.after",
    "cleanup.server-managed",
)
@pytest.mark.parametrize(
    ("script", "configuration", "status", "code", "cleanup", "deletes"),
    [
        (McpScript(), {}, "succeeded", None, "confirmed", 1),
        (McpScript(on={"DELETE": answer(204)}), {}, "succeeded", None, "confirmed", 1),
        (McpScript(session=None), {}, "succeeded", None, "not-needed", 0),
        (McpScript(on={"DELETE": answer(405)}), {}, "failed", "cleanup_unconfirmed", "refused", 1),
        (
            McpScript(on={"DELETE": answer(405)}),
            {"sessionCleanup": "server-managed"},
            "succeeded",
            None,
            "server-managed",
            1,
        ),
        (
            McpScript(on={"DELETE": answer(404)}),
            {"sessionCleanup": "server-managed"},
            "failed",
            "cleanup_unconfirmed",
            "refused",
            1,
        ),
        (McpScript(on={"DELETE": answer(500)}), {}, "failed", "cleanup_unconfirmed", "refused", 1),
        (McpScript(on={"DELETE": lambda request, peer: peer.close()}), {}, "unknown", "cleanup_unconfirmed", "lost", 1),
    ],
)
def test_disconnect_ends_the_session_once_and_reports_the_same_again(
    script: McpScript, configuration: Any, status: str, code: str | None, cleanup: str, deletes: int
) -> None:
    with HttpServer(script) as server, bench(server, **configuration) as plugin:
        plugin.run("connect")
        first, second = plugin.run("disconnect"), plugin.run("disconnect")
        for seen in (first, second):
            assert (seen["status"], seen["code"]) == (status, code)
            assert seen["state"] == {"kind": "disconnected", "cleanup": cleanup}
            assert seen["facts"]["connection"] == "disconnected"
        assert (first["message"], first["facts"]["http"]) == (second["message"], second["facts"]["http"])
        assert "recorded" not in first["facts"]
        assert second["facts"]["recorded"] is True
        assert len(server.seen("DELETE")) == deletes
        assert plugin.outcome("tools") == ("failed", "disconnected", "disconnected")
        assert plugin.outcome("connect") == ("failed", "disconnected", "disconnected")


def test_a_refused_delete_names_the_setting_that_helps() -> None:
    with HttpServer(McpScript(on={"DELETE": answer(405)})) as server, bench(server) as plugin:
        plugin.run("connect")
        assert '`sessionCleanup: "server-managed"`' in plugin.run("disconnect")["message"]


def test_an_alias_that_never_connected_has_nothing_to_end() -> None:
    with HttpServer(McpScript()) as server, bench(server) as plugin:
        seen = plugin.run("disconnect", path="support", tokenFile="none")
        assert (seen["status"], seen["state"]["cleanup"]) == ("succeeded", "not-needed")
        assert server.requests == []
