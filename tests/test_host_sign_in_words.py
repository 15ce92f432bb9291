"""What `login` and `doctor` call the fields of a binding that they do not have."""

from pathlib import Path

import pytest

from host.commands.login import login
from host.sign_in_words import DOCTOR, LOGIN, reword
from oauth.fields import FIELDS

ROOT = Path(__file__).resolve().parents[1]
#: What is put together where it is said, by a part of it.
COMPOSED = {
    "`oauth` of the binding `server` is not usable: ": "is not usable: {error.reason}",
    "`oauth` of the binding `server` may not stand beside a bearer token; keep one of the two": "a bearer token",
    " (or `endpoint`, or `listed`)": "(or `{ENDPOINT}`, or `{LISTED}`)",
    "may hold `offline_access` with `refresh` only": "may hold `{OFFLINE_ACCESS}` with `refresh` only",
    "`issuer` must": "`issuer` {fault}",
}
FIELD_NAMES = {f"`{name}`" for name in FIELDS}


@pytest.mark.parametrize("said", [said for said, _ in (*LOGIN, *DOCTOR)])
def test_what_is_called_otherwise_is_what_a_plugin_says(said: str) -> None:
    sources = "".join(path.read_text() for folder in ("oauth", "plugin") for path in (ROOT / folder).rglob("*.py"))
    assert said in FIELD_NAMES or COMPOSED.get(said, said) in sources


def test_every_option_that_is_named_instead_is_one_of_login() -> None:
    options = {option for parameter in login.params for option in parameter.opts}
    named = {word.strip("`,.") for _, instead in LOGIN for word in instead.split() if word.strip("`").startswith("--")}
    assert named <= options


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        (
            "The callback's port 80 is not to be had. Choose another `callbackPort`.",
            "The callback's port 80 is not to be had. Choose another `--callback-port`.",
        ),
        (
            "`oauth` of the binding `server` is not usable: `clientId` needs a `callbackPath` beside it.",
            "The sign-in cannot be set up: `--client-id-env` needs a `--callback-path` beside it.",
        ),
        ("`issuer` is missing, or not a string", "`issuer` is missing, or not a string"),
    ],
)
def test_fields_are_called_by_their_options(said: str, instead: str) -> None:
    assert reword(said, LOGIN) == instead
