"""A hostile token, as pages show it."""

from tests.pages.conftest import hostile  # noqa: F401  # a fixture
