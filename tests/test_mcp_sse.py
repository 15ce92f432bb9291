"""The decoder of event streams: the WHATWG rules, split at any byte, strict and bounded."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.sse import Event, SseDecoder, SseError


def events(*chunks: bytes, limit: int = 1000) -> list[Event]:
    decoder = SseDecoder(limit)
    return [event for chunk in chunks for event in decoder.feed(chunk)]


def message(data: bytes, name: str = "message", last: str = "", retry: int | None = None) -> Event:
    return Event(name, data, last, retry)


@pytest.mark.requirement("limits.sse")
@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\n", [message(b"a")]),
        (b"data:a\n\n", [message(b"a")]),
        (b"data:  a\n\n", [message(b" a")]),
        (b"data: a\r\n\r\n", [message(b"a")]),
        (b"data: a\r\r", [message(b"a")]),
        (b"data: a\r\n\ndata: b\n\r\n", [message(b"a"), message(b"b")]),
        (b"data: a\ndata: b\n\n", [message(b"a\nb")]),
        (b"data\n\n", [message(b"")]),
        (b"data:\ndata:\n\n", [message(b"\n")]),
        (b"\xef\xbb\xbfdata: a\n\n", [message(b"a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\n", []),
        (b": comment\n\ndata: a\n: another\n\n", [message(b"a")]),
        (b"event: tick\ndata: a\n\ndata: b\n\n", [message(b"a", "tick"), message(b"b")]),
        (b"event:\ndata: a\n\n", [message(b"a")]),
        (b"event: lost\n\ndata: a\n\n", [message(b"a")]),
        (b"id: 1\n\ndata: a\n\n", [message(b"a", last="1")]),
        (b"id: 1\ndata: a\n\nid\ndata: b\n\n", [message(b"a", last="1"), message(b"b")]),
        (b"id: 1\nid: x\0y\ndata: a\n\n", [message(b"a", last="1")]),
        (b"retry: 250\n\ndata: a\n\n", [message(b"a")]),
        (b"retry: 250\ndata: a\n\n", [message(b"a", retry=250)]),
        (b"retry: 2a\nretry: -1\nretry:\ndata: a\n\n", [message(b"a")]),
        (b"other: x\nDATA: b\ndata: a\n\n", [message(b"a")]),
        (b"data: a", []),
        (b"data: a\n", []),
        (b"\n\n\r\n", []),
        ("data: é\u2028\x85\x0b😀\n\n".encode(), [message("é\u2028\x85\x0b😀".encode())]),
        (b'data: {"a": 1}\n\n', [message(b'{"a": 1}')]),
    ],
)
def test_streams_are_read_as_the_standard_says_wherever_they_are_split(stream: bytes, expected: list[Event]) -> None:
    assert events(stream) == expected
    assert events(*(stream[at : at + 1] for at in range(len(stream)))) == expected
    for at in range(len(stream)):
        assert events(stream[:at], stream[at:]) == expected


_LINES = st.one_of(
    st.sampled_from(
        [b"data: x", b"data:", b"data", b"id: 7", b"id", b"event: e", b"retry: 5", b": c", b"", b"\xef\xbb\xbf"]
    ),
    st.binary(max_size=6).map(lambda data: b"data: " + data.hex().encode()),
    st.text(max_size=4).map(lambda text: b"data: " + text.encode("utf-8", "ignore")),
)


@settings(deadline=None, max_examples=80)
@given(
    lines=st.lists(st.tuples(_LINES, st.sampled_from([b"\n", b"\r", b"\r\n"])), max_size=12),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_any_split_gives_the_same_events(lines: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    stream = b"".join(line + end for line, end in lines)
    places = sorted({0, len(stream), *(min(cut, len(stream)) for cut in cuts)})
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert events(*chunks) == events(stream)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.binary(max_size=40), max_size=6))
def test_any_bytes_are_events_or_one_clean_error(chunks: list[bytes]) -> None:
    reason = ""
    try:
        found = events(*chunks, limit=60)
    except SseError as error:
        found, reason = [], error.reason
    assert reason in {"", "the event stream is not UTF-8", "an event passes 60 bytes"}
    assert b"".join(event.data for event in found).decode() is not None


@pytest.mark.parametrize(
    "stream", [b"data: \xff\n\n", b"data: \xed\xa0\x80\n\n", b"event: \xc0\x80\ndata: a\n\n", b"id: \xff\ndata: a\n\n"]
)
def test_invalid_utf8_in_a_field_ends_the_reading(stream: bytes) -> None:
    with pytest.raises(SseError, match="not UTF-8"):
        events(stream)


def test_a_character_may_be_split_between_chunks_but_not_between_data_lines() -> None:
    assert events(b"data: \xc3", b"\xa9\n\n") == [message("é".encode())]
    with pytest.raises(SseError):
        events(b"data: \xc3\ndata: \xa9\n\n")


def test_an_event_may_have_the_limit_and_not_one_byte_more() -> None:
    # Each data line counts with the line end that joins it to the next.
    assert events(b"data: " + b"x" * 9 + b"\n\n", limit=10) == [message(b"x" * 9)]
    with pytest.raises(SseError) as caught:
        events(b"data: " + b"x" * 10 + b"\n\n", limit=10)
    assert caught.value.too_large


def test_a_line_that_never_ends_is_stopped_at_the_limit() -> None:
    decoder = SseDecoder(100)
    decoder.feed(b"data: " + b"x" * 94)
    with pytest.raises(SseError) as caught:
        decoder.feed(b"x")
    assert caught.value.too_large


def test_the_limit_is_of_each_event_and_not_of_the_stream() -> None:
    assert len(events(*[b"data: 12345\n\n"] * 50, limit=20)) == 50


def test_id_and_retry_stay_with_the_decoder_when_nothing_is_dispatched() -> None:
    decoder = SseDecoder(100)
    assert decoder.feed(b"id: 42\nretry: 1500\n\n") == []
    assert (decoder.last_id, decoder.retry) == ("42", 1500)


def test_a_retry_of_any_length_is_a_bounded_number() -> None:
    decoder = SseDecoder(10_000)
    decoder.feed(b"retry: " + b"9" * 5000 + b"\n\n")
    assert decoder.retry == 999_999_999


def test_reading_is_linear_in_the_bytes() -> None:
    # One event in single bytes: a decoder that joins what it holds at each step would copy 80 GB here.
    decoder = SseDecoder(1_000_000)
    decoder.feed(b"data: ")
    for _ in range(400_000):
        decoder.feed(b"x")
    assert len(decoder.feed(b"\n\n")[0].data) == 400_000
