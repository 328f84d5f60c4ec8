"""Responses in Blockscout's form."""

from tests.extensions.blockscout.test_responses import ask, truth  # noqa: F401  # fixtures
