"""A chain that tests add to, and that a server follows."""

from scan.extensions.streams.tests.conftest import chain  # noqa: F401  # a fixture
