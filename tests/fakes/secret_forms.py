"""Forms in which a server may send a secret back, and an independent search for them in what was written.

Nothing of the product's redaction or leak scan is used here: a mistake there must not hide itself.
"""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

__all__ = ["FORMS", "found", "spell"]

_ESCAPE = re.compile(r'\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))')
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
#: A secret is looked for through so many layers of JSON strings.
LAYERS = 4


def _escaped(secret: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in secret)


def _layers(secret: str, count: int) -> str:
    text = secret
    for _ in range(count):
        text = json.dumps({"k": text})
    return text


#: Name of a form -> how a secret is written in a string value.
FORMS: dict[str, Any] = {
    "plain": lambda secret: secret,
    "inside": lambda secret: f"before {secret} after",
    "nested": lambda secret: _layers(secret, 2),
    "escaped": lambda secret: '{"k":"' + _escaped(secret) + '"}',
    "deep": lambda secret: _layers('{"k":"' + _escaped(secret) + '"}', 2),
    "percent": lambda secret: "".join(f"%{byte:02X}" for byte in secret.encode()),
    "query": lambda secret: "x=" + quote(secret, safe=""),
    "base64": lambda secret: base64.b64encode(f"user:{secret}!".encode()).decode(),
    "base64-1": lambda secret: base64.b64encode(f"{secret}".encode()).decode(),
    "base64-2": lambda secret: base64.urlsafe_b64encode(f"ab{secret}cd".encode()).decode(),
}


def spell(secrets: list[str], form: str) -> str:
    """Write all secrets in one text, in one form; nested JSON stays JSON by standing alone between line feeds."""
    return "\n".join(FORMS[form](secret) for secret in secrets)


def found(written: bytes, secrets: list[str]) -> list[tuple[str, str]]:
    """Return each secret with the form in which it still stands somewhere in the bytes."""
    text = written.decode("utf-8", "replace")
    views = dict(_views(text))
    hits = [(secret, name) for name, view in views.items() for secret in secrets if secret in view]
    for secret in secrets:
        hits += [(secret, "base64") for middle in _base64(secret) if any(middle in view for view in views.values())]
    return hits


def _views(text: str) -> Iterator[tuple[str, str]]:
    """Give the text as it is, and with its JSON escapes and its percent-encoding decoded."""
    for layer in range(LAYERS + 2):
        yield f"escapes {layer}", text
        yield f"percent {layer}", unquote(text)
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _SHORT.get(match[2], match[2]), text)


def _base64(secret: str) -> Iterator[str]:
    raw = secret.encode()
    for shift in range(3):
        text = base64.b64encode(b"\0" * shift + raw).decode()
        # Only the characters that no neighbouring byte has a share in.
        middle = text[(shift * 8 + 5) // 6 : (shift + len(raw)) * 8 // 6]
        yield middle
        yield middle.translate(str.maketrans("+/", "-_"))
