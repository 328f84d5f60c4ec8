"""Responses in Blockscout's form, and what they should have."""

from contextlib import suppress

with suppress(ModuleNotFoundError):  # where that extension is taken away
    from scan.extensions.blockscout.tests.asking import ask  # noqa: F401  # a fixture
