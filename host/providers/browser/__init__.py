"""Browser: a plugin executable that drives Chromium (`python -m host.providers.browser`)."""
