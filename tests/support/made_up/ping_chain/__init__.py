"""The form of a made-up chain. tests/test_made_up_extensions.py adds it to a copy."""

from scan.registry import Extension

EXTENSION = Extension("the form of a made-up chain, whose producers burn nothing", "chain data")
