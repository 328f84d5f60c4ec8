"""A browser."""

from tests.pages.conftest import browser, page  # noqa: F401  # fixtures
