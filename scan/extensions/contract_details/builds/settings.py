# ruff: noqa: E501 (a setting is one line)
"""The setting of build folders."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scan.setting_kinds import Kind, absolute_path, require, setting
from scan.settings import OwnSettings

MAX_FOLDERS = 20
VARIABLE, OFF = "SCAN_ARTIFACTS", "none"


def _folders(text: str) -> tuple[Path, ...]:
    if text == OFF:
        return ()
    folders = tuple(Path(part) for part in text.split(","))
    require(len(folders) <= MAX_FOLDERS, f"there are more than {MAX_FOLDERS}")
    for folder in folders:
        require(folder.is_dir() or not folder.exists(), f"{folder} is a file")
        require(folder.parent.is_dir(), f"{folder.parent} is no folder")
    return folders


def _absolute(text: str) -> str:
    if text.strip() == OFF:
        return OFF
    return ",".join(absolute_path(part.strip()) for part in text.split(","))


def missing(folders: Iterable[Path]) -> list[Path]:
    return [folder for folder in folders if not folder.is_dir()]


def _doubt(folders: Sequence[Path]) -> str:
    names = ", ".join(map(str, missing(folders)))
    return f"names no folder that exists: {names}" if names else ""


folders = Kind(
    "folders", "folders of builds, separated by commas, or none", _folders, _absolute, doubt=_doubt
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    artifacts: tuple[Path, ...] | None = setting(VARIABLE, folders, "those of the project where `scan run` starts on your own machine", "folders of builds, separated by commas, such as `../my-project/out`, whose contracts are verified by themselves: [your builds](contracts.md#your-builds); `none` reads none", unset=None)
    # fmt: on

    @property
    def folders(self) -> tuple[Path, ...]:
        return self.artifacts or ()


HOOKS = OwnSettings(declared=Settings)
