"""A browser, the address of the pages, and responses in Blockscout's form."""

from tests.extensions.blockscout.test_responses import ask, truth  # noqa: F401  # fixtures
from tests.pages.conftest import browser, explorer_url, page  # noqa: F401  # fixtures
