"""Bodies of HTTP responses as they are decoded: gzip and deflate, stopped at a limit (RFC 9110, section 8.4.1)."""

import zlib
from typing import Final, Protocol

__all__ = ["BodyError", "Inflater", "Verbatim", "decoder"]

_GZIP: Final = 16 + zlib.MAX_WBITS
_ZLIB: Final = zlib.MAX_WBITS
_RAW: Final = -zlib.MAX_WBITS


class BodyError(ValueError):
    """The body cannot be read on. ``reason`` quotes nothing of it, and may name its content encoding uncut.

    ``too_large`` when it passed the limit.

    ``rest`` is what of the last piece was within the limit.
    """

    def __init__(self, reason: str, *, too_large: bool = False, rest: bytes = b"") -> None:
        super().__init__(reason)
        self.reason = reason
        self.too_large = too_large
        self.rest = rest


class Decoder(Protocol):
    """Takes the body as it comes and gives it decoded. Both sides are bounded by one limit, in bytes."""

    def feed(self, chunk: bytes) -> bytes:
        """Take bytes and return what they decode to. Raises BodyError."""

    def finish(self) -> bool:
        """Tell whether the body was whole when it ended."""


def decoder(encoding: str, limit: int) -> Decoder:
    """Return the decoder for a ``Content-Encoding``, which may be empty. Raises BodyError for one that is unknown."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return Verbatim(limit)
    if name in ("gzip", "x-gzip"):
        return Inflater(limit, _GZIP)
    if name == "deflate":
        return Inflater(limit, _ZLIB)
    raise BodyError(f"the body has the content encoding {encoding}, which was not asked for")


class Verbatim:
    """A body that is not encoded. ``limit`` bytes pass, one more does not."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        self._limit = limit

    def feed(self, chunk: bytes) -> bytes:
        left = self._left
        self._left -= len(chunk)
        if self._left < 0:
            raise too_large(self._limit, chunk[:left])
        return chunk

    def finish(self) -> bool:
        return True


class Inflater:
    """A body in gzip or deflate. Inflating stops one byte past the limit, however little input would give more.

    ``deflate`` means the zlib format; many servers send raw deflate under that name, so a body that does not begin as
    zlib is taken as raw. Several gzip members in a row are one body (RFC 1952, section 2.2).
    """

    def __init__(self, limit: int, window: int) -> None:
        self._limit = limit
        self._raw_left = limit
        self._left = limit
        self._window = window
        self._inflate = zlib.decompressobj(window)
        self._begun = False

    def feed(self, chunk: bytes) -> bytes:
        self._raw_left -= len(chunk)
        if self._raw_left < 0:
            raise too_large(self._limit)
        parts = []
        while chunk:
            part, chunk = self._step(chunk)
            parts.append(part[: self._left])
            self._left -= len(part)
            if self._left < 0:
                raise too_large(self._limit, b"".join(parts))
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def finish(self) -> bool:
        return self._inflate.eof or not self._begun

    def _step(self, chunk: bytes) -> tuple[bytes, bytes]:
        if self._inflate.eof:
            if self._window != _GZIP:
                raise BodyError("data follows the compressed body")
            self._inflate = zlib.decompressobj(self._window)
        if not self._begun and self._window == _ZLIB and chunk[0] & 0x0F != 8:
            self._inflate = zlib.decompressobj(_RAW)
        self._begun = True
        try:
            part = self._inflate.decompress(chunk, self._left + 1)
        except zlib.error:
            raise BodyError("the compressed body is damaged") from None
        return part, self._inflate.unused_data or self._inflate.unconsumed_tail


def too_large(limit: int, rest: bytes = b"") -> BodyError:
    """Return the error for a body past the limit."""
    return BodyError(f"the reply passes `maxResponseBytes` ({limit})", too_large=True, rest=rest)
