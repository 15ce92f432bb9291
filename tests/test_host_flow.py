"""A flow file is read whole: its steps and their ids, what is checked against plugins, and every byte that may come."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.flow import Reading, Step
from host.problems import Problem
from host.reading import FLOW_LIMIT, PROBLEM_LIMIT, check_flow, parse_flow
from protocol.failures import Code, Failed
from tests.fakes.descriptions import DESCRIPTIONS
from tests.host_flows import read_flow

FLOWS = Path(__file__).parent / "flows"
SUPPORT = (FLOWS / "inspection.md").read_text(encoding="utf-8")
CAPTURE = (FLOWS / "capture.md").read_text(encoding="utf-8")
TOKEN_FILE = (FLOWS / "token-file.md").read_text(encoding="utf-8")


def flow(commands: str, front: str = "") -> bytes:
    """Wrap commands; the first of them stands on line 8 plus the lines of ``front``."""
    return f"---\nname: Test\nproviders:\n  api: MCP\n{front}---\n# Part\n```rfl\n{commands}\n```\n".encode()


def read(data: bytes | str, inputs: dict[str, str] | None = None, *, planning: bool = False) -> Reading:
    data = data.encode() if isinstance(data, str) else data
    return read_flow("a.md", data, DESCRIPTIONS, inputs or {}, planning=planning)


def steps(commands: str, front: str = "", inputs: dict[str, str] | None = None) -> tuple[Step, ...]:
    reading = read(flow(commands, front), inputs)
    assert reading.problems == ()
    assert reading.flow is not None
    return reading.flow.steps


def problems(commands: str, front: str = "", inputs: dict[str, str] | None = None) -> tuple[Problem, ...]:
    reading = read(flow(commands, front), inputs)
    assert reading.flow is None
    return reading.problems


def only(commands: str, front: str = "", inputs: dict[str, str] | None = None) -> Problem:
    (problem,) = problems(commands, front, inputs)
    return problem


def test_the_flow_of_an_inspection_reads_as_written() -> None:
    found = read(SUPPORT).flow
    assert found is not None
    assert (found.name, found.providers, found.budget) == ("Inspect the support MCP server", {"api": "MCP"}, 600.0)
    assert found.text == SUPPORT
    (section,) = found.sections
    assert (section.title, section.slug, section.line, section.cleanup) == (
        "Check what this identity can use",
        "check-what-this-identity-can-use",
        7,
        False,
    )
    assert [(step.id, step.effect, step.line, step.column, step.substitute({})) for step in found.steps] == [
        ("check-what-this-identity-can-use/1.api.connect", "observe", 10, 1, {}),
        (
            "check-what-this-identity-can-use/2.api.tools",
            "observe",
            11,
            1,
            {
                "expect": '{"present":["search_tickets"],"absent":["delete_workspace"],'
                '"noTrueAnnotations":["destructive"]}'
            },
        ),
        (
            "check-what-this-identity-can-use/3.api.call",
            "mutate",
            12,
            1,
            {"tool": "search_tickets", "arguments": '{"query":"refund"}', "expect": '{"isError":false}'},
        ),
        (
            "check-what-this-identity-can-use/4.api.call",
            "mutate",
            13,
            1,
            {"tool": "delete_workspace", "arguments": "{}", "expect": '{"rpcError":-32602}'},
        ),
        ("check-what-this-identity-can-use/5.api.disconnect", "mutate", 14, 1, {}),
    ]


def test_the_flow_of_a_capture_reads_as_written() -> None:
    found = read(CAPTURE).flow
    assert found is not None
    first, second = found.steps
    assert (first.capture, first.needs) == ("record_id", ())
    assert (second.capture, second.needs) == (None, ("record_id",))
    assert second.substitute({"record_id": 'a "quoted" \\ id'}) == {
        "tool": "get_record",
        "arguments": r'{"id":"a \"quoted\" \\ id"}',
        "expect": r'{"isError":false,"json":[{"pointer":"/id","equals":"a \"quoted\" \\ id"}]}',
    }


def test_the_flow_that_mints_a_key_reads_as_written() -> None:
    found = read(TOKEN_FILE).flow
    assert found is not None
    assert found.providers == {"shell": "LocalBash", "api": "MCP"}
    assert [(step.provider, step.command, step.substitute({})) for step in found.steps][:2] == [
        ("LocalBash", "bash", {"command": "umask 077 && ./scripts/mint-test-agent-key > .reflow-run-tokens/agent-key"}),
        ("MCP", "connect", {"tokenFile": "agent-key"}),
    ]


def test_every_form_of_the_grammar_reads_as_written() -> None:
    found = read((FLOWS / "grammar.md").read_bytes()).flow
    assert found is not None
    assert found.warnings == ()
    assert [(section.title, section.slug, section.cleanup) for section in found.sections] == [
        ("Every form that a command may have", "every-form-that-a-command-may-have", False),
        ("Objects over several lines", "objects-over-several-lines", False),
        ("Objects over several lines", "objects-over-several-lines-2", False),
        ("Cleanup", "cleanup", True),
    ]
    values = {**found.values, "record_id": '7"'}
    shown = [(step.id.partition("/")[2], step.line, step.column, step.capture) for step in found.steps]
    assert shown == [
        ("connect", 22, 1, None),
        ("tabs-between-the-parts", 23, 2, None),
        ("create", 31, 3, "record_id"),
        ("2.api.call", 41, 3, None),
        ("1.other_1.call", 47, 1, None),
        ("2.shell.bash", 48, 1, None),
        ("1.api.disconnect", 69, 1, None),
        ("2.other_1.disconnect", 70, 1, None),
    ]
    connect, tools, create, get, call, shell, *_ = (step.arguments for step in found.steps)
    assert {argument.name: argument.value.substitute(values) for argument in connect} == {
        "headers": '{"X-Region":"eu"}'
    }
    assert {argument.name: argument.value.substitute(values) for argument in tools} == {"expect": '{ "only" : [ ] }'}
    assert {argument.name: argument.value.substitute(values) for argument in create} == {
        "tool": "create",
        "arguments": '{\n  "title": "in eu",\n  "note": "no reference: ${region}",\n  "count": 1.10\n}',
        "select": "/id",
    }
    assert {argument.name: argument.value.substitute({"record_id": "7"}) for argument in get} == {
        "tool": "get",
        "arguments": '{"id":"7","n":7}',
    }
    assert {argument.name: argument.value.substitute(values) for argument in call} == {
        "tool": 'a "quoted" é 😀 \\ name',
        "path": '7"/${x}',
    }
    assert {argument.name: argument.value.substitute({}) for argument in shell} == {
        "command": "echo ${HOME} | sed 's/${x:-y}/z/'"
    }


def test_a_known_provider_without_a_description_is_read_as_far_as_the_file_says() -> None:
    draft = parse_flow("a.md", TOKEN_FILE.encode())
    assert draft.providers == {"shell": "LocalBash", "api": "MCP"}
    reading = check_flow(draft, {"MCP": DESCRIPTIONS["MCP"]}, {})
    assert reading.problems == ()
    assert reading.flow is not None
    shell = reading.flow.steps[0]
    assert (shell.effect, shell.arguments[0].name) == ("mutate", "command")


@pytest.mark.requirement("arguments.json")
def test_both_forms_of_an_object_are_one_value() -> None:
    text, bare = steps('api.tools expect="{\\"count\\":1}"\napi.tools expect={"count":1}')
    assert text.substitute({}) == bare.substitute({}) == {"expect": '{"count":1}'}


def test_a_bare_object_may_span_lines() -> None:
    first, second = steps('api.tools expect={\n  "present": ["a",\n "b"]\n} # inventory\napi.disconnect')
    assert first.substitute({}) == {"expect": '{\n  "present": ["a",\n "b"]\n}'}
    assert (first.id, second.id, second.line) == ("part/inventory", "part/2.api.disconnect", 12)


def test_step_ids_come_from_comments_or_from_the_place_in_the_section() -> None:
    found = steps("api.connect # Say hello!\napi.tools #\napi.tools # ---\n\n# a comment line\napi.disconnect")
    assert [(step.id, step.name) for step in found] == [
        ("part/say-hello", "Say hello!"),
        ("part/2.api.tools", None),
        ("part/3.api.tools", None),
        ("part/4.api.disconnect", None),
    ]


def test_sections_of_one_title_are_numbered_and_never_collide() -> None:
    parts = "\n".join(f"# {title}\n```rfl\napi.tools\n```" for title in ("A", "A 2", "a", "A!", "***", "---x", "Ünï"))
    found = read(f"---\nname: N\nproviders: {{api: MCP}}\n---\n{parts}\n").flow
    assert found is not None
    assert [section.slug for section in found.sections] == ["a", "a-2", "a-3", "a-4", "section", "x", "ünï"]
    assert len({step.id for step in found.steps}) == len(found.steps)


def test_commands_before_the_first_heading_belong_to_a_section_named_after_the_flow() -> None:
    block = "```rfl\napi.connect\n```\n"
    text = f"---\nname: My flow\nproviders: {{api: MCP}}\n---\nWords.\n\n{block}# My flow\n{block}"
    found = read(text).flow
    assert found is not None
    assert [(section.title, section.slug, section.prose) for section in found.sections] == [
        ("My flow", "my-flow", "Words."),
        ("My flow", "my-flow-2", ""),
    ]


@pytest.mark.parametrize("title", ["Cleanup", "  cleanup ", "CLEANUP", "`Cleanup`"])
def test_a_section_titled_cleanup_is_one(title: str) -> None:
    found = read(f"---\nname: N\nproviders: {{api: MCP}}\n---\n## {title}\n```rfl\napi.disconnect\n```\n").flow
    assert found is not None
    assert [section.cleanup for section in found.sections] == [True]


def test_a_heading_without_commands_is_no_section() -> None:
    found = read(
        "---\nname: N\nproviders: {api: MCP}\n---\n# Title\nText\n## Part\nMore\n\n```rfl\napi.tools\n```\n"
    ).flow
    assert found is not None
    assert [(section.title, section.prose) for section in found.sections] == [("Part", "More")]


def test_two_steps_of_one_name_in_a_section_are_refused() -> None:
    assert only("api.tools # Inventory\napi.tools # inventory") == Problem(
        9,
        11,
        11,
        "The step on line 8 of this section has the same name.",
        "Give this step another name, or take the comment out.",
    )


def test_steps_of_one_name_in_two_sections_are_two_steps() -> None:
    found = steps("api.tools # x\n```\n# Other\n```rfl\napi.tools # x")
    assert [step.id for step in found] == ["part/x", "other/x"]


def test_commands_are_not_blamed_for_a_frontmatter_without_aliases() -> None:
    reading = read("---\nname: A\nprovider:\n  api: MCP\n---\n```rfl\napi.tools\n```\n")
    assert [problem.message for problem in reading.problems] == [
        "The frontmatter has no `providers`.",
        "The frontmatter has no key `provider`.",
    ]


@pytest.mark.parametrize(
    ("command", "column", "width", "message", "advice"),
    [
        (
            "apj.tools",
            1,
            3,
            "The frontmatter's `providers` has no alias `apj`.",
            "Did you mean `api`? Known aliases: `api`.",
        ),
        (
            "api.tolls",
            5,
            5,
            "MCP has no command `tolls`.",
            "Did you mean `tools`? Known commands: `call`, `call_value`, `connect`, `disconnect`, `tools`.",
        ),
        (
            'api.tools expct={"count":1}',
            11,
            5,
            "`tools` takes no argument `expct`.",
            "Did you mean `expect`? Known arguments: `expect`, `path`, `tokenFile`.",
        ),
        ('api.disconnect path="x"', 16, 4, "`disconnect` takes no argument `path`.", "Known arguments: none."),
        ("api.call", 5, 4, "`call` needs the argument `tool`.", 'Add `tool="…"`. Some text.'),
        (
            'api.call tool="a" tool="b"',
            19,
            4,
            "The argument `tool` is repeated.",
            "Keep one of them; the other is in column 10.",
        ),
        ("api.tools -> x", 14, 1, "The command `tools` captures nothing.", "Take `-> x` out, or use `call_value`."),
        ('api.call tool={"a":1}', 15, 1, "The argument `tool` is text, not a JSON object.", 'Write `tool="…"`.'),
        (
            'api.tools expect="[1]"',
            19,
            3,
            "The value has to be a JSON object.",
            'Write an object: `{"name": "value"}`.',
        ),
        ('api.tools expect=""', 19, 1, "The value has to be a JSON object.", 'Write an object: `{"name": "value"}`.'),
        (
            'api.tools expect="{} {}"',
            22,
            2,
            "Something follows the JSON object.",
            "Take it out: the value is one object.",
        ),
        (
            r'api.tools expect="{\"a\":1,\"a\":2}"',
            28,
            5,
            "The member `a` is repeated in its object.",
            "Keep one of them: an object has each member once.",
        ),
    ],
)
def test_what_a_plugin_does_not_take_is_refused_at_its_place(
    command: str, column: int, width: int, message: str, advice: str
) -> None:
    assert only(command) == Problem(8, column, width, message, advice)


def test_a_required_object_is_shown_as_one() -> None:
    document = DESCRIPTIONS["MCP"]
    arguments = {**document.commands["tools"].arguments}
    arguments["expect"] = arguments["expect"]._replace(required=True)
    commands = {"tools": document.commands["tools"]._replace(arguments=arguments)}
    reading = read_flow("a.md", flow("api.tools"), {"MCP": document._replace(commands=commands)}, {})
    assert [problem.help for problem in reading.problems] == ["Add `expect={…}`."]


def test_where_nothing_captures_no_other_command_is_offered() -> None:
    text = TOKEN_FILE.replace('agent-key"\n', 'agent-key" -> key\n', 1)
    assert [problem.help for problem in read(text).problems] == ["Take `-> key` out."]


def test_every_problem_of_a_flow_is_reported_at_once() -> None:
    found = problems('apj.tools\napi.call tool=x\napi.tools exect={"count":1} -> y\napi.call', "fronts: 1\n")
    assert [(problem.line, problem.column) for problem in found] == [
        (5, 1),
        (9, 1),
        (10, 15),
        (11, 11),
        (11, 32),
        (12, 5),
    ]


def test_no_alias_is_unknown_while_the_frontmatter_cannot_be_read() -> None:
    (problem,) = read("---\nname: [\n---\n```rfl\napi.tools\n```\n").problems
    assert (problem.line, problem.column) == (3, 1)


def test_a_provider_that_nobody_knows_is_one_problem_at_its_place() -> None:
    text = '---\nname: N\nproviders:\n  api: MPC\n---\n```rfl\napi.whatever x="1"\n```\n'
    assert read(text).problems == (
        Problem(
            4,
            8,
            3,
            "There is no provider `MPC`.",
            "Did you mean `MCP`? Known providers: `Browser`, `LocalBash`, `MCP`.",
        ),
    )


def test_a_provider_that_a_named_plugin_brings_is_known() -> None:
    text = b"---\nname: N\nproviders:\n  api: Extra\n---\n```rfl\napi.tools\n```\n"
    assert read_flow("a.md", text, {"Extra": DESCRIPTIONS["MCP"]}, {}).problems == ()


def test_a_reference_to_nothing_names_what_there_is() -> None:
    found = only('api.call tool="${regoin}"', "inputs: {region: {default: eu}}\n")
    assert found == Problem(
        9,
        16,
        9,
        "There is no input or capture `regoin`.",
        "Did you mean `region`? Known names: `region`. Write `$${` for a literal `${`.",
    )


def test_a_capture_is_not_known_before_it_exists() -> None:
    commands = 'api.call_value tool="${id}" select="/id" -> id\napi.call tool="${later}"\n'
    commands += 'api.call_value tool="t" select="" -> later'
    assert [(problem.line, problem.column, problem.message) for problem in problems(commands)] == [
        (8, 22, "The capture `id` is used before it exists: it is made on line 8."),
        (9, 16, "The capture `later` is used before it exists: it is made on line 10."),
    ]


def test_a_capture_of_an_earlier_section_is_known() -> None:
    commands = 'api.call_value tool="t" select="" -> id\n```\n# Next\n```rfl\napi.call tool="${id}"'
    assert [step.needs for step in steps(commands)] == [(), ("id",)]


def test_a_capture_never_takes_a_name_that_is_taken() -> None:
    commands = 'api.call_value tool="t" select="" -> id\napi.call_value tool="t" select="" -> id\n'
    commands += 'api.call_value tool="t" select="" -> region'
    assert [
        (problem.line, problem.column, problem.message)
        for problem in problems(commands, "inputs: {region: {}}\n", {"region": ""})
    ] == [
        (10, 38, "The capture `id` was already made on line 9."),
        (11, 38, "The capture `region` has the name of an input."),
    ]


def test_the_capture_of_a_command_that_could_not_be_read_is_no_second_problem() -> None:
    assert only('api.call_value tool=t select="" -> id\napi.call tool="${id}"').line == 8


def test_an_input_has_its_given_value_or_its_default() -> None:
    front = "inputs:\n  region: {default: eu, description: Where.}\n  team: {}\n"
    found = read(flow('api.call tool="${region} ${team}"', front), {"team": "x", "of_another_flow": "y"}).flow
    assert found is not None
    assert found.values == {"region": "eu", "team": "x"}
    assert found.inputs["region"]._asdict() == {
        "name": "region",
        "value": "eu",
        "default": "eu",
        "description": "Where.",
    }
    assert found.steps[0].substitute(found.values) == {"tool": "eu x"}


def test_an_input_without_a_value_is_refused_unless_the_flow_is_only_planned() -> None:
    front = "inputs:\n  team: {}\n"
    commands = 'api.call tool="t" arguments={"team":"${team}"}'
    assert only(commands, front) == Problem(
        6, 3, 4, "The input `team` has no value.", "Give `--input team=…`, or write a `default` for it."
    )
    planned = read(flow(commands, front), planning=True).flow
    assert planned is not None
    assert planned.steps[0].prepare(planned.values) == (
        {"tool": "t", "arguments": '{"team":"${team}"}'},
        ("arguments",),
    )


def test_prepared_arguments_are_filled_in_as_far_as_values_are_known() -> None:
    (step,) = steps(
        'api.call tool="${a}" path="$${x}" arguments={"a":"${a}","b":"${b}"}',
        "inputs: {a: {}, b: {}}\n",
        {"a": "1", "b": "2"},
    )
    assert step.prepare({"a": "1"}) == (
        {"tool": "1", "path": "${x}", "arguments": '{"a":"${a}","b":"${b}"}'},
        ("arguments",),
    )


def test_an_input_that_is_inserted_as_a_number_has_to_be_one() -> None:
    front, command = "inputs: {n: {}}\n", 'api.call tool="t" arguments={"n":"${n:number}"}'
    assert [step.substitute({"n": "-0"})["arguments"] for step in steps(command, front, {"n": "1e3"})] == ['{"n":-0}']
    assert only(command, front, {"n": "one"}) == Problem(
        9,
        35,
        11,
        "The input `n` is not spelled as a JSON number.",
        "Give it a number, or write `${n}` to insert it as text.",
    )


def test_a_capture_that_is_no_number_fails_its_step() -> None:
    commands = 'api.call_value tool="t" select="" -> id\napi.call tool="t" arguments={"n":"${id:number}"}'
    with pytest.raises(Failed) as caught:
        steps(commands)[1].substitute({"id": "x"})
    assert caught.value.code == Code.EXPECTATION_FAILED


def test_program_text_keeps_its_own_references() -> None:
    text = TOKEN_FILE.replace("umask 077", "echo ${HOME} $${x} ${id:number}")
    found = read(text).flow
    assert found is not None
    assert found.steps[0].needs == ()
    assert found.steps[0].substitute({})["command"].startswith("echo ${HOME} $${x} ${id:number} && ")


def test_what_is_declared_and_not_used_is_a_warning() -> None:
    front = "  spare: MCP\ninputs:\n  region: {default: eu}\n"
    found = read(flow("api.tools", front)).flow
    assert found is not None
    assert found.warnings == (
        Problem(5, 3, 5, "The alias `spare` is not used.", "Take it out if it is not needed."),
        Problem(7, 3, 6, "The input `region` is not used.", "Take it out, or use it as `${region}`."),
    )


def test_an_input_may_be_meant_for_a_program_that_reads_it_from_its_environment() -> None:
    text = TOKEN_FILE.replace("  api: MCP\n", "  api: MCP\ninputs:\n  region: {default: eu}\n")
    found = read(text).flow
    assert found is not None
    assert found.warnings == ()


def test_tags_budget_and_description_are_kept() -> None:
    found = read(flow("api.tools", "tags: [smoke, v1.2]\nbudgets: {minutes: 0.5}\ndescription: What it shows.\n")).flow
    assert found is not None
    assert (found.tags, found.budget, found.description) == (("smoke", "v1.2"), 30.0, "What it shows.")


def test_a_flow_that_runs_nothing_is_refused() -> None:
    (problem,) = read(
        "---\nname: N\nproviders: {api: MCP}\n---\n# Title\n```sh\nrm -rf .\n```\n```rfl\n# api.tools\n```\n"
    ).problems
    assert (problem.line, problem.message) == (1, "The flow has no commands.")


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_change_no_step_and_no_place(end: str) -> None:
    commands = 'api.tools expect={\n "count": 1\n}\napi.call tool="x"'
    plain, other = read(flow(commands)).flow, read(flow(commands).decode().replace("\n", end)).flow
    assert plain is not None
    assert other is not None
    assert other.sections == plain.sections
    broken = flow("api.tools\napi.call tool=x").decode().replace("\n", end)
    assert [problem[:3] for problem in read(broken).problems] == [(9, 15, 1)]


def test_a_byte_order_mark_is_skipped() -> None:
    assert read(b"\xef\xbb\xbf" + flow("api.tools")).problems == ()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (
            b"",
            Problem(
                1, 1, 0, "The file is empty.", "A flow begins with frontmatter; `assay init` writes one to start from."
            ),
        ),
        (
            b" \n\n",
            Problem(
                1, 1, 0, "The file is empty.", "A flow begins with frontmatter; `assay init` writes one to start from."
            ),
        ),
        (
            b"---\nname: caf\xe9\n",
            Problem(2, 10, 1, "The file is not UTF-8: byte 13 is 0xe9.", "Save the file as UTF-8."),
        ),
        (
            b"\xef\xbb\xbf---\n\xff",
            Problem(2, 1, 1, "The file is not UTF-8: byte 7 is 0xff.", "Save the file as UTF-8."),
        ),
        (b"---\nx\x00", Problem(2, 2, 1, "The file holds a NUL character.", "Take it out.")),
        (
            b"x" * (FLOW_LIMIT + 1),
            Problem(0, 0, 0, "The file is longer than 1048576 bytes.", "Split it into several flows."),
        ),
    ],
)
def test_a_file_that_is_no_text_of_a_flow_is_one_problem(data: bytes, expected: Problem) -> None:
    assert read(data).problems == (expected,)


def test_a_file_of_the_largest_size_is_read() -> None:
    data = flow("api.tools")
    assert read(data + b"x" * (FLOW_LIMIT - len(data))).problems == ()


def test_a_draft_tells_what_is_needed_to_go_on() -> None:
    draft = parse_flow("a.md", flow("api.tools", "inputs: {a: {}}\ntags: [x]\n"))
    assert (draft.file, draft.providers, draft.inputs, draft.tags) == ("a.md", {"api": "MCP"}, ("a",), ("x",))


def test_no_more_problems_are_listed_than_help() -> None:
    block = "\n```\n```rfl\n"
    assert len(problems(block.join(["?\n" * 60] * 5))) == PROBLEM_LIMIT
    assert len(problems("\n".join(["apj.tools"] * 500))) == PROBLEM_LIMIT
    assert len(problems("\n".join(["?"] * 500))) <= PROBLEM_LIMIT


FRAGMENTS = st.sampled_from(
    [
        *(
            "---\n",
            "name: N\n",
            "providers:\n",
            "  api: MCP\n",
            "inputs: {a: {default: b}}\n",
            "\n",
            "# H\n",
            "> ",
            "- ",
        ),
        *(
            "```rfl\n",
            "```\n",
            "~~~ rfl\n",
            "    ",
            "\t",
            "\r\n",
            "\r",
            "\ufeff",
            "\0",
            "<!--",
            "-->",
            "<div>\n",
            "\u2028",
        ),
        *(
            "api",
            ".call",
            " tool=",
            '"',
            "\\",
            "\\u00e9",
            "\\ud800",
            "${a}",
            "$${",
            "${a:number}",
            "${",
            "}",
            "{",
            '{"a":',
        ),
        *("[", "]", ",", ":", "1e5", "true", "'", "“", " -> x", " # name", "#", "日本", "é", "\x1b[31m", "1", "a"),
    ]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(FRAGMENTS, max_size=60).map("".join))
def test_any_text_is_read_without_a_crash_and_every_problem_stands_in_it(text: str) -> None:
    for data in (text.encode(), flow(text), ("---\nname: N\n" + text).encode()):
        reading = read(data)
        assert (reading.flow is None) == bool(reading.problems)
        lines = data.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for problem in reading.problems:
            assert 1 <= problem.line <= len(lines)
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1
            assert problem.message.endswith(".")
            assert problem.width >= 0


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_a_crash(data: bytes) -> None:
    assert read(data).problems
    read(flow("") + data)
    read(data.join([b"---\nname: N\nproviders: {api: MCP}\n---\n```rfl\n", b"\n```"]))
