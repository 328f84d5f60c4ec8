"""A browser, and the address of the pages."""

from tests.pages.conftest import browser, explorer_url, page  # noqa: F401  # fixtures
