"""The secrets of one sign-in, made from entropy that is handed in: the PKCE verifier and the state."""

from base64 import urlsafe_b64encode
from typing import Final, NamedTuple

__all__ = ["ENTROPY", "Proof", "mint"]

#: Bytes of entropy for one sign-in: 256 bits each for verifier and state (RFC 7636, section 7.1).
ENTROPY: Final = 64


class Proof(NamedTuple):
    """What ties a callback and an exchange to the sign-in that began them. ``challenge`` alone is public."""

    verifier: str
    challenge: str
    state: str

    def __repr__(self) -> str:
        return "<Proof>"


def mint(entropy: bytes) -> Proof:
    """Make verifier (43 characters), S256 challenge and state (RFC 7636, sections 4.1 and 4.2).

    ``entropy`` is exactly ENTROPY random bytes, used for nothing else; anything else is a ValueError.
    """
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    if len(entropy) != ENTROPY:
        raise ValueError(f"a sign-in takes {ENTROPY} bytes of entropy")
    verifier, state = _text(entropy[: ENTROPY // 2]), _text(entropy[ENTROPY // 2 :])
    return Proof(verifier, create_s256_code_challenge(verifier), state)


def _text(entropy: bytes) -> str:
    return urlsafe_b64encode(entropy).rstrip(b"=").decode("ascii")
