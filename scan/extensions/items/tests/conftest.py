"""Responses in Blockscout's form."""

from scan.extensions.blockscout.tests.test_responses import ask, truth  # noqa: F401  # fixtures
