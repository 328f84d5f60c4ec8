"""Responses in Blockscout's form, and what they should have."""

from tests.extensions.blockscout.test_responses import ask, truth  # noqa: F401  # fixtures
