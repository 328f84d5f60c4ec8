"""Pings: transactions to one address. tests/test_made_up_extensions.py adds it to a copy."""

from scan.registry import Extension

EXTENSION = Extension("transactions to one address", "chain data")
