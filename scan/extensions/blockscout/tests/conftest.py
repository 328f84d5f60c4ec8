"""Responses in Blockscout's form, what they should have, and values for the arguments of paths."""

from scan.extensions.blockscout.tests.asking import ask, examples  # noqa: F401  # fixtures
