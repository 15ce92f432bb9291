"""Which plugin the tests drive: the source tree's, or a built executable (`pytest --plugin dist/plugin`)."""

import os
import sys

__all__ = ["VARIABLE", "built", "program"]

#: Carries the path of the executable to the processes of a test run.
VARIABLE = "ASSAY_TESTED_PLUGIN"


def built() -> str:
    """Return the path of the executable, or "" for the source tree's plugin."""
    return os.environ.get(VARIABLE, "")


def program() -> tuple[str, ...]:
    """Return what starts the plugin in a folder where `plugin` can be imported."""
    return (built(),) if built() else (sys.executable, "-m", "plugin")
