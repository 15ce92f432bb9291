"""What Browser says about itself: its commands, and the fields of its bindings. On the path of ``--describe``."""

from typing import Any, Final

from host.providers.commands import About, Argument, Command, configuration_schema, describe

__all__ = [
    "ABOUT",
    "COMMANDS",
    "FIELDS",
    "FIELD_NAME",
    "PRIVATE_LEAST",
    "PRIVATE_LIMIT",
    "PRIVATE_MOST",
    "SCREENSHOT_NAME",
    "TEXT_LIMIT",
    "TIMEOUT_DEFAULT",
    "described",
]

ABOUT: Final = About("assay-browser", "Browser")
#: Milliseconds that a command gets where the binding says nothing.
TIMEOUT_DEFAULT: Final = 15_000
#: Longest selector, text or URL, in characters.
TEXT_LIMIT: Final = 16_384
#: Private fields of one binding; and characters of one, where fewer would be redacted everywhere.
PRIVATE_LIMIT: Final = 64
PRIVATE_LEAST: Final = 4
PRIVATE_MOST: Final = 16_384
FIELD_NAME: Final = "[A-Za-z][A-Za-z0-9_-]{0,63}"
#: Name of a screenshot; with `.png` it is the name of an artifact.
SCREENSHOT_NAME: Final = "[a-z0-9][a-z0-9_-]{0,58}"

FIELDS: Final[dict[str, dict[str, Any]]] = {
    "browser": {"description": "Which browser; there is one.", "enum": ["chromium"], "default": "chromium"},
    "private": {
        "description": "Values that `fill_private` types, by name: passwords, codes. They are shown nowhere.",
        "type": "object",
        "propertyNames": {"pattern": f"^{FIELD_NAME}$"},
        "additionalProperties": {"type": "string", "minLength": PRIVATE_LEAST, "maxLength": PRIVATE_MOST},
        "maxProperties": PRIVATE_LIMIT,
        "writeOnly": True,
    },
    "timeoutMs": {
        "description": "Deadline of each command, in milliseconds; the browser's start has its own.",
        "type": ["integer", "string"],
        "minimum": 100,
        "maximum": 600_000,
        "pattern": "^(0|[1-9][0-9]{0,9})$",
        "default": TIMEOUT_DEFAULT,
    },
}

_TEXT: Final = {"minLength": 1, "maxLength": TEXT_LIMIT}


def _selector(what: str) -> Argument:
    return Argument("selector", f"Playwright selector of the one element {what}.", _TEXT)


_ROWS: Final = (
    Command(
        "open",
        "observe",
        "Open a page of an admitted origin.",
        (Argument("url", "Absolute http or https URL.", _TEXT | {"format": "uri"}),),
    ),
    Command(
        "click",
        "mutate",
        "Click an element once it can be clicked.",
        (
            _selector("to click"),
            Argument(
                "optional",
                "With `true` the step succeeds when the element does not appear within two seconds.",
                {"enum": ["true", "false"], "default": "false"},
                required=False,
            ),
        ),
    ),
    Command(
        "fill",
        "mutate",
        "Put a text into a field, in place of what is in it.",
        (_selector("to fill"), Argument("value", "The text; empty clears the field.", {"maxLength": TEXT_LIMIT})),
    ),
    Command(
        "press",
        "mutate",
        "Press a key on an element.",
        (_selector("that gets the key"), Argument("key", "For example Enter, Escape, a, Control+a.", _TEXT)),
    ),
    Command("wait", "observe", "Wait until an element is visible.", (_selector("to wait for"),)),
    Command(
        "expect_text",
        "observe",
        "Wait until an element's text includes a text.",
        (
            _selector("whose text is looked at"),
            Argument("includes", "What its visible, redacted text has to include, exactly.", _TEXT),
        ),
    ),
    Command(
        "screenshot",
        "observe",
        "Keep a picture of what is visible, private fields blacked out. Refused while signing in.",
        (Argument("name", "The picture's name, without `.png`.", {"pattern": f"^{SCREENSHOT_NAME}$"}),),
    ),
    Command(
        "fill_private",
        "mutate",
        "Put a private value of the binding into a field of an admitted origin's page.",
        (
            _selector("to fill"),
            Argument("field", "Name of a value in the binding's `private`.", {"pattern": f"^{FIELD_NAME}$"}),
        ),
    ),
)
COMMANDS: Final = {command.name: command for command in _ROWS}


def described() -> dict[str, Any]:
    """Return the document of `--describe`."""
    return describe(ABOUT, configuration_schema(FIELDS), list(COMMANDS.values()))
