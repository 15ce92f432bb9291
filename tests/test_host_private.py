"""Private values of one run: whose are removed from what, what the scan finds, and that several threads may ask."""

import threading

from host.interruption import Interruption
from host.private import Private
from protocol.wire.steps import Artifact, StepResult


def result(text: str) -> StepResult:
    return StepResult(
        status="succeeded",
        code=None,
        message=text,
        effect="observe",
        state=[text],
        facts={text: 1},
        capture=text,
        artifacts=[Artifact("a", text)],
        display={"x": text},
    )


def test_a_result_without_foreign_values_is_the_very_same_object() -> None:
    given = result("own-private-value")
    assert Private({"MCP": ["own-private-value"]}).clean("MCP", given) is given


def test_what_others_learn_is_removed_and_what_it_learnt_itself_is_left_for_the_scan() -> None:
    private = Private({"MCP": [], "Shell": []})
    private.learn("MCP", ["learnt-by-mcp", ""])
    cleaned = private.clean("Shell", result("saw learnt-by-mcp"))
    assert (cleaned.message, cleaned.state, cleaned.capture) == ("saw [redacted]", ["saw [redacted]"], "saw [redacted]")
    assert (cleaned.facts, cleaned.display) == ({"saw [redacted]": 1}, {"x": "saw [redacted]"})
    assert cleaned.artifacts == [Artifact("a", "saw [redacted]")]
    own = result("saw learnt-by-mcp")
    assert private.clean("MCP", own) is own
    assert private.leaks(b"saw learnt-by-mcp")


def test_short_values_are_taken_out_of_texts_and_never_a_leak() -> None:
    private = Private({"MCP": ["abcd"]})
    assert private.text("abcd") == "[redacted]"
    assert not private.leaks(b"abcd")


def test_names_that_redact_alike_do_not_lose_the_facts() -> None:
    private = Private({"MCP": ["secret-1-value", "secret-2-value"], "Shell": []})
    given = result("x")
    given.facts = {"secret-1-value": 1, "secret-2-value": 2, "connection": "open"}
    assert "redacted" in private.clean("Shell", given).facts


def test_its_repr_shows_nothing() -> None:
    assert repr(Private({"MCP": ["secret-value-1"]})) == "<Private>"


def test_values_may_be_learnt_while_others_scan() -> None:
    private = Private({"MCP": [], "Shell": []})
    values = [f"learnt-value-{number:04}" for number in range(200)]

    def learn() -> None:
        for value in values:
            private.learn("MCP", [value])

    def look() -> None:
        for _ in values:
            private.leaks(b"nothing")
            private.clean("Shell", result("nothing"))

    threads = [threading.Thread(target=target) for target in (learn, look, look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(private.leaks(value.encode()) for value in values)


def test_an_interruption_tells_who_listens_and_counts() -> None:
    interruption = Interruption()
    told: list[tuple[str, int]] = []

    def first(level: int) -> None:
        told.append(("first", level))

    interruption.add(first)
    interruption.add(lambda level: told.append(("second", level)))
    interruption.request()
    interruption.remove(first)
    interruption.request()
    assert told == [("first", 1), ("second", 1), ("second", 2)]
    assert interruption.level == 2


def test_the_values_of_identities_that_no_provider_was_given_are_removed_and_scanned_for() -> None:
    private = Private({"MCP": ["own-private-value"]}, ["own-private-value", "of-an-unused-alias", "abc"])
    assert private.clean("MCP", result("own-private-value abc of-an-unused-alias")).message == (
        "own-private-value abc [redacted]"
    )
    assert private.text("abc of-an-unused-alias") == "abc [redacted]"
    assert private.leaks(b"of-an-unused-alias")
