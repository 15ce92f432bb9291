"""Holds one page to its admission: whatever navigates it, the request is looked at before it leaves."""

import asyncio
import contextlib
from typing import Any, Final, NamedTuple

from playwright.async_api import BrowserContext, CDPSession, Error, Frame, Page, Request, Route
from playwright.async_api import TimeoutError as PlaywrightTimeout

from host.origins import MISDIRECTED
from host.providers.browser.admission import BLANK, Admission, place

__all__ = ["Blocked", "Guard"]

_PATTERN: Final = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}
#: Seconds between a page's wish to go somewhere and the request for it; some wishes are refused without one (`data:`).
_WISH_SECONDS: Final = 0.5
#: Seconds that a page gets to load what it shows: only then does Chromium heed its `Refresh`.
_LOAD_SECONDS: Final = 1.0


class Blocked(NamedTuple):
    """A page that was not navigated to: where it lies (an origin, MISDIRECTED), and whether it was a second window."""

    where: str
    window: bool


class Guard:
    """Looks at each navigation of ``page``, and at each request of any other page of its context.

    Playwright's routes see the first request of a navigation only, never what a redirect leads to; the browser's own
    interception (CDP, Fetch domain) sees every one, but of one page. So windows are refused by a route, at their first
    request, and the page's navigations by the interception. ``take`` tells what was refused since it was last asked.
    """

    def __init__(self, context: BrowserContext, page: Page, admission: Admission) -> None:
        self.admission = admission
        self._context = context
        self._page = page
        self._session: CDPSession | None = None
        self._frame = ""
        self._blocked: list[Blocked] = []
        self._refused = asyncio.Event()
        #: Windows that were refused when the page asked for them, and whose first request is still to come.
        self._announced: list[str] = []
        self._wished = False
        self._going = False
        self._moved = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin, before the page goes anywhere."""
        await self._context.route("**/*", self._route)
        self._context.on("page", self._opened)
        self._page.on("framenavigated", self._navigated)
        self._page.on("requestfailed", self._failed)
        self._session = session = await self._context.new_cdp_session(self._page)
        tree = await session.send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", lambda event: self._soon(self._paused(session, event)))
        session.on("Page.windowOpen", self._window)
        session.on("Page.frameRequestedNavigation", self._wish)
        session.on("Page.frameScheduledNavigation", self._schedule)
        session.on("Page.downloadWillBegin", lambda _event: self._move(going=False))
        await session.send("Page.enable")
        await session.send("Fetch.enable", {"patterns": [_PATTERN]})

    def take(self) -> list[Blocked]:
        """Return what was refused since the last call, each once."""
        blocked = list(dict.fromkeys(self._blocked))
        self._blocked.clear()
        self._refused.clear()
        return blocked

    async def refused(self) -> None:
        """Wait until something is refused that was not taken yet."""
        await self._refused.wait()

    async def settle(self, seconds: float) -> None:
        """Wait until what a command set off has come to something: another page, or a refusal. At most ``seconds``."""
        with contextlib.suppress(TimeoutError, Error):
            async with asyncio.timeout(seconds):
                while await self._is_leaving():
                    self._moved.clear()
                    limit = None if self._going else _WISH_SECONDS
                    await asyncio.wait_for(self._moved.wait(), limit)
        self._wished = False

    async def _is_leaving(self) -> bool:
        assert self._session is not None
        if not self._going:
            with contextlib.suppress(PlaywrightTimeout):
                await self._page.wait_for_load_state("load", timeout=_LOAD_SECONDS * 1000)
            # What the page asked for before this is told before the answer to it.
            await self._session.send("Runtime.evaluate", {"expression": "0"})
        return self._wished or self._going

    def _refuse(self, url: str, *, window: bool) -> None:
        missed = not window and self.admission.misses(url)
        self._blocked.append(Blocked(MISDIRECTED if missed else place(url), window))
        self._refused.set()
        self._move(going=False)

    def _move(self, *, going: bool) -> None:
        self._wished, self._going = False, going
        self._moved.set()

    def _wish(self, event: dict[str, Any]) -> None:
        if event.get("frameId") == self._frame and event.get("disposition", "currentTab") == "currentTab":
            self._wished = True

    def _schedule(self, event: dict[str, Any]) -> None:
        """Take a `Refresh` without a delay for a wish; one with a delay is a matter of a later step."""
        if event.get("frameId") == self._frame and event.get("delay") == 0:
            self._wished = True

    def _window(self, event: dict[str, Any]) -> None:
        """Refuse a window as soon as the page asks for it: its first request comes some time later."""
        self._announced.append(place(event["url"]))
        self._refuse(event["url"], window=True)

    def _refuse_window(self, url: str) -> None:
        where = place(url)
        if where in self._announced:
            self._announced.remove(where)
        else:
            self._refuse(url, window=True)

    async def _route(self, route: Route) -> None:
        request = route.request
        with contextlib.suppress(Error):
            if self._is_ours(route):
                await route.continue_()
            else:
                self._refuse_window(request.url)
                await route.abort("blockedbyclient")

    def _opened(self, page: Page) -> None:
        """Close another window. One that asked for an address was refused that already."""
        if page.url in BLANK:
            self._refuse_window(page.url)
        self._soon(_close(page))

    def _is_ours(self, route: Route) -> bool:
        try:
            return route.request.frame.page == self._page
        except Error:
            # Only a new window's first request comes before its frame is known.
            return False

    async def _paused(self, session: CDPSession, event: dict[str, Any]) -> None:
        url, identity = event["request"]["url"], {"requestId": event["requestId"]}
        with contextlib.suppress(Error):
            ours = event.get("frameId") == self._frame
            if ours and not self.admission.admits(url):
                self._refuse(url, window=False)
                await session.send("Fetch.failRequest", identity | {"errorReason": "Aborted"})
            else:
                if ours:
                    self._move(going=True)
                await session.send("Fetch.continueRequest", identity)

    def _navigated(self, frame: Frame) -> None:
        """Leave a page at once that should never have come up; that it did is told all the same."""
        if frame == self._page.main_frame:
            self._move(going=False)
        web = frame.url.startswith(("http:", "https:"))
        if frame == self._page.main_frame and web and not self.admission.admits(frame.url):
            self._refuse(frame.url, window=False)
            self._soon(_leave(self._page))

    def _failed(self, request: Request) -> None:
        with contextlib.suppress(Error):
            if request.is_navigation_request() and request.frame == self._page.main_frame:
                self._move(going=False)

    def _soon(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _close(page: Page) -> None:
    with contextlib.suppress(Error):
        await page.close()


async def _leave(page: Page) -> None:
    with contextlib.suppress(Error):
        await page.goto("about:blank")
