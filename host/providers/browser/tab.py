"""One alias's browser: its page, its guard, and what must not be shown of it."""

from collections.abc import Callable

from playwright.async_api import BrowserContext, Page

from host.providers.browser.guard import Guard

__all__ = ["Tab"]


class Tab:
    """A browser with one page.

    ``private`` is true while a sign-in is under way: nothing of the page is recorded then. ``filled`` holds the
    selectors of private fields. ``over`` is set when the page or its browser ends, by whatever; ``on_consent_gone`` is
    called when that happens while a sign-in is under way.
    """

    def __init__(self, context: BrowserContext, page: Page, guard: Guard, on_consent_gone: Callable[[], None]) -> None:
        self.context = context
        self.page = page
        self.guard = guard
        self.private = False
        self.filled: list[str] = []
        self.over = False
        self._on_consent_gone = on_consent_gone
        page.on("close", lambda _page: self._end())
        page.on("crash", lambda _page: self._end())
        context.on("close", lambda _context: self._end())

    def _end(self) -> None:
        if self.private and not self.over:
            self._on_consent_gone()
        self.over = True
