"""Responses in Blockscout's form."""

from contextlib import suppress

with suppress(ModuleNotFoundError):  # where that extension is taken away
    from scan.extensions.blockscout.tests.asking import ask  # noqa: F401  # a fixture
