"""One server with a chain that tests add to."""

from scan.extensions.streams.tests.conftest import chain, server, streaming  # noqa: F401  # fixtures
