"""assay.toml, what wins over it, where it is looked for; inputs; and the files that reading opens."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from host.exposure import exposed_inputs, exposed_text
from host.files import find_settings, read_file, read_private_file
from host.inputs import read_inputs, require_taken
from host.problems import Problem
from host.settings import SETTINGS_LIMIT, Choices, Settings, choose, read_settings
from protocol.failures import Code, Failed

FORM = 'A setting is `name = "value"`, or `name = ["value", "value"]`, on a line of its own.'
KNOWN = "Known settings: `allow_origins`, `bindings`, `evidence`, `target`."
TARGET_HELP = "Write, for example, `http://localhost:8000/mcp`."
GRANT_HELP = "Write scheme, host and, where it is not the scheme's own, port: `https://auth.example.com`."


def read(text: str | bytes) -> tuple[Settings, tuple[Problem, ...]]:
    return read_settings("assay.toml", text if isinstance(text, bytes) else text.encode())


def test_every_setting_is_read() -> None:
    text = """# project
target = "http://localhost:8000/mcp"
bindings = "private/bindings.json"
allow_origins = ["https://auth.example.com", "http://localhost:9000/"]
evidence = "out"
"""
    assert read(text) == (
        Settings(
            "http://localhost:8000/mcp",
            "private/bindings.json",
            ("https://auth.example.com", "http://localhost:9000/"),
            "out",
        ),
        (),
    )


@pytest.mark.parametrize("text", ["", "# only a comment\n", "\ufeff", "\r\n"])
def test_nothing_needs_to_be_set(text: str) -> None:
    assert read(text) == (Settings(), ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'a = 1\ntarget = "http://h"\n',
            Problem(1, 1, 1, "There is no setting `a`.", KNOWN),
        ),
        (
            '\n  targets = ["http://h"]\n',
            Problem(2, 3, 7, "There is no setting `targets`.", f"Did you mean `target`? {KNOWN}"),
        ),
        ('"tar get" = 1', Problem(1, 2, 7, "There is no setting `tar get`.", f"Did you mean `target`? {KNOWN}")),
        ("\n[server]\nurl = 1", Problem(2, 2, 6, "There is no setting `server`.", KNOWN)),
        ("[[servers]]", Problem(1, 3, 7, "There is no setting `servers`.", KNOWN)),
        ("a.b = 1", Problem(1, 1, 1, "There is no setting `a`.", KNOWN)),
        (r'"\u0061" = 1', Problem(0, 0, 0, "There is no setting `a`.", KNOWN)),
        ("target = 5", Problem(1, 1, 6, "`target` is text that is not empty.", 'Write `target = "…"`.')),
        ('evidence = "a\\u0000"', Problem(1, 1, 8, "`evidence` is text that is not empty.", 'Write `evidence = "…"`.')),
        ('bindings = ""', Problem(1, 1, 8, "`bindings` is text that is not empty.", 'Write `bindings = "…"`.')),
        (
            'bindings = "-"',
            Problem(1, 1, 8, "`bindings` names a file.", "Give `--bindings -` on the command line for stdin."),
        ),
        (
            'allow_origins = "https://h"',
            Problem(1, 1, 13, "`allow_origins` is a list of texts.", 'Write `allow_origins = ["…"]`.'),
        ),
        (
            "allow_origins = [1]",
            Problem(1, 1, 13, "`allow_origins` is a list of texts.", 'Write `allow_origins = ["…"]`.'),
        ),
        (
            'target = "http://user:pass@h/"',
            Problem(1, 1, 0, f"The target cannot be used: the URL must hold no user information. {TARGET_HELP}", ""),
        ),
        (
            'allow_origins = ["https://h/path"]',
            Problem(
                1,
                1,
                0,
                f"The allowed origin cannot be used: an origin has no path, query or fragment. {GRANT_HELP}",
                "",
            ),
        ),
        ("target = ", Problem(1, 10, 1, "This is not TOML: invalid value.", FORM)),
        ("a\nb", Problem(1, 2, 1, "This is not TOML: expected '=' after a key in a key/value pair.", FORM)),
        ('a = """', Problem(1, 8, 1, "This is not TOML: unterminated string.", FORM)),
        ("a = 1\na = 2", Problem(2, 6, 1, "This is not TOML: cannot overwrite a value.", FORM)),
        (b"a = '\xff'", Problem(1, 1, 0, "The file is not UTF-8 at byte 5.", "Save it as UTF-8.")),
        (
            b"#" * (SETTINGS_LIMIT + 1),
            Problem(0, 0, 0, f"The file is longer than {SETTINGS_LIMIT} bytes.", "Make it shorter."),
        ),
    ],
)
def test_a_setting_that_is_wrong_has_its_line(text: str | bytes, problem: Problem) -> None:
    assert [each._replace(column=problem.column) if "TOML" in each.message else each for each in read(text)[1]] == [
        problem
    ]


def test_several_wrong_settings_are_reported_at_once() -> None:
    assert [problem.line for problem in read('x = 1\ntarget = 1\nevidence = []\nbindings = "-"')[1]] == [1, 2, 3, 4]


def test_nesting_that_is_too_deep_for_the_reader_is_a_problem() -> None:
    assert read("a = " + "[" * 30_000)[1] != ()


@hypothesis_settings(deadline=None, max_examples=100)
@given(st.text(alphabet=st.sampled_from("targe=[]\"'\n.#{}, 1x\\é\0"), max_size=40))
def test_any_settings_are_read_or_refused(text: str) -> None:
    for problem in read(text)[1]:
        assert 0 <= problem.line <= text.count("\n") + 1


def test_without_anything_the_defaults_stand_in_the_folder() -> None:
    assert choose(Settings(), "/project", {}) == Choices(None, "/project/bindings.json", False, (), "/project/.assay")


def test_settings_are_relative_to_their_folder() -> None:
    settings = Settings("http://h/", "b.json", ("https://a",), "out")
    assert choose(settings, "/project", {}) == Choices(
        "http://h/", "/project/b.json", True, ("https://a",), "/project/out"
    )
    assert choose(Settings(bindings="/abs/b.json"), "/project", {}).bindings == "/abs/b.json"


def test_the_environment_wins_over_settings_and_options_over_both() -> None:
    settings = Settings("http://settings/", "b.json", ("https://a",), "out")
    environment = {"ASSAY_TARGET": "http://environment/", "ASSAY_BINDINGS": "env.json"}
    assert choose(settings, "/p", environment) == Choices(
        "http://environment/", "env.json", True, ("https://a",), "/p/out"
    )
    assert choose(
        settings,
        "/p",
        environment,
        target="http://option/",
        bindings="-",
        allow_origins=["https://b", "https://a"],
        evidence="here",
    ) == Choices("http://option/", "-", True, ("https://a", "https://b"), "here")


def test_an_empty_variable_is_none() -> None:
    assert choose(Settings("http://h/"), "/p", {"ASSAY_TARGET": "", "ASSAY_BINDINGS": ""}) == Choices(
        "http://h/", "/p/bindings.json", False, (), "/p/.assay"
    )


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "home" / "project" / "sub" / "deep"
    folder.mkdir(parents=True)
    return tmp_path / "home" / "project"


def test_settings_are_found_in_the_folder_or_the_nearest_above(project: Path) -> None:
    (project / "assay.toml").write_text("target = 1")
    assert find_settings(str(project)) == (str(project), b"target = 1")
    assert find_settings(str(project / "sub" / "deep")) == (str(project), b"target = 1")
    (project / "sub" / "assay.toml").write_text("")
    assert find_settings(str(project / "sub" / "deep")) == (str(project / "sub"), b"")


def test_a_relative_folder_is_looked_at_from_where_the_command_runs(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "assay.toml").write_text("")
    monkeypatch.chdir(project / "sub")
    assert find_settings(".") == (str(project), b"")


def test_without_settings_the_folder_itself_stands(project: Path) -> None:
    assert find_settings(str(project / "sub")) == (str(project / "sub"), None)


def test_the_search_ends_at_a_repository_and_at_home(project: Path) -> None:
    (project.parent.parent / "assay.toml").write_text("")
    assert find_settings(str(project)) == (str(project), None)
    (project / "assay.toml").write_text("")
    (project / "sub" / ".git").mkdir()
    assert find_settings(str(project / "sub" / "deep")) == (str(project / "sub" / "deep"), None)


def test_the_search_never_enters_a_folder_that_others_may_write_to(project: Path) -> None:
    (project / "assay.toml").write_text("")
    project.chmod(0o1777)
    assert find_settings(str(project / "sub")) == (str(project / "sub"), None)
    assert find_settings(str(project)) == (str(project), b"")
    project.chmod(0o755)


def test_the_search_ends_at_the_root_and_at_folders_that_cannot_be_looked_at(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = project / "gone" / "deeper"
    assert find_settings(str(missing)) == (str(missing), None)
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setattr("host.files._writable_by_others", lambda place: False)
    assert find_settings(str(project)) == (str(project), None)


def test_settings_that_are_there_and_cannot_be_read_are_refused(project: Path) -> None:
    (project / "assay.toml").mkdir()
    with pytest.raises(Failed, match=r"assay.toml` cannot be read: it is no regular file"):
        find_settings(str(project / "sub"))


@pytest.mark.parametrize(
    ("name", "reason"), [("nothing", "no such file or directory"), ("pipe", "it is no regular file")]
)
def test_a_file_that_cannot_be_read_is_named_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    path = str(tmp_path / name)
    with pytest.raises(Failed) as caught:
        read_file(path, 10)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    assert f"cannot be read: {reason}. Check its name, and that you may read it." in caught.value.failure.message
    assert caught.value.failure.where == path


def test_a_name_that_no_file_can_have_is_refused() -> None:
    with pytest.raises(Failed, match="its name cannot be a file's") as caught:
        read_file("a\0b", 10)
    assert caught.value.code == Code.INVALID_ARGUMENTS
    with pytest.raises(Failed, match="The bindings file cannot be read: its name cannot be a file's") as caught:
        read_private_file("a\0b", 10)
    assert caught.value.code == Code.INVALID_BINDING


def test_a_flow_may_be_a_link_and_is_read_up_to_one_byte_past_its_limit(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to("real")
    assert read_file(str(tmp_path / "link"), 20) == b"0123456789"
    assert read_file(str(tmp_path / "link"), 4) == b"01234"


def test_inputs_are_names_with_values() -> None:
    assert read_inputs([]) == {}
    assert read_inputs(["a=1", "b_2=x=y", "c="]) == {"a": "1", "b_2": "x=y", "c": ""}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a"], "An input's name is a-z, then a-z, 0-9 or _, 64 characters at most. Write `--input name=value`."),
        (["=x"], "An input's name is a-z, then a-z, 0-9 or _, 64 characters at most. Write `--input name=value`."),
        (
            ["A=secret-1"],
            "An input's name is a-z, then a-z, 0-9 or _, 64 characters at most. Write `--input name=value`.",
        ),
        (["a=1", "a=2"], "The input `a` is given twice. Keep one of them."),
        (["a=\udcff"], "The value of the input `a` is not UTF-8."),
    ],
)
def test_an_input_of_another_form_is_refused(given: list[str], message: str) -> None:
    with pytest.raises(Failed) as caught:
        read_inputs(given)
    assert (caught.value.code, caught.value.failure.message) == (Code.INVALID_ARGUMENTS, message)


def test_an_input_that_no_flow_takes_is_refused() -> None:
    require_taken({"region": "eu"}, {"region", "team"})
    with pytest.raises(Failed) as caught:
        require_taken({"regoin": "eu", "team": "x"}, {"region", "team"})
    assert caught.value.failure.message == (
        "No flow takes the input `regoin`. Did you mean `region`? Known inputs: `region`, `team`."
    )


ADVICE = "Take it out; private values stand in the bindings file only. Treat it as exposed if the flow was shared."
LINE = "This line holds a private value of a binding."


@pytest.mark.requirement("private.not-in-flows")
@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("nothing here", []),
        ("a\nb s3cret-value c\r\n\r\ns3cret-value", [2, 4]),
        ("czNjcmV0LXZhbHVl", [1]),
        ("x\n%733cret%2dvalue", [2]),
        ('"s3cret\\u002dvalue"', [1]),
        ("short", []),
    ],
)
def test_a_flow_that_holds_a_private_value_in_any_form_is_refused_on_its_line(text: str, lines: list[int]) -> None:
    found = exposed_text(text, ["s3cret-value", "short"])
    assert found == tuple(Problem(line, 1, 0, LINE, ADVICE) for line in lines)


def test_a_private_value_of_several_lines_is_found_in_the_whole() -> None:
    assert exposed_text("a\nfirst-line\nsecond-line\n", ["first-line\nsecond-line"]) == (
        Problem(0, 0, 0, "The flow holds a private value of a binding, across lines.", ADVICE),
    )


def test_an_input_that_holds_a_private_value_is_refused_by_its_name() -> None:
    found = exposed_inputs({"a": "x s3cret-value", "b": "fine"}, ["s3cret-value"])
    assert found == (
        Problem(0, 0, 0, "The input `a` holds a private value of a binding.", "Inputs are public: give another value."),
    )


def test_a_current_folder_that_was_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(Failed, match="The current folder does not exist any more") as caught:
        find_settings(".")
    assert caught.value.code == Code.INVALID_ARGUMENTS
