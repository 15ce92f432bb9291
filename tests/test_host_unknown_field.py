"""Unknown fields of bindings: where a schema refuses one, and how it is told."""

from host.unknown_field import UnknownField, unknown_field


def test_a_field_is_unknown_only_where_a_schema_is_closed() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    schema = {"properties": {"open": {"properties": {"a": {}}}, "map": {"additionalProperties": {}}, "closed": inner}}
    assert unknown_field({"more": 1, "open": {"b": 1}, "map": {"b": 1}, "closed": {"a": 1}}, schema) is None
    assert unknown_field({"closed": {"env": "NAME"}}, schema) is None
    assert unknown_field({"closed": {"a": 1, "b": 2}}, schema) == UnknownField(("closed", "b"), ("a",))


def test_the_closest_known_field_is_offered_for_a_name_that_may_be_shown() -> None:
    found = UnknownField(("contract", "registri"), ("registry", "route"))
    assert found.reason("api") == "`contract` of the binding `api` holds an unknown field `registri`"
    assert found.advice == "Did you mean `registry`? There are registry, route."
    strayed = UnknownField(("r3gistry",), ("registry", "route"))
    assert (strayed.reason("api"), strayed.advice) == (
        "the binding `api` holds an unknown field",
        "There are registry, route.",
    )
