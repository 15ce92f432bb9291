"""Lines in and out of bytes."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.wire.framing import LineReader, TooLong


def test_a_line_split_over_many_reads_comes_out_whole_once() -> None:
    reader = LineReader(limit=100)
    assert [reader.feed(bytes([byte])) for byte in b"ab\nc"] == [[], [], [b"ab"], []]
    assert reader.finish() == [b"c"]


def test_a_line_of_exactly_the_limit_is_a_line_and_one_more_byte_is_too_long() -> None:
    reader = LineReader(limit=4)
    assert reader.feed(b"1234\n12345\nok\n") == [b"1234", TooLong(5), b"ok"]


def test_a_line_that_is_too_long_is_not_held_while_it_arrives() -> None:
    reader = LineReader(limit=4)
    for _ in range(1000):
        assert reader.feed(b"x" * 100) == []
    assert reader._parts == []
    assert reader.feed(b"\nnext\n") == [TooLong(100_000), b"next"]


def test_an_empty_line_is_a_line_and_the_end_of_input_alone_is_none() -> None:
    reader = LineReader(limit=4)
    assert reader.feed(b"\n") == [b""]
    assert reader.finish() == []


def test_an_unterminated_line_past_the_limit_is_reported_at_the_end_of_input() -> None:
    reader = LineReader(limit=2)
    assert reader.feed(b"abc") == []
    assert reader.finish() == [TooLong(3)]
    assert reader.finish() == []


@settings(deadline=None)
@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=6), st.integers(1, 8))
def test_lines_do_not_depend_on_where_the_bytes_are_split(data: bytes, cuts: list[int], limit: int) -> None:
    reader = LineReader(limit)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    got: list[bytes | TooLong] = []
    for start, end in pairwise(edges):
        got += reader.feed(data[start:end])
    got += reader.finish()
    *ended, rest = data.split(b"\n")
    lines = [*ended, rest] if rest else ended
    assert got == [line if len(line) <= limit else TooLong(len(line)) for line in lines]
