"""Text that GitHub Actions takes no orders from: its runner reads workflow commands in whatever a step prints."""

import re
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

__all__ = ["Form", "inert_document", "inert_text"]

#: What a document is written in, which decides how a character in it can be spelled otherwise.
Form: TypeAlias = Literal["json", "markup"]

#: Where the runner begins to read a command, on both streams: `::` at the start of a line, blanks aside, and, in the
#: form of its first version, `##[` anywhere in it.
_COMMAND: Final = re.compile(r"^(?P<blank>\s*):(?=:)|(?P<hashes>##)\[", re.MULTILINE)
#: Spellings of the colon and the bracket that would begin one.
_IN_TEXT: Final = ("\\x3a", "\\x5b")
_IN_DOCUMENT: Final[Mapping[Form, tuple[str, str]]] = {
    "json": ("\\u003a", "\\u005b"),
    "markup": ("&#58;", "&#91;"),
}


def inert_text(text: str) -> str:
    """Return lines for people in which no command begins: what would begin one is spelled as an escape."""
    return _spelled(text, *_IN_TEXT)


def inert_document(content: bytes, form: Form) -> bytes:
    """Return a document that means the same, and in which no command begins."""
    text = content.decode("utf-8", "surrogateescape")
    return _spelled(text, *_IN_DOCUMENT[form]).encode("utf-8", "surrogateescape")


def _spelled(text: str, colon: str, bracket: str) -> str:
    if "::" not in text and "##[" not in text:
        return text
    return _COMMAND.sub(lambda found: found["hashes"] + bracket if found["hashes"] else found["blank"] + colon, text)
