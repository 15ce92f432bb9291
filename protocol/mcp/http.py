"""The HTTP transport: httpx's own, over a network of ours that holds absolute deadlines and can be interrupted."""

from collections.abc import Iterable

__all__ = ["HttpTransport"]


class HttpTransport:
    """One identity's way to the network. ``origins`` are the admitted ones; ``ca`` is PEM added to system trust."""

    def __init__(self, origins: Iterable[str], ca: bytes | None = None) -> None:
        raise NotImplementedError
