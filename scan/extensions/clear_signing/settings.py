# ruff: noqa: E501, RUF009 (a setting is one line)
"""The setting of the folder of descriptors."""

import os
from dataclasses import dataclass
from pathlib import Path

from scan.setting_kinds import Kind, absolute_path, require, setting
from scan.settings import OwnSettings


def _folder(text: str) -> Path:
    path = Path(text)
    require(path.is_dir(), "no such folder")
    require(os.access(path, os.R_OK | os.X_OK), "this user may not read it")
    return path


existing_folder = Kind("descriptors", "a folder that exists", _folder, absolute_path)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    descriptors: Path | None = setting("SCAN_DESCRIPTORS", existing_folder, "none", "a folder of ERC-7730 descriptors, which say [what calls are for](contracts.md#decoded-calls-and-events)", unset=None)
    # fmt: on


HOOKS = OwnSettings(declared=Settings)
