"""Where a browser and its driver work: a private folder that is gone afterwards, and a small environment."""

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

__all__ = ["Workplace", "is_root", "restrict_environment", "silenced"]

#: What a browser and its driver need of the environment. Above all not DEBUG and NODE_OPTIONS: with them the driver
#: writes what pages hold to its log, or runs other people's code.
_NEEDED: Final = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TZ|LANG|LANGUAGE|LC_[A-Z_]+|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_[A-Z_]+|"
    r"DBUS_SESSION_BUS_ADDRESS|LD_LIBRARY_PATH|FONTCONFIG_[A-Z_]+|PLAYWRIGHT_BROWSERS_PATH|PLAYWRIGHT_NODEJS_PATH"
)
#: Never fetch or show a page ahead of a click (2 is "never"): such pages would be admitted by nobody. No password of a
#: form is offered to be kept.
_PREFERENCES: Final = {
    "net": {"network_prediction_options": 2},
    "credentials_enable_service": False,
    "profile": {"password_manager_enabled": False},
}
#: Longest folder, in characters, that a browser's socket fits below: addresses of sockets have at most 103 on macOS.
_BASE_LIMIT: Final = 42
_SHORT_BASE: Final = "/tmp"  # noqa: S108 - a folder of our own is made in it, 0700
#: Seconds in which a browser that was told to end may still write into its profile.
_REMOVAL_SECONDS: Final = 1.0


class Workplace:
    """A folder, 0700, that everything temporary goes into: profiles, sockets, downloads."""

    def __init__(self) -> None:
        base = tempfile.gettempdir()
        usable = len(base) <= _BASE_LIMIT or not os.access(_SHORT_BASE, os.W_OK)
        self._folder = Path(tempfile.mkdtemp(prefix="assay-", dir=base if usable else _SHORT_BASE))
        # Nothing is found by a relative path: the driver and the browser start here, not in somebody's project.
        os.chdir(self._folder)
        os.environ["TMPDIR"] = str(self._folder)

    def profile(self) -> str:
        """Make a new profile and return its folder."""
        profile = Path(tempfile.mkdtemp(prefix="profile-", dir=self._folder))
        (profile / "Default").mkdir()
        (profile / "Default" / "Preferences").write_text(json.dumps(_PREFERENCES), encoding="utf-8")
        return str(profile)

    def remove(self) -> None:
        """Remove the folder with everything in it."""
        os.chdir("/")
        until = time.monotonic() + _REMOVAL_SECONDS
        while self._folder.exists() and time.monotonic() < until:
            shutil.rmtree(self._folder, ignore_errors=True)


def restrict_environment() -> dict[str, str]:
    """Take out of this process's environment what a browser does not need, and return how it was."""
    whole = dict(os.environ)
    for name in whole:
        if not _NEEDED.fullmatch(name):
            del os.environ[name]
    return whole


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Let what is started meanwhile write its diagnostics nowhere: they may quote pages."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


def is_root() -> bool:
    """Tell whether this process is the superuser's, for whom Chromium has no sandbox."""
    return sys.platform != "win32" and os.geteuid() == 0
