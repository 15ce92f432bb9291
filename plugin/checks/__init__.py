"""Decides whether arguments are admissible and whether replies are as expected. Pure."""
