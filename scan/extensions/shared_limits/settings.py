# ruff: noqa: E501 (a setting is one line)
"""The setting of limits that hosts share."""

from dataclasses import dataclass

from scan.environment import one_of, setting


@dataclass(frozen=True)
class Settings:
    # fmt: off
    when_storage_is_lost: str = setting("SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST", one_of("refuse", "local"), "refuse", "without Redis: `refuse` returns 503, `local` counts in each process")
    # fmt: on
