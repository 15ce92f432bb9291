"""Exact JSON values: strict reading, pointers, decimal comparison, redaction, the leak scan, and hashes. Pure."""
