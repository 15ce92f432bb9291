"""Content encodings: what is decoded, where it stops, and how a bomb ends."""

import gzip
import zlib

import pytest

from protocol.mcp.bodies import BodyError, Decoder, decoder

TEXT = b'{"a": "' + b"x" * 500 + b'"}'


def raw_deflate(data: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


ENCODED = [
    ("", TEXT),
    ("identity", TEXT),
    (" GZIP ", gzip.compress(TEXT, mtime=0)),
    ("x-gzip", gzip.compress(TEXT, mtime=0)),
    ("gzip", gzip.compress(TEXT[:100], mtime=0) + gzip.compress(TEXT[100:], mtime=0)),
    ("deflate", zlib.compress(TEXT)),
    ("deflate", raw_deflate(TEXT)),
]


def feed(body: Decoder, data: bytes, size: int) -> bytes:
    return b"".join(body.feed(data[at : at + size]) for at in range(0, len(data), size))


@pytest.mark.parametrize(("encoding", "data"), ENCODED)
@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_body_is_decoded_in_any_pieces(encoding: str, data: bytes, size: int) -> None:
    body = decoder(encoding, 10_000)
    assert feed(body, data, size) == TEXT
    assert body.finish()


@pytest.mark.parametrize(("encoding", "data"), ENCODED)
def test_a_body_of_the_limit_passes_and_one_byte_more_does_not(encoding: str, data: bytes) -> None:
    assert feed(decoder(encoding, len(TEXT)), data, 50) == TEXT
    with pytest.raises(BodyError) as caught:
        feed(decoder(encoding, len(TEXT) - 1), data, 50)
    assert caught.value.too_large
    assert str(len(TEXT) - 1) in caught.value.reason


@pytest.mark.parametrize(("encoding", "data"), ENCODED)
def test_what_is_within_the_limit_is_handed_over_with_the_error(encoding: str, data: bytes) -> None:
    with pytest.raises(BodyError) as caught:
        decoder(encoding, len(TEXT) - 1).feed(data)
    assert caught.value.rest == TEXT[:-1]


def test_a_bomb_is_inflated_to_one_byte_past_the_limit_and_no_further() -> None:
    bomb = gzip.compress(bytes(60_000_000), compresslevel=9)
    body = decoder("gzip", 1_000_000)
    with pytest.raises(BodyError) as caught:
        body.feed(bomb)
    assert caught.value.too_large


def test_compressed_bytes_are_bounded_as_well() -> None:
    # Empty members add input and no output.
    with pytest.raises(BodyError) as caught:
        feed(decoder("gzip", 100), gzip.compress(b"") * 6, 20)
    assert caught.value.too_large


def test_an_unknown_encoding_is_refused_by_name() -> None:
    with pytest.raises(BodyError, match="content encoding br,") as caught:
        decoder("br", 10)
    assert not caught.value.too_large
    with pytest.raises(BodyError):
        decoder("gzip, gzip", 10)


@pytest.mark.parametrize(
    ("encoding", "data", "reason"),
    [
        ("gzip", b"not gzip at all", "damaged"),
        ("gzip", gzip.compress(TEXT, mtime=0) + b"tail", "damaged"),
        ("deflate", b"\x78\x9c" + b"\xff" * 20, "damaged"),
        ("deflate", zlib.compress(TEXT) + b"tail", "data follows"),
    ],
)
def test_damage_is_told_from_size(encoding: str, data: bytes, reason: str) -> None:
    with pytest.raises(BodyError, match=reason) as caught:
        feed(decoder(encoding, 10_000), data, 9)
    assert not caught.value.too_large


def test_a_compressed_body_that_ends_early_is_not_whole() -> None:
    body = decoder("gzip", 10_000)
    body.feed(gzip.compress(TEXT, mtime=0)[:-4])
    assert not body.finish()


def test_an_empty_body_is_whole_in_every_encoding() -> None:
    assert all(decoder(encoding, 10).finish() for encoding in ("", "gzip", "deflate"))
