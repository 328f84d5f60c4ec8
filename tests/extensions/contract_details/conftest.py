"""A browser, the address of the pages, and a verified token whose texts would run scripts."""

from tests.pages.conftest import browser, explorer_url, hostile, page  # noqa: F401  # fixtures
