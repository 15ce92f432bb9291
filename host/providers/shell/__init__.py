"""LocalBash: a plugin executable that runs bash commands (`python -m host.providers.shell`)."""
