# ruff: noqa: E501 (a setting is one line)
"""The setting of history from files."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from scan.setting_kinds import Kind, absolute_path, require, setting, url_parts
from scan.settings import OwnSettings


def _sources(text: str) -> tuple[str, ...]:
    sources = tuple(shlex.split(text))
    for source in sources:
        if "://" in source:
            url_parts(source, "http", "https")
        else:
            require(Path(source).is_dir(), f"{source} is no folder")
    return sources


def _absolute(text: str) -> str:
    return shlex.join(s if "://" in s else absolute_path(s) for s in shlex.split(text))


sources = Kind(
    "history",
    "folders and http(s) URLs of era1 or ere files, separated by spaces",
    _sources,
    _absolute,
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    history: tuple[str, ...] = setting("SCAN_HISTORY", sources, "none", "folders and URLs with era1 or ere files, separated by spaces, from which an empty index takes the blocks that the node has pruned: [growing](growing.md#history-from-files)", unset=())
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
