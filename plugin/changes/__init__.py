"""Tells how two records of one entry differ, one module a kind of inventory. Pure."""
