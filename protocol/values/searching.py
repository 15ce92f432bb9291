"""Searches bytes for many spellings at once, in linear time and bounded memory whatever they hold."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from ahocorasick_rs import BytesAhoCorasick, Implementation, MatchKind

__all__ = ["Form", "Searcher", "Span", "union"]

Span: TypeAlias = tuple[int, int]
Match: TypeAlias = tuple[int, int, int]

#: Bytes that are searched at a time: a text made of one repeated value must not yield its matches all at once.
_WINDOW: Final = 64 * 1024
#: Up to about 64 patterns, and leftmost matches, are searched with vector instructions: ten times the speed.
_GROUP: Final = 48
#: A quick search looks for the end of a spelling only; long ones would make its automaton large.
_FRAGMENT: Final = 48
#: Bytes by which forms that may follow inside another are looked up.
_PREFIX: Final = 4
_BASE64: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


class Form(NamedTuple):
    """One spelling of a value. So many bytes more belong to it before and after, where they are of base64; a
    negative number takes bytes away (the quotes around a literal).
    """

    text: bytes
    before: int = 0
    after: int = 0


class Searcher:
    """Finds any of the forms. Immutable, and safe to use from several threads."""

    def __init__(self, forms: Iterable[Form]) -> None:
        self._forms = list(dict.fromkeys(forms))
        self._known_followers: dict[int, list[tuple[int, int]]] = {}
        self._longest = max((len(form.text) for form in self._forms), default=0)

    def __bool__(self) -> bool:
        return bool(self._forms)

    def touches(self, text: bytes) -> bool:
        """Tell, fast, whether a form may occur: False is certain, True is not."""
        windows = (text,) if len(text) <= _WINDOW else _windows(text)
        return any(automaton.find_matches_as_indexes(window) for window in windows for automaton in self._quick)

    def finds(self, text: bytes) -> bool:
        """Tell whether a form occurs."""
        return self.touches(text) and next(self._leftmost(text), None) is not None

    def spans(self, text: bytes) -> list[Span]:
        """Return where forms occur, in order; occurrences that overlap are one span, those that touch are not."""
        spans: list[Span] = []
        if not self.touches(text):
            return spans
        for index, start, end in self._occurrences(text):
            start, end = _widened(text, start, end, self._forms[index])
            if spans and start < spans[-1][1]:
                spans[-1] = min(start, spans[-1][0]), max(end, spans[-1][1])
            else:
                spans.append((start, end))
        return spans

    def _occurrences(self, text: bytes) -> Iterator[Match]:
        """Yield occurrences whose union is that of all occurrences, in the order of their starts.

        An occurrence that is not among the leftmost ones begins inside one of them. It adds something only when it
        also ends beyond it, and then the one that ends last is enough. Listing all occurrences instead would give
        millions for a text of one repeated letter.
        """
        for index, start, end in self._leftmost(text):
            yield index, start, end
            for shift, follower in self._followers(index):
                if text.startswith(self._forms[follower].text, start + shift):
                    yield follower, start + shift, start + shift + len(self._forms[follower].text)
                    break

    def _leftmost(self, text: bytes) -> Iterator[Match]:
        """Yield the leftmost occurrences, of these the longest, none inside another; a new window begins anew."""
        whole = memoryview(text)
        for offset in range(0, len(text), _WINDOW):
            limit = offset + _WINDOW
            for index, start, end in self._exact.find_matches_as_indexes(whole[offset : limit + self._longest]):
                if offset + start >= limit:
                    break
                yield index, offset + start, offset + end

    def _followers(self, index: int) -> list[tuple[int, int]]:
        """List the forms that can begin inside this one and end beyond it, with their shift; the furthest end first."""
        if index not in self._known_followers:
            text = self._forms[index].text
            found = [
                (shift, other)
                for shift in range(1, len(text))
                for other in self._beginning(text[shift : shift + _PREFIX])
                if self._forms[other].text.startswith(text[shift:]) and shift + len(self._forms[other].text) > len(text)
            ]
            found.sort(key=lambda pair: pair[0] + len(self._forms[pair[1]].text), reverse=True)
            self._known_followers[index] = found
        return self._known_followers[index]

    def _beginning(self, prefix: bytes) -> Iterable[int]:
        return self._by_prefix.get(prefix, ()) if len(prefix) == _PREFIX else range(len(self._forms))

    @cached_property
    def _by_prefix(self) -> dict[bytes, list[int]]:
        table: dict[bytes, list[int]] = {}
        for index, form in enumerate(self._forms):
            table.setdefault(form.text[:_PREFIX], []).append(index)
        return table

    @cached_property
    def _quick(self) -> list[BytesAhoCorasick]:
        fragments = list(dict.fromkeys(form.text[-_FRAGMENT:] for form in self._forms))
        return [
            BytesAhoCorasick(fragments[index : index + _GROUP], MatchKind.LeftmostFirst)
            for index in range(0, len(fragments), _GROUP)
        ]

    @cached_property
    def _exact(self) -> BytesAhoCorasick:
        # The smallest kind: a table of all states would take hundreds of megabytes for long values.
        patterns = [form.text for form in self._forms]
        return BytesAhoCorasick(patterns, MatchKind.LeftmostLongest, Implementation.ContiguousNFA)


def _windows(text: bytes) -> Iterator[memoryview]:
    whole = memoryview(text)
    for start in range(0, len(text), _WINDOW):
        yield whole[start : start + _WINDOW + _FRAGMENT]


def _widened(text: bytes, start: int, end: int, form: Form) -> Span:
    if form.before < 0 or (form.before and start and text[start - 1] in _BASE64):
        start -= form.before
    if form.after < 0 or (form.after and end < len(text) and text[end] in _BASE64):
        end += form.after
    return start, end


def union(spans: Sequence[Span]) -> list[Span]:
    """Return the spans in order, those that overlap as one. Spans that only touch stay apart."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
