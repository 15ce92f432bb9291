"""The event loop that a browser lives on: a thread of its own, so that pages go on between two commands.

Every request of a page is looked at on the way out. Between two commands nobody waits for the browser, and a sign-in
is then on its way from the consent page to the callback that another plugin's command is waiting for.
"""

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["EventLoop"]

Result = TypeVar("Result")


class EventLoop:
    """Runs one piece of work at a time for the thread that waits for it; ``cancel`` may come from any other."""

    def __init__(self) -> None:
        # asyncio logs the texts of exceptions that nobody waits for; Playwright's may quote pages.
        logging.getLogger("asyncio").disabled = True
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda _loop, _context: None)
        self._task: asyncio.Task[Any] | None = None
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def run(self, work: Callable[[], Coroutine[Any, Any, Result]], cancelled: Callable[[], bool]) -> Result:
        """Carry out work and return its result. What ``cancel`` interrupts sees asyncio.CancelledError."""

        async def watched() -> Result:
            self._task = asyncio.current_task()
            try:
                if cancelled():
                    self.cancel()
                return await work()
            finally:
                self._task = None

        return asyncio.run_coroutine_threadsafe(watched(), self._loop).result()

    def cancel(self) -> None:
        """Interrupt the work under way, if there is any. Never waits."""
        self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        if self._task is not None:
            self._task.cancel()
