"""One alias's browser: its page, its guard, and what must not be shown of it."""

from playwright.async_api import BrowserContext, Page

from host.providers.browser.guard import Guard

__all__ = ["Tab"]


class Tab:
    """A browser with one page.

    ``private`` is true while a sign-in is under way: nothing of the page is recorded then. ``filled`` holds the
    selectors of private fields. ``over`` is set when the page or its browser ends, by whatever.
    """

    def __init__(self, context: BrowserContext, page: Page, guard: Guard) -> None:
        self.context = context
        self.page = page
        self.guard = guard
        self.private = False
        self.filled: list[str] = []
        self.over = False
        page.on("close", lambda _page: self._end())
        page.on("crash", lambda _page: self._end())
        context.on("close", lambda _context: self._end())

    def _end(self) -> None:
        self.over = True
