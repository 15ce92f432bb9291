"""What `assay init` writes: names are taken from a server, so they are quoted whatever they are."""

import json
import tomllib

from host.starter import Listed, bindings_text, flow_text, listed, settings_text


def test_tools_are_listed_once_and_only_by_names_that_hold_nothing_private() -> None:
    entries = [
        {"name": "a", "annotations": {"readOnlyHint": True}, "inputSchema": {"required": ["x", 5]}},
        {"name": "a"},
        {"name": "[redacted]"},
        {"name": ""},
        {"name": 5},
        {"name": "b", "annotations": {"readOnlyHint": "yes"}, "inputSchema": {"required": "x"}},
        {"name": "c", "annotations": 5, "inputSchema": 5},
        "d",
    ]
    assert listed(entries) == (Listed("a", True, ("x",)), Listed("b", False, ()), Listed("c", False, ()))


def test_settings_hold_the_target_as_toml_reads_it() -> None:
    assert tomllib.loads(settings_text("http://localhost:1/mcp?a=b")) == {"target": "http://localhost:1/mcp?a=b"}
    assert tomllib.loads(settings_text(None)) == {"target": "http://localhost:8000/mcp"}


def test_bindings_hold_what_was_given() -> None:
    configuration = json.loads(bindings_text({"bearerToken": {"env": "T"}}))["api"]["configuration"]
    assert configuration == {"timeoutMs": 15000, "bearerToken": {"env": "T"}}


def test_a_flow_for_many_tools_expects_the_first_ones_and_shows_no_call_that_may_write() -> None:
    text = flow_text("desk", [Listed(f"t{number}", False, ()) for number in range(80)], {})
    assert '"t49"' in text
    assert '"t50"' not in text
    assert "api.call" not in text


def test_a_server_without_a_name_that_can_be_shown_has_a_flow_all_the_same() -> None:
    assert 'name: "What the server offers"' in flow_text("\x1b\u202e", (), {})
    assert 'name: "What desk offers"' in flow_text(" de\x00sk ", (), {})
