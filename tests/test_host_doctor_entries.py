"""What `assay doctor` finds in entries of every inventory, one by one, and how it sums that up."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.doctor.catalogue import FACTS_LIMIT, catalogue
from host.doctor.check import Check
from host.doctor.entries import REASONS, finders
from host.inventories import INVENTORIES
from protocol.wire.steps import StepResult

OBJECT = {"type": "object"}
#: Arguments of a prompt that no client can use.
MALFORMED: tuple[Any, ...] = ("x", [{}], [{"name": "x"}, {"name": "x"}])


def read(inventory: str, entries: list[Any], **members: Any) -> StepResult:
    """The result of reading an inventory whole, as the plugin gives it."""
    state = {"inventory": inventory, "declared": True, "complete": True, "count": len(entries)}
    given = {"status": "succeeded", "code": None, "message": "Listed.", "effect": "observe", "state": state}
    facts = {"connection": "open", "pages": 1}
    return StepResult(**(given | {"facts": facts, "display": {"entries": entries}} | members))


def checks(inventory: str, entries: list[Any], **members: Any) -> dict[str, Check]:
    return {check.id: check for check in catalogue(inventory, read(inventory, entries, **members))}


def reasons(inventory: str, check: str, *entries: Any) -> list[tuple[int, str]]:
    found = checks(inventory, list(entries))[f"{inventory}.{check}"].facts
    return [(entry["index"], entry["reason"]) for entry in found.get("entries", [])]


def tool(name: str = "echo", **members: Any) -> dict[str, Any]:
    return {"name": name, "description": "Says it.", "inputSchema": OBJECT, **members}


@pytest.mark.parametrize(
    ("name", "fine"),
    [
        ("search_tickets", True),
        ("a" * 64, True),
        ("A-Z_09", True),
        ("a" * 65, False),
        ("files.read", False),
        ("find tickets", False),
        ("naïve", False),
        ("ns/tool", False),
        ("hides-[redacted]", True),
    ],
)
def test_names_are_what_model_apis_take(name: str, fine: bool) -> None:
    assert reasons("tools", "names", tool(name)) == ([] if fine else [(0, "name-refused-elsewhere")])


def test_names_that_differ_by_case_only_are_all_named() -> None:
    found = reasons("tools", "names", tool("Read"), tool("write"), tool("read"), tool("READ"))
    assert found == [(0, "differs-by-case"), (2, "differs-by-case"), (3, "differs-by-case")]


@pytest.mark.parametrize("description", [None, "", " \n", 5, []])
def test_a_description_is_text_that_says_something(description: Any) -> None:
    assert reasons("tools", "descriptions", tool(description=description)) == [(0, "description-missing")]
    assert reasons("prompts", "descriptions", {"name": "x", "description": description}) == [(0, "description-missing")]


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        (None, []),
        ({}, []),
        ({"readOnlyHint": True, "destructiveHint": False}, []),
        ({"readOnlyHint": False, "destructiveHint": True, "title": "Delete"}, []),
        ({"readOnlyHint": True, "destructiveHint": True}, ["read-only-and-destructive"]),
        ({"readOnlyHint": "true"}, ["hint-not-a-boolean"]),
        ({"idempotentHint": None}, ["hint-not-a-boolean"]),
        (["readOnlyHint"], ["annotations-not-an-object"]),
    ],
)
def test_hints_are_booleans_that_do_not_contradict(annotations: Any, expected: list[str]) -> None:
    found = reasons("tools", "hints", tool(annotations=annotations))
    assert found == [(0, reason) for reason in expected]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"outputSchema": OBJECT}, []),
        ({"outputSchema": {"type": "array"}}, ["output-schema-not-of-type-object"]),
        ({"outputSchema": True}, ["output-schema-not-of-type-object"]),
        ({"inputSchema": OBJECT | {"properties": []}}, ["properties-not-an-object"]),
        ({"inputSchema": OBJECT | {"required": "id"}}, ["required-malformed"]),
        ({"inputSchema": OBJECT | {"required": [1]}}, ["required-malformed"]),
        ({"inputSchema": OBJECT | {"required": ["id"]}}, ["required-unknown"]),
        ({"inputSchema": OBJECT | {"properties": {"id": {}}, "required": ["id"]}}, []),
        ({"inputSchema": OBJECT | {"allOf": [{}], "required": ["id"]}}, []),
        ({"inputSchema": OBJECT | {"properties": {"a": {"$ref": "#/$defs/a"}}}}, []),
        ({"inputSchema": OBJECT | {"properties": {"a": {"items": [{"$ref": "https://x/s"}]}}}}, ["refers-outside"]),
    ],
)
def test_schemas_are_objects_that_hold_together(members: dict[str, Any], expected: list[str]) -> None:
    assert reasons("tools", "schemas", tool(**members)) == [(0, reason) for reason in expected]


def test_uris_are_absolute_and_templates_have_variables() -> None:
    uris = ("docs://guide", "file:///a", "guide.md", "a b:c", "[redacted]/x")
    resources = [{"uri": uri, "name": "x"} for uri in uris]
    assert reasons("resources", "uris", *resources) == [(2, "uri-without-scheme"), (3, "uri-without-scheme")]
    templates = [{"uriTemplate": uri, "name": "x"} for uri in ("docs://{page}", "docs://page", "docs://{}")]
    found = reasons("resource_templates", "templates", *templates)
    assert found == [(1, "template-without-variable"), (2, "template-without-variable")]


@pytest.mark.parametrize(
    ("inventory", "entries", "expected"),
    [
        ("resources", [{"uri": "a:b"}, {"name": "x"}, {"uri": 5}, "x", {"uri": "a:b"}, {"uri": ""}], [1, 2, 3, 4, 5]),
        ("resource_templates", [{"uriTemplate": "a:{b}"}, {"uri": "x"}, None], [1, 2]),
        ("prompts", [{"name": "a"}, {"name": "a"}, {"name": "b", "arguments": [{"name": "x"}]}], [1]),
        ("prompts", [{"name": "a", "arguments": value} for value in MALFORMED], [0, 1, 2]),
    ],
)
def test_entries_of_every_inventory_are_looked_at(inventory: str, entries: list[Any], expected: list[int]) -> None:
    assert [index for index, _ in reasons(inventory, "entries", *entries)] == expected


def test_names_that_redact_alike_are_no_repeats() -> None:
    assert reasons("tools", "entries", tool("[redacted]"), tool("[redacted]")) == []


def test_a_list_that_is_well_is_told_in_few_words() -> None:
    found = checks("tools", [tool("a"), tool("b")])
    assert {identity: check.status for identity, check in found.items()} == dict.fromkeys(
        ["tools", "tools.entries", "tools.names", "tools.descriptions", "tools.schemas", "tools.hints"], "ok"
    )
    assert found["tools"].message == "2 tools in 1 page."
    assert found["tools.names"].message == "Every client takes their names."


def test_the_gravest_reason_decides_and_each_is_said_with_names() -> None:
    wrong = {"outputSchema": {"type": "array"}}
    entries = [tool(f"t{number}", **wrong) for number in range(7)]
    entries.append(tool("r", inputSchema=OBJECT | {"required": ["x"]}))
    check = checks("tools", entries)["tools.schemas"]
    assert check.status == "problem"
    assert check.message == (
        'whose `outputSchema` is not of `"type": "object"`: `t0`, `t1`, `t2`, `t3`, `t4` and 2 more;'
        " 1 of 8 tools requiring what is not among the properties: `r`."
    ).replace("whose", "7 of 8 tools whose", 1)
    assert check.help == "Mend the schema: clients check what they send and get by it."
    warned = checks("tools", [tool("r", inputSchema=OBJECT | {"required": ["x"]})])["tools.schemas"]
    assert warned.status == "warning"


@pytest.mark.parametrize(("count", "more"), [(FACTS_LIMIT, 0), (FACTS_LIMIT + 1, 1)])
def test_very_many_findings_are_counted(count: int, more: int) -> None:
    facts = checks("tools", [tool(f"no spaces {number}") for number in range(count)])["tools.names"].facts
    assert (len(facts["entries"]), facts["more"]) == (FACTS_LIMIT, more)


def test_an_empty_list_has_one_check_and_one_that_is_not_declared_is_skipped() -> None:
    assert [(check.id, check.status) for check in catalogue("prompts", read("prompts", []))] == [("prompts", "ok")]
    state = {"declared": False}
    assert [check.status for check in catalogue("prompts", read("prompts", [], state=state))] == ["skipped"]


def test_a_list_that_could_not_be_read_is_a_problem_whatever_came_of_it() -> None:
    failed = {"status": "failed", "code": "timeout", "message": "Late.", "state": None, "display": None}
    (check,) = catalogue("resources", read("resources", [], **failed))
    assert (check.id, check.status, check.message) == ("resources", "problem", "Late.")
    assert check.facts == {"count": 0, "declared": None, "pages": 1, "code": "timeout"}


def test_every_reason_is_a_warning_or_a_problem_with_words_and_help() -> None:
    assert {reason.status for reason in REASONS.values()} == {"warning", "problem"}
    assert all(reason.words and reason.help.endswith(".") for reason in REASONS.values())


JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "uri", "uriTemplate", "inputSchema", "type", "required", "x"]), inner
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(list(INVENTORIES)), st.lists(JSON, max_size=6))
@settings(deadline=None, max_examples=150)
def test_no_list_breaks_a_finder(inventory: str, entries: list[Any]) -> None:
    for check in catalogue(inventory, read(inventory, entries)):
        assert check.id.partition(".")[0] == inventory
        assert {entry["reason"] for entry in check.facts.get("entries", [])} <= REASONS.keys()


def test_every_inventory_looks_at_its_entries_first() -> None:
    assert {name: finders(name)[0].name for name in INVENTORIES} == dict.fromkeys(INVENTORIES, "entries")
