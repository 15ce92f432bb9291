"""The executable of Browser."""

import sys

from host.providers.program import run_provider

if __name__ == "__main__":
    sys.exit(run_provider("host.providers.browser", "Browser", "BrowserService", "Drives Chromium"))
