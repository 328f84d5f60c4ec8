# ruff: noqa: E501 (a setting is one line)
"""The setting of history from files."""

from dataclasses import dataclass

from scan.environment import setting


def sources(text: str) -> tuple[str, ...]:
    """Parse paths of folders and URLs, separated by spaces."""
    return tuple(text.split())


@dataclass(frozen=True)
class Settings:
    # fmt: off
    history: tuple[str, ...] = setting("SCAN_HISTORY", sources, "none", "folders and URLs with era1 or ere files, separated by spaces, from which an empty index takes the blocks that the node has pruned: [growing](growing.md#history-from-files)", unset=())
    # fmt: on
