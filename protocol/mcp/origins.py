"""The rule that a request goes to an admitted origin or nowhere. What an origin is, `protocol.values.urls` says."""

from collections.abc import Container

from protocol.values.urls import OriginError, origin

__all__ = ["OriginError", "is_admitted", "origin"]


def is_admitted(url: str, admitted: Container[str]) -> bool:
    """Tell whether the URL's origin is among the admitted ones, which are written as :func:`origin` writes them."""
    try:
        return origin(url) in admitted
    except OriginError:
        return False
