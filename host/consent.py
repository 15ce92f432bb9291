"""The rules of a flow that signs in: what stands between `oauth_begin` and `oauth_finish`, and which browser it has."""

from collections.abc import Container, Iterable, Mapping
from typing import Any, Final, Literal, TypeAlias

from host.frontmatter import Frontmatter
from host.origins import origin
from host.problems import Problem, quoted
from host.rfl import Command
from host.source import Source
from protocol.failures import Code, Failed
from protocol.values.document import JsonError, parse
from protocol.values.urls import is_loopback

__all__ = ["BEGIN", "BROWSER", "FINISH", "Grant", "check_page", "check_sign_ins", "consent_browsers", "read_grant"]

#: The two halves of a sign-in, and the provider whose commands may run between them.
BEGIN: Final = "oauth_begin"
FINISH: Final = "oauth_finish"
BROWSER: Final = "Browser"
#: What an alias may do before it has signed in.
_DISCONNECT: Final = "disconnect"
#: A command of that provider which may not: a picture cannot be searched for what is private.
_PICTURE: Final = "screenshot"

#: How an alias gets its token: with consent in a browser, by its client's secret, in no way, or nobody knows yet.
Grant: TypeAlias = Literal["consent", "secret", "none", "unknown"]


def read_grant(configuration: Mapping[str, Any], environment: Mapping[str, str]) -> Grant:
    """Return how a binding, as it is written, signs in. What is wrong with its `oauth` is the plugin's to say."""
    oauth = _value(configuration.get("oauth"), environment)
    if oauth is None:
        return "unknown" if "oauth" in configuration else "none"
    if isinstance(oauth, str):
        try:
            oauth = parse(oauth).value
        except JsonError:
            return "consent"
    if not isinstance(oauth, dict):
        return "consent"
    grant = _value(oauth.get("grant"), environment)
    if grant is None and "grant" in oauth:
        return "unknown"
    return "secret" if grant == "client_credentials" else "consent"


def _value(value: Any, environment: Mapping[str, str]) -> Any:
    """Return a value, or what the variable that it names holds; None when that is not set."""
    if isinstance(value, dict) and value.keys() == {"env"}:
        return environment.get(value["env"]) or None
    return value


def check_page(url: str, admitted: Container[str]) -> None:
    """Refuse a consent page that is neither https nor on this machine, or whose origin is not admitted.

    Raises Failed (`oauth_unsupported`, `origin_not_admitted`), which quotes nothing of the URL but its origin.
    """
    try:
        its = origin(url)
    except ValueError as error:
        raise Failed(Code.OAUTH_UNSUPPORTED, f"The consent page has no usable URL: {error}.") from None
    if its not in admitted:
        advice = f"Add `--allow-origin {its}` if it is meant."
        raise Failed(Code.ORIGIN_NOT_ADMITTED, f"The consent page is at {its}, which is not admitted. {advice}")
    if not its.startswith("https:") and not is_loopback(its):
        raise Failed(Code.OAUTH_UNSUPPORTED, f"The consent page is at {its}, which is neither https nor loopback.")


def check_sign_ins(
    source: Source, front: Frontmatter, commands: Iterable[Command], grants: Mapping[str, Grant]
) -> list[Problem]:
    """Check every sign-in of a flow: from `oauth_begin` to `oauth_finish` only Browser commands may stand.

    ``grants`` says for each alias how it signs in, as far as is known. One that asks for consent needs the flow to have
    exactly one Browser alias, which shows the page; one that signs in at all does so before its other commands.
    """
    checker = _Checker(source, front, grants)
    for command in commands:
        checker.take(command)
    checker.end()
    return checker.problems


def consent_browsers(front: Frontmatter, commands: Iterable[Command], grants: Mapping[str, Grant]) -> list[str]:
    """Return the Browser aliases that a flow's sign-ins use, whether or not a command of theirs is written."""
    asking = [command.alias.text for command in commands if command.name.text == BEGIN]
    if all(grants.get(alias, "consent") in ("secret", "none") for alias in asking):
        return []
    return [alias for alias, declared in front.providers.items() if declared.provider == BROWSER]


class _Checker:
    """Walks the commands in the order of the file; ``begun`` is the `oauth_begin` that is not finished yet."""

    def __init__(self, source: Source, front: Frontmatter, grants: Mapping[str, Grant]) -> None:
        self.source = source
        self.grants = grants
        self.problems: list[Problem] = []
        self.begun: Command | None = None
        #: Aliases that have signed in so far, or were reported.
        self.done: set[str] = set()
        self.providers = {alias: declared.provider for alias, declared in front.providers.items()}
        self.browsers = [alias for alias, provider in self.providers.items() if provider == BROWSER]

    def report(self, command: Command, message: str, advice: str) -> None:
        self.problems.append(self.source.problem(command.alias.start, command.name.end, message, advice))

    def line(self, command: Command) -> int:
        return self.source.place(command.alias.start)[0]

    def take(self, command: Command) -> None:
        alias, name = command.alias.text, command.name.text
        begun = self.begun
        if begun is None:
            if name == BEGIN:
                self.begun = command
                self.begin(command)
            elif name == FINISH:
                self.report(command, f"No `{alias}.{BEGIN}` stands before it.", f"Begin with `{alias}.{BEGIN}`.")
            elif name != _DISCONNECT and self.grants.get(alias) in ("consent", "secret"):
                self.signed_out(command)
        elif name == FINISH and alias == begun.alias.text:
            self.begun = None
        elif self.providers.get(alias, BROWSER) != BROWSER:
            self.between(command, begun)
        elif name == _PICTURE:
            advice = f"Take the picture before `{BEGIN}` or after `{FINISH}`."
            self.report(command, "A sign-in page may show what is private, so no picture is taken of it.", advice)

    def signed_out(self, command: Command) -> None:
        """Report the first command of an alias that has a token by `oauth` only, and has not asked for it yet."""
        alias = command.alias.text
        if alias not in self.done:
            self.done.add(alias)
            message = f"The alias {quoted(alias)} gets its token by `oauth`, and has not signed in yet."
            advice = f"Write `{alias}.{BEGIN}` and `{alias}.{FINISH}` above it, or bind the alias without `oauth`."
            self.report(command, message, advice)

    def begin(self, command: Command) -> None:
        alias = command.alias.text
        self.done.add(alias)
        grant = self.grants.get(alias, "consent")
        if grant == "none":
            message = f"The alias {quoted(alias)} cannot sign in: its binding has no `oauth`."
            self.report(command, message, "Add `oauth` to its binding: docs/oauth.md shows how.")
        elif grant == "consent" and len(self.browsers) != 1:
            found = ", ".join(quoted(browser) for browser in self.browsers) or "none"
            message = f"A sign-in needs exactly one Browser alias, to show its consent page; the flow has {found}."
            advice = f"Declare one alias of the provider `{BROWSER}` in `providers`."
            if not self.browsers:
                advice += " Without a browser, bind `grant: client_credentials`."
            self.report(command, message, advice)

    def between(self, command: Command, begun: Command) -> None:
        alias = begun.alias.text
        message = (
            f"Between `{alias}.{BEGIN}` (line {self.line(begun)}) and `{alias}.{FINISH}` only Browser commands may run."
        )
        self.report(command, message, f"Move it above `{alias}.{BEGIN}` or below `{alias}.{FINISH}`.")

    def end(self) -> None:
        if self.begun is not None:
            alias = self.begun.alias.text
            message = f"No `{alias}.{FINISH}` stands after it, so the sign-in would never end."
            self.report(self.begun, message, f"Add `{alias}.{FINISH}` after the commands that consent.")
