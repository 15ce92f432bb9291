"""Holds one page to its admission: whatever navigates it, the request is looked at before it leaves."""

import asyncio
import contextlib
from typing import Any, Final, NamedTuple

from playwright.async_api import BrowserContext, CDPSession, Error, Frame, Page, Route

from host.providers.browser.admission import Admission, place

__all__ = ["Blocked", "Guard"]

_PATTERN: Final = {"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}


class Blocked(NamedTuple):
    """A page that was not navigated to: where it lies (an origin), and whether a second window was asked for."""

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
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Begin, before the page goes anywhere."""
        await self._context.route("**/*", self._route)
        self._context.on("page", lambda page: self._soon(_close(page)))
        self._page.on("framenavigated", self._navigated)
        self._session = session = await self._context.new_cdp_session(self._page)
        tree = await session.send("Page.getFrameTree")
        self._frame = tree["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", lambda event: self._soon(self._paused(session, event)))
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

    def _refuse(self, url: str, *, window: bool) -> None:
        self._blocked.append(Blocked(place(url), window))
        self._refused.set()

    async def _route(self, route: Route) -> None:
        request = route.request
        with contextlib.suppress(Error):
            if self._is_ours(route):
                await route.continue_()
            else:
                self._refuse(request.url, window=True)
                await route.abort("blockedbyclient")

    def _is_ours(self, route: Route) -> bool:
        try:
            return route.request.frame.page == self._page
        except Error:
            # Only a new window's first request comes before its frame is known.
            return False

    async def _paused(self, session: CDPSession, event: dict[str, Any]) -> None:
        url, identity = event["request"]["url"], {"requestId": event["requestId"]}
        with contextlib.suppress(Error):
            if event.get("frameId") == self._frame and not self.admission.admits(url):
                self._refuse(url, window=False)
                await session.send("Fetch.failRequest", identity | {"errorReason": "Aborted"})
            else:
                await session.send("Fetch.continueRequest", identity)

    def _navigated(self, frame: Frame) -> None:
        """Leave a page at once that should never have come up; that it did is told all the same."""
        web = frame.url.startswith(("http:", "https:"))
        if frame == self._page.main_frame and web and not self.admission.admits(frame.url):
            self._refuse(frame.url, window=False)
            self._soon(_leave(self._page))

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
