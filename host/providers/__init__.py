"""Providers that the host brings: plugin executables on the same wire as any other."""
