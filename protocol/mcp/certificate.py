"""What people want to know of a server's certificate, read from DER alike on all platforms. Proves nothing."""

import ipaddress
import re
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

__all__ = ["Certificate", "read_certificate"]

#: Names that are kept; content delivery networks put hundreds into one certificate.
NAMES_LIMIT: Final = 50
#: Object identifiers, encoded (RFC 5280, appendix A): commonName, organizationName, subjectAltName.
_COMMON_NAME: Final = b"\x55\x04\x03"
_ORGANIZATION: Final = b"\x55\x04\x0a"
_ALTERNATIVES: Final = b"\x55\x1d\x11"
#: Tags (X.690, 8.1.2): of times, of strings with their encodings, and of the parts that are looked for by tag.
_TIMES: Final = {0x17: (re.compile(rb"[0-9]{12}Z"), 2), 0x18: (re.compile(rb"[0-9]{14}Z"), 4)}
_STRINGS: Final = {0x0C: "utf-8", 0x13: "ascii", 0x14: "latin-1", 0x16: "ascii", 0x1E: "utf-16-be"}
_SEQUENCE, _VERSION, _EXTENSIONS, _OCTETS = 0x30, 0xA0, 0xA3, 0x04
_DNS_NAME, _ADDRESS = 0x82, 0x87


class Certificate(NamedTuple):
    """``names`` are its host names and addresses; times are RFC 3339 in UTC. A name that it lacks is None."""

    subject: str | None
    issuer: str | None
    names: tuple[str, ...]
    begins: str
    ends: str

    def facts(self) -> dict[str, Any]:
        """Return it as facts of a step."""
        return {
            "subject": self.subject,
            "issuer": self.issuer,
            "names": list(self.names),
            "notBefore": self.begins,
            "notAfter": self.ends,
        }


class _Element(NamedTuple):
    tag: int
    content: bytes

    @property
    def parts(self) -> "list[_Element]":
        return _elements(self.content)


def read_certificate(der: bytes) -> Certificate | None:
    """Read a certificate (RFC 5280, section 4.1). Total: None for bytes that are none."""
    try:
        (certificate,) = _elements(der)
        parts = certificate.parts[0].parts
        if parts[0].tag == _VERSION:
            parts = parts[1:]
        _, _, issuer, validity, subject = parts[:5]
        begins, ends = validity.parts
        return Certificate(
            _name(subject, _COMMON_NAME),
            _name(issuer, _COMMON_NAME) or _name(issuer, _ORGANIZATION),
            tuple(_names(next((part for part in parts if part.tag == _EXTENSIONS), None))),
            _time(begins),
            _time(ends),
        )
    except (ValueError, IndexError):
        return None


def _elements(data: bytes) -> list[_Element]:
    """Split bytes into elements of definite length with tags of one byte, as DER has them. Raises ValueError."""
    found = []
    at = 0
    while at < len(data):
        if at + 2 > len(data):
            raise ValueError("an element is cut")
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            count = size & 0x7F
            size, at = int.from_bytes(data[at : at + count], "big"), at + count
        if at + size > len(data):
            raise ValueError("an element is cut")
        found.append(_Element(tag, data[at : at + size]))
        at += size
    return found


def _name(name: _Element, wanted: bytes) -> str | None:
    for relative in name.parts:
        for pair in relative.parts:
            kind, value = pair.parts
            if kind.content == wanted and value.tag in _STRINGS:
                return value.content.decode(_STRINGS[value.tag], "replace")
    return None


def _time(time: _Element) -> str:
    form, digits = _TIMES.get(time.tag, (re.compile(b"(?!)"), 0))
    if not form.fullmatch(time.content):
        raise ValueError("a time is malformed")
    text = time.content.decode("ascii")
    year = int(text[:digits])
    if digits == 2:
        year += 1900 if year >= 50 else 2000  # RFC 5280, section 4.1.2.5.1
    month, day, hour, minute, second = (int(text[at : at + 2]) for at in range(digits, digits + 10, 2))
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC).isoformat().replace("+00:00", "Z")


def _names(extensions: _Element | None) -> list[str]:
    for extension in extensions.parts[0].parts if extensions else []:
        parts = extension.parts
        if parts[0].content == _ALTERNATIVES and parts[-1].tag == _OCTETS:
            (names,) = parts[-1].parts
            return [text for name in names.parts[:NAMES_LIMIT] if (text := _alternative(name)) is not None]
    return []


def _alternative(name: _Element) -> str | None:
    if name.tag == _DNS_NAME:
        return name.content.decode("ascii", "replace")
    return str(ipaddress.ip_address(name.content)) if name.tag == _ADDRESS else None
