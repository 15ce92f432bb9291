"""Carries out the commands, one module a family."""
