"""Tells whether bytes that are about to be kept hold a private value in any of its encodings."""

from collections.abc import Iterable
from typing import Final

from protocol.values.encodings import LAYERS, drop_controls
from protocol.values.patterns import Learnt, is_encodable

__all__ = ["LeakScanner"]

#: A file is JSON itself: strings in it are one layer deeper than in a value. One more for texts that quote a file.
_FILE_LAYERS: Final = LAYERS + 2


class LeakScanner:
    """Looks for private values of 8 bytes and more in the bytes of files, whatever these are.

    Found are: the value itself; JSON escapes of it, in string literals nested in one another up to six deep; its
    percent-encoding; its base64 in both alphabets and any alignment. Values can be added from any thread.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._learnt = Learnt()
        self.add(*values)

    def add(self, *values: str) -> None:
        """Learn values; those shorter than 8 bytes are ignored, since chance would find them."""
        self._learnt.add(*(value for value in values if is_encodable(value)))

    def find(self, buffer: bytes) -> bool:
        """Tell whether a value occurs in the buffer. Some ten milliseconds for 7 MiB without any."""
        return self._learnt.patterns.finds(drop_controls(buffer), _FILE_LAYERS)
