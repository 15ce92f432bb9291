"""The person's own browser: shows one page in it, without the page's URL in any argument vector."""

import contextlib
import os
import secrets
import threading
import webbrowser
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

__all__ = ["Signpost", "open_browser"]

#: Bytes of randomness in the path that sends a browser on: nobody on this machine guesses it in time.
_ENTROPY: Final = 18


class Signpost:
    """A page on 127.0.0.1 that sends the first visitor of its random path on to ``url``, and nobody after that.

    Programs are started with the signpost's own URL, for every user of a machine can read their arguments.
    """

    def __init__(self, url: str) -> None:
        self._path = f"/{secrets.token_urlsafe(_ENTROPY)}"
        self._target: str | None = url
        self._lock = threading.Lock()
        post = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                target = post.take(self.path)
                self.send_response(404 if target is None else 303)
                if target is not None:
                    self.send_header("Location", target)
                    self.send_header("Referrer-Policy", "no-referrer")
                    self.send_header("Cache-Control", "no-store")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Write nothing: the request line is nobody's business."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._path}"

    def take(self, path: str) -> str | None:
        """Return where to send a visitor of this path; None for a wrong path, and for all but the first visitor."""
        if not secrets.compare_digest(path.encode(), self._path.encode()):
            return None
        with self._lock:
            target, self._target = self._target, None
        return target

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def open_browser(url: str, hidden: Iterable[str]) -> bool:
    """Have the person's browser open a page, as the variable BROWSER or the desktop says; tell whether that worked.

    ``hidden`` names environment variables that no child may get; they are taken out of this process for good.
    """
    for name in hidden:
        os.environ.pop(name, None)
    with contextlib.suppress(webbrowser.Error, OSError):
        return webbrowser.open(url)
    return False
