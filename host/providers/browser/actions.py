"""What each command does to a page. Times are bounded by the act's deadline; Playwright's own texts go nowhere."""

import asyncio
import base64
import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from playwright.async_api import Error, Locator, Page, Response
from playwright.async_api import TimeoutError as PlaywrightTimeout

from host.providers.browser.binding import Binding
from host.providers.browser.masks import masks
from host.providers.browser.tab import Tab
from host.providers.outcome import Outcome
from protocol.failures import Code, Failed
from protocol.values.redaction import Redactor
from protocol.wire.steps import Artifact

__all__ = ["ACTIONS", "REFUSED", "Act", "visit"]

#: Seconds that a navigation gets to end once the page was refused something.
REFUSAL_SECONDS: Final = 0.05
#: Seconds that an optional element gets to appear: a banner comes with its page or not at all.
OPTIONAL_SECONDS: Final = 2.0
#: Seconds between two looks at a text.
LOOK_SECONDS: Final = 0.1
#: Characters of a text that a failed `expect_text` shows.
SHOWN_LIMIT: Final = 512
#: HTTP status from which on a page is a refusal.
REFUSED: Final = 400


#: What an error says of a page that is going somewhere else meanwhile, or that has ended.
_PASSING: Final = re.compile("destroyed|detached|navigat|closed|crashed", re.IGNORECASE)


class Act:
    """One command under way. ``acting`` is true from the moment on that the page may have been changed."""

    def __init__(self, tab: Tab, values: Mapping[str, Any], binding: Binding, redactor: Redactor) -> None:
        self.tab = tab
        self.values = values
        self.binding = binding
        self.redactor = redactor
        self.acting = False
        self._deadline = asyncio.get_running_loop().time() + binding.timeout

    @property
    def page(self) -> Page:
        return self.tab.page

    @property
    def locator(self) -> Locator:
        return self.page.locator(self.values["selector"])

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least a millisecond: Playwright takes 0 for ever."""
        return max(self._deadline - asyncio.get_running_loop().time(), 0.001)

    @property
    def milliseconds(self) -> float:
        return self.left * 1000

    async def element(self) -> Locator:
        """Return the element once it is visible. Raises Failed for a selector that is none, or matches several."""
        locator = self.locator
        try:
            await locator.count()
        except Error as error:
            if not _PASSING.search(error.message):
                told = "`selector` is none. Write a CSS selector, or another one of Playwright's (`text=Sign in`)."
                raise Failed(Code.INVALID_ARGUMENTS, told) from None
        try:
            await locator.wait_for(timeout=self.milliseconds)
        except PlaywrightTimeout:
            raise
        except Error:
            count = await locator.count()
            if count <= 1:
                raise
            told = f"`selector` matches {count} elements; it has to match one. Make it narrower."
            raise Failed(Code.EXPECTATION_FAILED, told) from None
        return locator


async def open_page(act: Act) -> Outcome:
    """Navigate, until the document is there; what it loads beside itself is not waited for."""
    status, _ = await visit(act)
    facts = {} if status is None else {"http": {"status": status}}
    state = {"kind": "page", "status": status}
    if status is not None and status >= REFUSED:
        return Outcome(f"The page answered HTTP {status}.", "failed", Code.HTTP_STATUS, state, facts)
    return Outcome("The page is open.", state=state, facts=facts)


async def visit(act: Act) -> tuple[int | None, str]:
    """Navigate, and return the status that the page was answered with in the end, and its address."""
    answers: list[tuple[int | None, str]] = [(None, "")]

    def answered(response: Response) -> None:
        if response.request.is_navigation_request() and response.frame == act.page.main_frame:
            answers.append((response.status, response.url))

    act.page.on("response", answered)
    try:
        await navigate(act)
    except Error:
        # Chromium takes a refusal without a body for an error of the network.
        if (answers[-1][0] or 0) < REFUSED:
            raise
    finally:
        act.page.remove_listener("response", answered)
    return answers[-1]


async def navigate(act: Act) -> None:
    """Go to the act's `url`, unless the page is refused something on the way: then nothing more comes of it."""
    going = asyncio.ensure_future(
        act.page.goto(act.values["url"], wait_until="domcontentloaded", timeout=act.milliseconds)
    )
    refused = asyncio.ensure_future(act.tab.guard.refused())
    try:
        await asyncio.wait((going, refused), return_when=asyncio.FIRST_COMPLETED)
        await asyncio.wait((going,), timeout=REFUSAL_SECONDS)
        if going.done():
            going.result()
    finally:
        refused.cancel()
        going.cancel()


async def click(act: Act) -> Outcome:
    """Click once. Whether the element can be clicked is found out first, so that a click is never sent twice."""
    if act.values.get("optional") == "true":
        try:
            await act.locator.first.wait_for(timeout=min(act.milliseconds, OPTIONAL_SECONDS * 1000))
        except PlaywrightTimeout:
            return Outcome("The element did not appear, and need not.", state={"kind": "absent"})
    locator = await act.element()
    await locator.click(trial=True, timeout=act.milliseconds)
    act.acting = True
    # The guard waits for what comes of it; that it does not come is no doubt about the click.
    await locator.click(timeout=act.milliseconds, no_wait_after=True)
    return Outcome("The element was clicked.", state={"kind": "clicked"})


async def fill(act: Act) -> Outcome:
    """Put a text into a field."""
    locator = await act.element()
    await _require_editable(locator, act)
    act.acting = True
    await locator.fill(act.values["value"], timeout=act.milliseconds)
    return Outcome("The field was filled.", state={"kind": "filled"})


async def fill_private(act: Act) -> Outcome:
    """Put a private value into a field of the page itself, not of a frame in it, if the page is an admitted one."""
    field = act.values["field"]
    value = (act.binding.private or {}).get(field)
    if value is None:
        raise Failed(Code.INVALID_BINDING, f"The binding has no private value `{field}`. Add it to `private`.")
    locator = await act.element()
    await _require_editable(locator, act)
    # A handle belongs to the document that it was found in: should the page change now, it is good for nothing.
    handle = await locator.element_handle(timeout=act.milliseconds)
    main = act.page.main_frame
    if await handle.owner_frame() != main or not act.tab.guard.admission.trusts(main.url):
        told = "A private value is typed only into the page of an admitted origin, and not into a frame in it."
        raise Failed(Code.ORIGIN_NOT_ADMITTED, told)
    act.tab.filled.append(act.values["selector"])
    act.acting = True
    await handle.fill(value, timeout=act.milliseconds)
    return Outcome("The field was filled with a private value.", state={"kind": "filled"})


async def press(act: Act) -> Outcome:
    """Press a key on an element."""
    locator = await act.element()
    act.acting = True
    await locator.press(act.values["key"], timeout=act.milliseconds, no_wait_after=True)
    return Outcome("The key was pressed.", state={"kind": "pressed"})


async def wait(act: Act) -> Outcome:
    """Wait until an element is visible."""
    await act.element()
    return Outcome("The element is visible.", state={"kind": "visible"})


async def expect_text(act: Act) -> Outcome:
    """Look at an element's text again and again, until it includes what it has to or the time is up."""
    wanted, text = act.values["includes"], None
    try:
        locator = await act.element()
        while True:
            text = act.redactor.text(await locator.inner_text(timeout=act.milliseconds)).value
            if wanted in text:
                return Outcome("The text is there.", state={"kind": "text", "includes": True})
            if act.left <= LOOK_SECONDS:
                break
            await asyncio.sleep(LOOK_SECONDS)
    except PlaywrightTimeout:
        if text is None:
            raise
    facts = {} if act.tab.private else {"text": text[:SHOWN_LIMIT], "truncated": len(text) > SHOWN_LIMIT}
    told = "The element's text does not include what it has to."
    return Outcome(told, "failed", Code.EXPECTATION_FAILED, {"kind": "text", "includes": False}, facts)


async def screenshot(act: Act) -> Outcome:
    """Keep a picture of what is visible. Nothing can look for private values in it, so they are blacked out."""
    if act.tab.private:
        told = (
            "A screenshot is refused between `oauth_begin` and `oauth_finish`: a sign-in page may show what is private."
        )
        raise Failed(Code.INVALID_ARGUMENTS, told)
    values = (act.binding.private or {}).values()
    mask = await masks(act.page, act.tab.filled, values, act.redactor)
    picture = await act.page.screenshot(
        type="png",
        mask=mask,
        mask_color="#000000",
        animations="disabled",
        caret="hide",
        timeout=act.milliseconds,
    )
    name = act.values["name"]
    artifact = Artifact(f"{name}.png", base64=base64.b64encode(picture).decode("ascii"))
    facts = {"bytes": len(picture), "sha256": hashlib.sha256(picture).hexdigest()}
    state = {"kind": "screenshot", "name": name}
    return Outcome("A picture was kept.", state=state, facts=facts, artifacts=(artifact,))


async def _require_editable(locator: Locator, act: Act) -> None:
    try:
        editable = await locator.is_editable(timeout=act.milliseconds)
    except PlaywrightTimeout:
        raise
    except Error as error:
        if _PASSING.search(error.message):
            raise
        editable = False
    if not editable:
        raise Failed(Code.EXPECTATION_FAILED, "The element is no field that can be filled now.")


#: Every command by its name.
ACTIONS: Final[dict[str, Callable[[Act], Awaitable[Outcome]]]] = {
    "open": open_page,
    "click": click,
    "fill": fill,
    "press": press,
    "wait": wait,
    "expect_text": expect_text,
    "screenshot": screenshot,
    "fill_private": fill_private,
}
