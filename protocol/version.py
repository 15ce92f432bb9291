"""The version of the project, as both programs report it and `pyproject.toml` repeats it (a test compares them)."""

from typing import Final

__all__ = ["VERSION"]

VERSION: Final = "0.1.0"
