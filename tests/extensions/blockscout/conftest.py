"""Responses in Blockscout's form, what they should have, and values for the arguments of paths."""

from tests.extensions.blockscout.test_responses import ask, examples, truth  # noqa: F401  # fixtures
