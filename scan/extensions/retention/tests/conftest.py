"""Indexes whose oldest blocks are removed."""

from scan.extensions.retention.tests.forty_days import followed, forty_days  # noqa: F401  # fixtures
from scan.extensions.retention.tests.removal import pruned, whole_settings  # noqa: F401  # fixtures
