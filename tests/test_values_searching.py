"""Searching for many forms: the union of all occurrences, in bounded memory, also where windows meet."""

from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.values import searching
from protocol.values.searching import Form, Searcher, Span, union


def every_occurrence(text: bytes, patterns: list[bytes]) -> list[Span]:
    return union(
        [
            (start, start + len(pattern))
            for pattern in patterns
            for start in range(len(text))
            if text.startswith(pattern, start)
        ]
    )


def letters(largest: int) -> st.SearchStrategy[bytes]:
    return st.text("ab", min_size=1, max_size=largest).map(str.encode)


@settings(deadline=None, max_examples=200)
@given(st.lists(letters(7), min_size=1, max_size=6), st.text("abc", max_size=40).map(str.encode))
def test_spans_are_the_union_of_all_occurrences(patterns: list[bytes], text: bytes) -> None:
    searcher = Searcher(map(Form, patterns))
    assert searcher.spans(text) == every_occurrence(text, patterns)
    assert searcher.finds(text) is bool(every_occurrence(text, patterns))
    assert searcher.touches(text) or not searcher.finds(text)


def test_nothing_is_lost_where_windows_meet() -> None:
    step = searching._WINDOW
    patterns = [b"x" * 50 + b"y" * 50, b"yyyz", b"zq"]
    searcher = Searcher(map(Form, patterns))
    for place in (*range(step - 104, step + 4), *range(2 * step - 104, 2 * step + 4)):
        text = b"." * place + b"x" * 50 + b"y" * 50 + b"zq" + b"." * 300
        assert searcher.spans(text) == [(place, place + 102)]
        assert searcher.finds(text)
        assert Searcher([Form(b"yzq")]).spans(text) == [(place + 99, place + 102)]


def test_a_form_longer_than_a_window_is_found() -> None:
    value = bytes(range(1, 250)) * 700
    assert Searcher([Form(value)]).spans(b"--" + value + b"--") == [(2, 2 + len(value))]
    assert Searcher([Form(value)]).spans(b"--" + value[:-1]) == []


def test_more_forms_than_one_vector_search_takes_are_all_found() -> None:
    values = [b"value-%03d" % number for number in range(3 * searching._GROUP)]
    searcher = Searcher(map(Form, values))
    text = b" ".join(values)
    assert searcher.spans(text) == [(index * 10, index * 10 + 9) for index in range(len(values))]


def test_a_text_of_one_letter_is_one_span() -> None:
    searcher = Searcher([Form(b"aaaa"), Form(b"aaaaa"), Form(b"a" * 99)])
    assert searcher.spans(b"b" + b"a" * 300_001 + b"b") == [(1, 300_002)]


def test_the_occurrence_that_ends_last_counts() -> None:
    searcher = Searcher(map(Form, [b"xab", b"bc", b"abcde", b"ef"]))
    assert searcher.spans(b"xabcdef") == [(0, 7)]
    assert searcher.spans(b"xabcd") == [(0, 4)]


def test_occurrences_that_touch_stay_apart() -> None:
    searcher = Searcher([Form(b"abcd"), Form(b"cdef")])
    assert searcher.spans(b"abcdabcd") == [(0, 4), (4, 8)]
    assert searcher.spans(b"abcdefabcd") == [(0, 6), (6, 10)]


def test_bits_at_the_ends_are_taken_along_where_they_are_base64() -> None:
    searcher = Searcher([Form(b"MID", 1, 1), Form(b'"ab"', -1, -1)])
    assert searcher.spans(b"xMIDy MID!MID") == [(0, 5), (6, 9), (10, 13)]
    assert searcher.spans(b'"ab"') == [(1, 3)]


def test_without_forms_nothing_is_found() -> None:
    searcher = Searcher([])
    assert not searcher
    assert (searcher.touches(b"abc"), searcher.finds(b"abc"), searcher.spans(b"abc")) == (False, False, [])


def test_a_quick_search_may_be_wrong_one_way_only() -> None:
    value = b"https://a.example/" + b"v" * 100
    searcher = Searcher([Form(value)])
    assert searcher.touches(b"v" * 60)
    assert not searcher.finds(b"v" * 60)
