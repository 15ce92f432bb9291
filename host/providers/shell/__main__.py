"""The executable of LocalBash."""

import sys

from host.providers.program import run_provider

if __name__ == "__main__":
    sys.exit(run_provider("host.providers.shell", "LocalBash", "ShellService", "Runs bash commands"))
