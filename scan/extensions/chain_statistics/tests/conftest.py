"""Responses in Blockscout's form, and what they should have."""

from scan.extensions.blockscout.tests.test_responses import ask, truth  # noqa: F401  # fixtures
