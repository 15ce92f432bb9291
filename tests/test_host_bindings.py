"""Bindings: who may read the file, what it may hold, what the environment fills in, and what of it is private."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.bindings import BINDINGS_LIMIT, Binding, Bindings, Bound, bind, read_bindings
from host.files import PrivateFile, read_private_file
from host.preparation import Options, prepare
from host.private_fields import Leaf, private_leaves, private_values
from protocol.failures import Code, Failed, Failure
from protocol.values.document import parse
from tests.fakes.descriptions import DESCRIPTIONS

SECRET = "s3cret-token-value"
TARGET = "http://localhost:8000/mcp"


def read(document: object, *, trusted: bool = True) -> Bindings:
    return read_bindings(json.dumps(document).encode(), DESCRIPTIONS, trusted=trusted)


def refused(data: object, *, trusted: bool = True) -> str:
    text = data if isinstance(data, bytes) else json.dumps(data).encode()
    with pytest.raises(Failed) as caught:
        read_bindings(text, DESCRIPTIONS, trusted=trusted)
    assert caught.value.code == Code.INVALID_BINDING
    assert SECRET not in repr(caught.value.failure)
    return caught.value.failure.message


def bound(
    configuration: object, environment: dict[str, str] | None = None, *, target: str | None = TARGET, alias: str = "api"
) -> Bound:
    bindings = read({"api": {"provider": "MCP", "configuration": configuration}})
    return bind({alias: "MCP"}, bindings, target, environment or {}, DESCRIPTIONS)


@pytest.mark.requirement("bindings.by-alias")
def test_an_alias_gets_its_configuration_as_it_was_written() -> None:
    found = bound({"endpoint": TARGET, "bearerToken": SECRET, "timeoutMs": 1500, "headers": {"X-Key": "abcd"}})
    assert found.configurations == {
        "MCP": {
            "api": {
                "endpoint": TARGET,
                "bearerToken": SECRET,
                "timeoutMs": parse("1500").value,
                "headers": {"X-Key": "abcd"},
            }
        }
    }
    assert found.private == {"MCP": (TARGET, SECRET, "abcd")}


def test_an_alias_without_an_endpoint_uses_the_target_which_is_public() -> None:
    found = bound({"bearerToken": SECRET})
    assert found.configurations == {"MCP": {"api": {"bearerToken": SECRET, "endpoint": TARGET}}}
    assert found.private == {"MCP": (SECRET,)}


@pytest.mark.requirement("anonymous.connects")
@pytest.mark.parametrize("bindings", [None, {}, {"other": {"provider": "MCP"}}])
def test_an_alias_without_a_binding_is_anonymous_on_the_target(bindings: dict[str, object] | None) -> None:
    given = None if bindings is None else read(bindings)
    found = bind({"api": "MCP"}, given, TARGET, {}, DESCRIPTIONS)
    assert (found.configurations, found.private) == ({"MCP": {"api": {"endpoint": TARGET}}}, {"MCP": ()})


def test_only_a_provider_with_an_endpoint_is_given_the_target() -> None:
    found = bind({"shell": "LocalBash"}, None, TARGET, {}, DESCRIPTIONS)
    assert found.configurations == {"LocalBash": {"shell": {}}}


def test_a_provider_without_a_description_is_bound_all_the_same_and_all_of_it_is_private() -> None:
    bindings = read({"site": {"provider": "Browser", "configuration": {"browser": "chromium", "n": 12345678}}})
    found = bind({"site": "Browser"}, bindings, None, {}, DESCRIPTIONS)
    assert found.private == {"Browser": ("chromium", "12345678")}


def test_aliases_of_one_provider_stand_together() -> None:
    bindings = read({"a": {"provider": "MCP", "configuration": {"bearerToken": "token-a"}}})
    found = bind({"a": "MCP", "b": "MCP", "shell": "LocalBash"}, bindings, TARGET, {}, DESCRIPTIONS)
    assert found.configurations == {
        "MCP": {"a": {"bearerToken": "token-a", "endpoint": TARGET}, "b": {"endpoint": TARGET}},
        "LocalBash": {"shell": {}},
    }
    assert found.private == {"MCP": ("token-a",), "LocalBash": ()}


def test_an_alias_without_endpoint_and_target_is_refused() -> None:
    with pytest.raises(Failed) as caught:
        bound({}, target=None)
    assert caught.value.failure.message == (
        "The alias `api` has no server: there is no target, and its binding has no `endpoint`."
        " Give `--target URL`, set ASSAY_TARGET, or write `target` into assay.toml."
    )


@pytest.mark.parametrize(
    ("provider", "told"),
    [
        ("Browser", "`Browser` in the bindings file."),
        ("Mcp", "`Mcp` in the bindings file. Did you mean `MCP`?"),
        (SECRET, "another provider in the bindings file."),
    ],
)
def test_an_alias_that_is_bound_to_another_provider_is_refused(provider: str, told: str) -> None:
    bindings = read({"api": {"provider": provider}})
    with pytest.raises(Failed) as caught:
        bind({"api": "MCP"}, bindings, TARGET, {}, DESCRIPTIONS)
    assert caught.value.failure == Failure(
        Code.INVALID_BINDING,
        f"The alias `api` is MCP in the flow and bound to {told} Make them agree, or use another alias.",
    )


def test_a_reference_becomes_its_variable_at_any_depth() -> None:
    configuration = {
        "endpoint": {"env": "URL"},
        "headers": {"X-Key": {"env": "KEY"}, "X-List": [{"env": "KEY"}, 1]},
        "oauth": {"env": "OAUTH"},
    }
    found = bound(configuration, {"URL": TARGET, "KEY": SECRET, "OAUTH": '{"clientSecret":"abcdef","issuer":"i"}'})
    assert found.configurations == {
        "MCP": {
            "api": {
                "endpoint": TARGET,
                "headers": {"X-Key": SECRET, "X-List": [SECRET, parse("1").value]},
                "oauth": '{"clientSecret":"abcdef","issuer":"i"}',
            }
        }
    }
    assert found.private == {"MCP": (TARGET, SECRET, "1", "abcdef")}


def test_every_variable_that_the_file_names_is_known_whether_its_alias_is_used_or_not() -> None:
    bindings = read(
        {
            "api": {"provider": "MCP", "configuration": {"bearerToken": {"env": "A"}, "headers": {"X": {"env": "B"}}}},
            "other": {"provider": "MCP", "configuration": {"bearerToken": {"env": "C_1"}}},
        }
    )
    assert bindings.names == {"A", "B", "C_1"}
    assert bind({"z": "MCP"}, bindings, TARGET, {}, DESCRIPTIONS).private == {"MCP": ()}


def test_a_member_called_env_beside_others_is_a_member() -> None:
    found = bound({"headers": {"env": "production", "x": "y"}})
    assert found.configurations["MCP"]["api"]["headers"] == {"env": "production", "x": "y"}


def test_all_variables_that_are_missing_are_named_with_their_fields_and_no_value() -> None:
    configuration = {
        "bearerToken": {"env": "TOKEN"},
        "headers": {"X-Key": {"env": "EMPTY"}, "bad name!": {"env": "NOT_TEXT"}, "ok": {"env": "OK"}},
    }
    with pytest.raises(Failed) as caught:
        bound(configuration, {"EMPTY": "", "NOT_TEXT": "\udcff", "OK": SECRET})
    assert caught.value.failure == (
        Code.INVALID_BINDING,
        (
            "The bindings file names environment variables that are not set: `TOKEN` (api.bearerToken);"
            " `EMPTY` (api.headers.X-Key); `NOT_TEXT` (api.headers.…)."
            " Set them, not empty, for this command; in CI, check that the job may read these secrets."
        ),
        None,
        None,
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Bindings file, line 1, column 1: a value is expected."),
        (b"[]", "Bindings file, line 1, column 1: the file is no JSON object."),
        (b'{"api": {\n  "provider" "MCP"}}', "Bindings file, line 2, column 14: a colon is expected."),
        (b'{"api": {},\n}', "Bindings file, line 1, column 11: a "),
        (b'{} {"s3cret-token-value": 1}', "Bindings file, line 1, column 4: data follows the value."),
        (b'{"a": {}, "a": {}}', "Bindings file, line 1, column 11: an object repeats a member."),
        (
            b'{"a": {"provider": "MCP", "configuration": {"x": 1, "x": 2}}}',
            "Bindings file, line 1, column 53: an object repeats a member.",
        ),
        (
            b'{"a":' + b"[" * 200 + b"]" * 200 + b"}",
            "Bindings file, line 1, column 133: arrays and objects are nested too deeply (at most 128).",
        ),
        (b'{"a": NaN}', "Bindings file, line 1, column 7: NaN and Infinity are not JSON."),
        (b"\xef\xbb\xbf{}", "Bindings file, line 1, column 1: "),
        (b'{"a": "\xff"}', "The bindings file is not UTF-8 at byte 7. Save it as UTF-8."),
        (b" " * (BINDINGS_LIMIT + 1), f"The bindings file is longer than {BINDINGS_LIMIT} bytes."),
        (
            b'{"Api": {}}',
            "Bindings file, line 1, column 2: an alias is a-z, then a-z, 0-9 or _, 64 characters at most.",
        ),
        (b'{"api": "s3cret-token-value"}', "Bindings file, line 1, column 2: an alias is bound to an object."),
        (b'{"api": {}}', "Bindings file, line 1, column 2: an alias needs its `provider`, a string."),
        (b'{"api": {\n"provider": 1}}', "Bindings file, line 1, column 2: an alias needs its `provider`, a string."),
        (
            b'{"api": {"provider": "MCP",\n "configuraton": {}}}',
            "Bindings file, line 2, column 2: this member is not known here. Did you mean `configuration`?",
        ),
        (
            b'{"api": {"provider": "MCP",\n "s3cret-token-value": {}}}',
            "Bindings file, line 2, column 2: this member is not known here. An alias has",
        ),
        (
            b'{"api": {"provider": "MCP",\n "configuration": []}}',
            "Bindings file, line 2, column 2: `configuration` is an object of fields.",
        ),
        (
            b'{"api": {"provider": "MCP",\n "configuration": {"env": "A"}}}',
            "Bindings file, line 2, column 2: `configuration` is an object of fields.",
        ),
        (
            b'{"api": {"provider": "MCP", "configuration": {"bearerToken":\n{"env": "s3cret-token-value"}}}}',
            'Bindings file, line 2, column 2: {"env": …} takes the name of an environment variable.',
        ),
        (
            b'{"api": {"provider": "MCP", "configuration": {"headers": {"a": [{"env": 5}]}}}}',
            'Bindings file, line 1, column 66: {"env": …} takes the name of an environment variable.',
        ),
    ],
)
def test_a_file_that_is_wrong_is_refused_at_its_place_and_quoted_nowhere(data: bytes, message: str) -> None:
    assert refused(data).startswith(message)


@pytest.mark.parametrize(
    "configuration",
    [
        {},
        {"bearerToken": {"env": "TOKEN"}},
        {"headers": {"X-Key": {"env": "KEY"}}, "timeoutMs": 5, "keepText": True},
        {"headers": {"env": "HEADERS"}},
        {"oauth": {"issuer": "https://auth.example.com", "scopes": ["a"], "clientSecret": {"env": "C"}}},
        {"oauth": '{"issuer":"https://auth.example.com"}'},
    ],
)
def test_a_file_whose_private_fields_are_all_references_may_be_read_by_anyone(configuration: object) -> None:
    read({"api": {"provider": "MCP", "configuration": configuration}}, trusted=False)


@pytest.mark.parametrize(
    ("configuration", "fields"),
    [
        ({"bearerToken": SECRET}, "api.bearerToken"),
        ({"headers": {"X-Key": {"env": "K"}, "Y": SECRET}}, "api.headers.Y"),
        ({"headers": {"Y": 12345678}}, "api.headers.Y"),
        ({"headers": json.dumps({"Y": SECRET})}, "api.headers"),
        ({"oauth": {"clientSecret": SECRET}}, "api.oauth.clientSecret"),
        ({"oauth": json.dumps({"clientSecret": SECRET})}, "api.oauth.clientSecret"),
        ({"bearerToken": SECRET, "endpoint": TARGET}, "api.bearerToken, api.endpoint"),
        ({"headers": {"what is this": SECRET}}, "api.headers.…"),
    ],
)
def test_a_file_that_others_may_read_is_refused_when_a_private_field_has_a_value(
    configuration: object, fields: str
) -> None:
    message = refused({"api": {"provider": "MCP", "configuration": configuration}}, trusted=False)
    assert message == (
        "The bindings file holds private values and is not private: it has to be yours, with mode 0600."
        f' Run `chmod 600` on it, or write {{"env": "NAME"}} for each of: {fields}.'
    )


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize(
    ("configuration", "field", "told"),
    [
        (
            {"bearerTokn": {"env": "X"}},
            "bearerTokn",
            "the binding `api` holds an unknown field `bearerTokn`. Did you mean `bearerToken`? ",
        ),
        (
            {"bearrToken": SECRET},
            "bearrToken",
            "the binding `api` holds an unknown field `bearrToken`. Did you mean `bearerToken`? ",
        ),
        (
            {"oauth": {"scops": [SECRET]}},
            "scops",
            "`oauth` of the binding `api` holds an unknown field `scops`. Did you mean `scopes`? ",
        ),
        ({"headers": {"X": "1"}, SECRET: "x"}, SECRET, "the binding `api` holds an unknown field. "),
    ],
)
def test_an_unknown_field_is_told_before_its_value_is_judged(
    configuration: object, field: str, told: str, trusted: bool
) -> None:
    document = {"api": {"provider": "MCP", "configuration": configuration}}
    message = refused(document, trusted=trusted)
    column = json.dumps(document).index(f'"{field}"') + 1
    assert message.startswith(f"Bindings file, line 1, column {column}: {told}There are ")


def test_everything_of_an_unknown_provider_is_private() -> None:
    message = refused({"site": {"provider": "Browser", "configuration": {"browser": "chromium"}}}, trusted=False)
    assert message.endswith("for each of: site.browser.")


def test_every_private_value_of_the_file_is_known_as_far_as_it_can_be_resolved() -> None:
    bindings = read(
        {
            "api": {"provider": "MCP", "configuration": {"bearerToken": SECRET, "timeoutMs": 100}},
            "two": {"provider": "MCP", "configuration": {"headers": {"A": {"env": "SET"}, "B": {"env": "UNSET"}}}},
            "site": {"provider": "Browser", "configuration": {"browser": "chromium"}},
        }
    )
    assert bindings.private({"SET": "from-outside"}, DESCRIPTIONS) == (SECRET, "from-outside", "chromium")


def test_nothing_shows_its_values() -> None:
    bindings = read({"api": {"provider": "MCP", "configuration": {"bearerToken": SECRET}}})
    found = bind({"api": "MCP"}, bindings, TARGET, {}, DESCRIPTIONS)
    assert repr(bindings) == "<Bindings of 1 aliases>"
    assert repr(found) == "Bound(bindings={'api': <Binding of api to MCP>})"
    assert repr(PrivateFile(SECRET.encode(), trusted=True)) == "<PrivateFile of 18 bytes>"
    assert isinstance(found.bindings["api"], Binding)


SCHEMA = {
    "type": "object",
    "properties": {
        "open": {"type": "string"},
        "closed": {"writeOnly": True, "type": "string"},
        "either": {"anyOf": [{"type": "string", "writeOnly": True}, {"type": "object"}]},
        "referred": {"$ref": "#/$defs/secret"},
        "looping": {"$ref": "#/$defs/loop"},
        "broken": {"$ref": "#/$defs/nothing"},
        "foreign": {"$ref": "https://example.com/schema"},
        "any": True,
        "rows": {"type": "array", "items": {"properties": {"key": {"writeOnly": True}, "label": {}}}},
        "plain": {"type": "array"},
        "map": {"type": "object", "additionalProperties": {"writeOnly": True}},
        "all": {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {"writeOnly": True}}}]},
        "text": {"contentMediaType": "application/json", "contentSchema": {"properties": {"k": {"writeOnly": True}}}},
        "odd": {"contentMediaType": "application/json", "contentSchema": True},
    },
    "$defs": {"secret": {"writeOnly": True}, "loop": {"$ref": "#/$defs/loop"}},
}


@pytest.mark.parametrize(
    ("configuration", "leaves"),
    [
        ({"open": "x", "plain": ["x"], "odd": '{"k":"x"}', "broken": "x", "foreign": "x", "looping": "x"}, []),
        ({"any": "x"}, []),
        ({"closed": "x"}, [(("closed",), "x")]),
        ({"either": "x"}, [(("either",), "x")]),
        ({"referred": {"deep": ["x"]}}, [(("referred", "deep", 0), "x")]),
        ({"rows": [{"key": "x", "label": "y"}]}, [(("rows", 0, "key"), "x")]),
        ({"map": {"m": "x"}}, [(("map", "m"), "x")]),
        ({"all": {"a": "x", "b": "y", "c": "z"}}, [(("all", "b"), "y"), (("all", "c"), "z")]),
        ({"text": '{"k":"x","l":"y"}'}, [(("text", "k"), "x"), (("text", "l"), "y")]),
        ({"text": "{broken"}, []),
        ({"unknown": "x"}, [(("unknown",), "x")]),
        ({"closed": None, "either": True}, []),
    ],
)
def test_private_is_what_the_schema_marks_wherever_it_does(
    configuration: dict[str, object], leaves: list[tuple[tuple[str | int, ...], str]]
) -> None:
    assert list(private_leaves(configuration, SCHEMA)) == [Leaf(path, value) for path, value in leaves]


@pytest.mark.parametrize(
    ("value", "private"),
    [
        ("plain", ("plain",)),
        ("", ()),
        ("Bearer abcdef", ("Bearer abcdef", "abcdef")),
        ("two words here", ("two words here",)),
        ("http://h/short", ("http://h/short",)),
        ("https://h/a/path/of/length", ("https://h/a/path/of/length", "/a/path/of/length")),
        ("https://h/p?key=a%2Fbcd&x=1", ("https://h/p?key=a%2Fbcd&x=1", "/p?key=a%2Fbcd&x=1", "a%2Fbcd", "a/bcd")),
        ("http://[broken", ("http://[broken",)),
        (
            '{"a":["Bearer abcd",12345678,null]}',
            ('{"a":["Bearer abcd",12345678,null]}', "Bearer abcd", "abcd", "12345678"),
        ),
        ("{not json", ("{not json",)),
    ],
)
def test_a_private_value_makes_private_what_is_within_it(value: str, private: tuple[str, ...]) -> None:
    assert private_values({"closed": value}, SCHEMA) == private


LEAF = st.text(min_size=1, max_size=6) | st.integers() | st.none() | st.just({"env": "NAME"})
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
FIELDS = st.dictionaries(st.sampled_from(["bearerToken", "headers", "oauth", "timeoutMs", "other"]), VALUE, max_size=3)


@settings(deadline=None, max_examples=100)
@given(FIELDS)
def test_what_anyone_may_read_holds_no_private_value(configuration: dict[str, object]) -> None:
    document = json.dumps({"api": {"provider": "MCP", "configuration": configuration}}).encode()
    try:
        bindings = read_bindings(document, DESCRIPTIONS, trusted=False)
    except Failed as failed:
        assert failed.code == Code.INVALID_BINDING  # noqa: PT017
        return
    environment = dict.fromkeys(bindings.names, "from-the-environment")
    found = bind({"api": "MCP"}, bindings, TARGET, environment, DESCRIPTIONS)
    assert set(found.private["MCP"]) <= {"from-the-environment"}


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=100))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with pytest.raises(Failed) as caught:
        read_bindings(data + b"!", DESCRIPTIONS, trusted=True)
    assert caught.value.code == Code.INVALID_BINDING


@pytest.mark.parametrize(
    ("mode", "trusted"),
    [(0o600, True), (0o400, True), (0o700, True), (0o640, False), (0o604, False), (0o644, False), (0o620, False)],
)
def test_a_file_is_trusted_when_only_its_owner_may_do_anything(tmp_path: Path, mode: int, trusted: bool) -> None:
    path = tmp_path / "bindings.json"
    path.write_bytes(b"{}")
    path.chmod(mode)
    assert read_private_file(str(path), 10) == PrivateFile(b"{}", trusted)


def test_a_file_of_another_user_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "bindings.json"
    path.write_bytes(b"{}")
    path.chmod(0o600)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert read_private_file(str(path), 10) == PrivateFile(b"{}", trusted=False)


def test_a_file_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert read_private_file(str(tmp_path / "bindings.json"), 10) is None


def test_no_more_is_read_than_shows_that_a_file_is_too_long(tmp_path: Path) -> None:
    path = tmp_path / "bindings.json"
    path.write_bytes(b"x" * 100)
    found = read_private_file(str(path), 10)
    assert found is not None
    assert found.data == b"x" * 11


def test_links_pipes_and_folders_are_refused_without_naming_the_path(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"{}")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nothing")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    reasons = {"link": "it is a link", "dangling": "it is a link", "pipe": "it is no regular file"}
    for name in ("link", "dangling", "pipe", "folder"):
        with pytest.raises(Failed) as caught:
            read_private_file(str(tmp_path / name), 10)
        assert caught.value.failure == (
            Code.INVALID_BINDING,
            (
                f"The bindings file cannot be read: {reasons.get(name, 'it is no regular file')}."
                " Name a regular file that you may read, and no link to one."
            ),
            None,
            None,
        )


def test_a_link_on_the_way_to_the_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "bindings.json").write_bytes(b"{}")
    (tmp_path / "link").symlink_to("real")
    found = read_private_file(str(tmp_path / "link" / "bindings.json"), 10)
    assert found is not None
    assert found.data == b"{}"


def test_a_flow_that_is_refused_is_shown_without_the_private_values_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    front = "---\nname: F\nproviders: {api: MCP}\n---\n"
    Path("f.md").write_text(f'{front}```rfl\napi.call tool="{SECRET}" x=1\napi.call tool="t" p="{SECRET}"\n```\n')
    Path("bindings.json").write_text(json.dumps({"api": {"provider": "MCP", "configuration": {"bearerToken": SECRET}}}))
    Path("bindings.json").chmod(0o600)
    (outcome,) = prepare(Options(("f.md",), target=TARGET), dict(os.environ)).refused
    assert [(problem.line, problem.message) for problem in outcome.problems] == [
        (6, "This line holds a private value of a binding."),
        (6, "A value needs double quotes."),
        (7, "This line holds a private value of a binding."),
        (7, "`call` takes no argument `p`."),
    ]
    assert SECRET not in repr(outcome)
