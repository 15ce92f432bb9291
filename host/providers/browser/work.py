"""What happens on the browser's thread: tabs, their commands, and what each came to."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final

from playwright.async_api import Error
from playwright.async_api import TimeoutError as PlaywrightTimeout

from host.providers.browser.actions import ACTIONS, REFUSED, Act, visit
from host.providers.browser.admission import Admission
from host.providers.browser.binding import Binding
from host.providers.browser.chromium import Chromium
from host.providers.browser.commands import COMMANDS
from host.providers.browser.guard import Guard
from host.providers.browser.tab import Tab
from host.providers.browser.troubles import ENDED, blocked_outcome, explain
from host.providers.outcome import Asked, Outcome
from protocol.failures import Code, Failed
from protocol.wire.context import Context
from protocol.wire.steps import Effect

__all__ = ["Work"]

#: Seconds that Playwright gets to notice a deadline by itself, before what it is in is broken off.
SLACK_SECONDS: Final = 1.0
#: Seconds in which a driver tells what has ended.
TELLING_SECONDS: Final = 0.1
#: Commands after which a page may want to go somewhere.
_LEAVING: Final = frozenset({"open", "click", "press"})
#: HTTP status from which on a refusal is the server's own trouble, and what to do about the two kinds.
_SERVER_ERROR: Final = 500
_ADVICE: Final = {
    False: "Most often its server does not know the client, or not with this redirect: compare `clientId`,"
    " `callbackPath`, `callbackPort` and `callbackHost` with what is registered there.",
    True: "Look at the authorization server's log.",
}
#: What our own listener answers to a callback that comes once more, and why it takes another for none.
_USED: Final = 410
_NO_CALLBACK: Final = (
    "The authorization server sent the page back at once, and not with what a callback has: its parameters stand in the"
    " query of the redirect."
)


class Work:
    """The tabs by alias. Every coroutine of it runs on the browser's event loop, one at a time."""

    def __init__(self, context: Context, environment: Mapping[str, str]) -> None:
        self._context = context
        self._chromium = Chromium(environment)
        self._tabs: dict[str, Tab] = {}
        #: Aliases whose sign-in is under way: also a browser that is started meanwhile is in private.
        self._private: set[str] = set()

    async def perform(self, asked: Asked, binding: Binding) -> Outcome:
        """Carry out a command. Raises Failed for what is decided before anything of it happened."""
        act: Act | None = None
        effect: Effect = COMMANDS[asked.command].effect
        try:
            tab = await self._tab(asked.alias, create=asked.command == "open")
            blocked = tab.guard.take()
            if blocked:
                return blocked_outcome(blocked[0], acted=False)
            act = Act(tab, asked.values, binding, self._context.redactor)
            outcome = await self._bounded(act, ACTIONS[asked.command], effect, leaving=asked.command in _LEAVING)
            if tab.over:
                await self._drop(asked.alias)
            return outcome
        except asyncio.CancelledError:
            acting = act is not None and act.acting
            return await self._cancelled(asked.alias, lost=acting and effect == "mutate")

    async def show(self, alias: str, url: str, binding: Binding) -> Outcome:
        """Open a consent page, in private: nothing of it is told."""
        try:
            self._private.add(alias)
            tab = await self._tab(alias, create=True)
            tab.private = True
            tab.guard.take()
            tab.guard.admission.begin(url)
            act = Act(tab, {"url": url}, binding, self._context.redactor)
            outcome = await self._bounded(act, _show, "observe", leaving=False)
        except Failed as failed:
            outcome = Outcome(failed.failure.message, "failed", failed.code)
        except asyncio.CancelledError:
            outcome = await self._cancelled(alias, lost=False)
        return outcome

    async def close_consent(self, alias: str) -> Outcome:
        """End the private time of an alias. Its page becomes blank, so that nothing of the sign-in stays in view.

        The facts tell where the page wanted to go meanwhile, and no step was there to say so.
        """
        tab = self._tabs.get(alias)
        blocked: list[str] = []
        if tab is not None and tab.private:
            blocked = [each.where for each in tab.guard.take()]
            try:
                await tab.page.goto("about:blank")
            except Error:
                await self._drop(alias)
            tab.guard.admission.end()
            tab.guard.take()
            tab.private = False
        self._private.discard(alias)
        return Outcome("The page is blank.", facts={"blocked": blocked})

    async def end(self) -> None:
        """End every browser."""
        self._tabs.clear()
        await self._chromium.end()

    def remove(self) -> None:
        """Remove what browsers wrote."""
        self._chromium.remove()

    async def _tab(self, alias: str, *, create: bool) -> Tab:
        tab = self._tabs.get(alias)
        if tab is not None and tab.over:
            await self._drop(alias)
            tab = None
        if tab is not None:
            return tab
        if not create:
            raise Failed(Code.NOT_CONNECTED, "No page is open: an `open` that succeeds has to come first.")
        context = await self._chromium.start()
        page = context.pages[0] if context.pages else await context.new_page()
        guard = Guard(context, page, Admission(self._context.origins))
        try:
            await guard.start()
        except Error:
            await self._chromium.close(context)
            raise Failed(Code.BROWSER_MISSING, "The browser ended as soon as it had started.") from None
        gone = partial(self._context.tell_consent_gone, alias)
        tab = self._tabs[alias] = Tab(context, page, guard, gone)
        tab.private = alias in self._private
        return tab

    async def _bounded(
        self, act: Act, action: Callable[[Act], Awaitable[Outcome]], effect: Effect, *, leaving: bool
    ) -> Outcome:
        try:
            async with asyncio.timeout(act.left + SLACK_SECONDS):
                outcome = await action(act)
                if leaving:
                    await act.tab.guard.settle(act.left)
        except Failed as failed:
            outcome = Outcome(failed.failure.message, "failed", failed.code)
        except Error as error:
            timeout = isinstance(error, PlaywrightTimeout)
            if ENDED in error.message:
                await self._notice_end(act.tab)
            outcome = explain(error.message, effect, timeout=timeout, over=act.tab.over, acting=act.acting)
        except TimeoutError:
            act.tab.over = True
            outcome = explain("", effect, timeout=True, over=False, acting=act.acting)
        blocked = act.tab.guard.take()
        return blocked_outcome(blocked[0], acted=True) if blocked else outcome

    async def _notice_end(self, tab: Tab) -> None:
        """Find out what ended: a page or browser tells so itself; a driver that is gone tells nothing any more."""
        await asyncio.sleep(TELLING_SECONDS)
        if not tab.over:
            for each in self._tabs.values():
                each.over = True
            await self._chromium.forget()

    async def _cancelled(self, alias: str, *, lost: bool) -> Outcome:
        """End the browser: only so what Playwright was told to do is not done later after all."""
        await self._drop(alias)
        told = "The step was cancelled, and its browser was ended."
        state = {"kind": "unknown", "code": str(Code.CANCELLED)} if lost else None
        return Outcome(told, "unknown" if lost else "failed", Code.CANCELLED, state)

    async def _drop(self, alias: str) -> None:
        tab = self._tabs.pop(alias, None)
        if tab is not None:
            await self._chromium.close(tab.context)


async def _show(act: Act) -> Outcome:
    status, address = await visit(act)
    ours = act.tab.guard.admission.awaits(address)
    if status is None or status < REFUSED or (ours and status == _USED):
        return Outcome("The consent page is open.")
    if ours:
        return Outcome(_NO_CALLBACK, "failed", Code.OAUTH_CALLBACK_INVALID)
    told = f"The consent page answered HTTP {status}, so nobody can consent there. {_ADVICE[status >= _SERVER_ERROR]}"
    return Outcome(told, "failed", Code.HTTP_STATUS)
