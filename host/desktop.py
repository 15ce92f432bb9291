"""The person's own browser: shows one page in it, without the page's URL in any argument vector."""

import contextlib
import os
import secrets
import threading
import webbrowser
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Final, Self

__all__ = ["Signpost", "open_browser"]

#: Bytes of randomness in the path that sends a browser on: nobody on this machine guesses it in time.
_ENTROPY: Final = 18
#: Seconds that a visitor gets for each part of a request.
VISIT_SECONDS: Final = 10.0


class _Visit(BaseHTTPRequestHandler):
    """One visitor, who is told nothing but the way: neither a page nor which program answers."""

    timeout = VISIT_SECONDS
    server: "_Server"

    def do_GET(self) -> None:
        target = self.server.take(self.path) if self.request_version != "HTTP/0.9" else None
        self._answer(404 if target is None else 303, target)

    def send_error(self, code: int, _message: str | None = None, _explain: str | None = None) -> None:
        """Answer what is no request that a browser makes."""
        self.close_connection = True
        self._answer(code, None)

    def _answer(self, status: int, target: str | None) -> None:
        self.send_response_only(status)
        if target is not None:
            self.send_header("Location", target)
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Write nothing: the request line is nobody's business."""


class _Server(ThreadingHTTPServer):
    """``take`` tells where to send a visitor of a path, if anywhere."""

    daemon_threads = True

    def __init__(self, take: Callable[[str], str | None]) -> None:
        super().__init__(("127.0.0.1", 0), _Visit)
        self.take = take

    def handle_error(self, *_: object) -> None:
        """Say nothing of a visitor who hung up."""


class Signpost:
    """A page on 127.0.0.1 that sends the first visitor of its random path on to ``url``, and nobody after that.

    Programs are started with the signpost's own URL, for every user of a machine can read their arguments.
    """

    def __init__(self, url: str) -> None:
        self._path = f"/{secrets.token_urlsafe(_ENTROPY)}"
        self._target: str | None = url
        self._lock = threading.Lock()
        self._server = _Server(self.take)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{self._path}"

    @property
    def awaited(self) -> bool:
        """Whether its visitor may still come."""
        return self._target is not None

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
        self._target = None
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def open_browser(url: str, hidden: Iterable[str], on_failure: Callable[[], None]) -> threading.Thread:
    """Have the person's browser open a page, as the variable BROWSER or the desktop says, beside what goes on here.

    Some browsers return only when they are closed, so it is done on a thread, which is returned. ``on_failure`` is
    called there when no page was opened. ``hidden`` names environment variables that no child may get; they are taken
    out of this process for good.
    """
    for name in hidden:
        os.environ.pop(name, None)

    def work() -> None:
        opened = False
        with contextlib.suppress(webbrowser.Error, OSError):
            opened = webbrowser.open(url)
        if not opened:
            on_failure()

    thread = threading.Thread(target=work, name="browser", daemon=True)
    thread.start()
    return thread
