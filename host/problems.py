"""What is wrong with a text that a person wrote, at its place, and how that is shown: line, caret, what to write."""

from typing import NamedTuple

__all__ = ["Problem"]


class Problem(NamedTuple):
    """One thing that has to change before anything is contacted.

    ``line`` and ``column`` count from 1, in characters of the file as it stands; ``line`` 0 means the file as a whole.
    ``width`` counts the characters that are wrong; with 0 the source line is not shown (it may hold a private value).
    ``message`` says what is wrong, ``help`` what to write instead; both are plain sentences.
    """

    line: int
    column: int
    width: int
    message: str
    help: str
