"""Starts Chromium through Playwright, one for each alias with a fresh profile, and ends it with all that it left."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Final

from playwright.async_api import BrowserContext, Error, Playwright, async_playwright

from host.providers.browser.finding import find_chromium
from host.providers.browser.workplace import Workplace, is_root, silenced
from protocol.failures import Code, Failed

__all__ = ["Chromium"]

#: No network traffic of the browser's own, no first-run pages, and no proxy that the environment names.
FLAGS: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
)
VIEWPORT: Final = (1280, 720)
#: Seconds for a browser to start; half a second is usual.
LAUNCH_SECONDS: Final = 30.0
#: Seconds for a browser, and then for the driver, to end.
CLOSE_SECONDS: Final = 1.5


class Chromium:
    """The browsers of one plugin process. Starts nothing before the first is asked for.

    ``environment`` is the one that the process was started with.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._workplace: Workplace | None = None
        self._playwright: Playwright | None = None
        self._contexts: list[BrowserContext] = []

    async def start(self) -> BrowserContext:
        """Start a browser with one blank page. Raises Failed (`browser_missing`)."""
        if self._workplace is None:
            self._workplace = Workplace()
        if self._playwright is None:
            with silenced():
                self._playwright = await async_playwright().start()
        kind = self._playwright.chromium
        path = find_chromium(kind.executable_path, self._environment)
        try:
            context = await kind.launch_persistent_context(
                self._workplace.profile(),
                executable_path=path,
                args=list(FLAGS),
                chromium_sandbox=not is_root(),
                headless=True,
                accept_downloads=False,
                service_workers="block",
                viewport={"width": VIEWPORT[0], "height": VIEWPORT[1]},
                timeout=LAUNCH_SECONDS * 1000,
            )
        except Error:
            told = f"The browser {path} did not start. Where user namespaces are switched off, its sandbox cannot work."
            raise Failed(Code.BROWSER_MISSING, told) from None
        self._contexts.append(context)
        return context

    async def close(self, context: BrowserContext) -> None:
        """End one browser; whatever it is in the middle of breaks off."""
        if context in self._contexts:
            self._contexts.remove(context)
            await _bounded(context.close())

    async def forget(self) -> None:
        """Give up a driver that is gone, and its browsers with it: the next one starts another."""
        self._contexts.clear()
        gone, self._playwright = self._playwright, None
        if gone is not None:
            await _bounded(gone.stop())

    async def end(self) -> None:
        """End every browser and the driver."""
        await asyncio.gather(*(self.close(context) for context in tuple(self._contexts)))
        if self._playwright is not None:
            await _bounded(self._playwright.stop())

    def remove(self) -> None:
        """Remove what browsers wrote."""
        if self._workplace is not None:
            self._workplace.remove()


async def _bounded(ending: object) -> None:
    """Wait for an end, not for ever. A driver that is gone has taken its browsers with it."""
    with contextlib.suppress(Error, TimeoutError, OSError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await ending  # type: ignore[misc]
