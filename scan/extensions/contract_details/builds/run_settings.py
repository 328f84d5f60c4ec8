"""The build folders of the project in or beside which `scan run` is started on a developer's own
machine, where SCAN_ARTIFACTS is not set."""

import os
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePath

from scan.commands.hooks import RunSettings, RunVariables
from scan.extensions.contract_details.builds.settings import OFF, VARIABLE, Settings
from scan.setting_kinds import is_loopback
from scan.settings import Settings as CoreSettings

FOUNDRY = "foundry.toml"
HARDHAT = tuple(f"hardhat.config.{ending}" for ending in ("ts", "js", "mjs", "cjs", "mts", "cts"))
MAX_PARENTS = 4
MAX_SIBLINGS = 500
MAX_CONFIGURATION_BYTES = 1024 * 1024
INSIDE = tuple(
    f"{folder}{name}"
    for folder in ("", "packages/")
    for name in ("contracts", "foundry", "hardhat")
)


def find(settings: CoreSettings) -> RunVariables:
    """Return the setting that names the folders, and the line that says where they are."""
    folders = settings.of(Settings).artifacts
    if folders is not None:
        text = ", ".join(map(str, folders)) or f"none, by {VARIABLE}={OFF}"
        return RunVariables({}, f"Builds: {text}")
    of_project: list[Path] = []
    if is_loopback(settings.host) and settings.trusted_proxies == 0:
        of_project = [folder for folder in build_folders(Path.cwd()) if "," not in str(folder)]
    if not of_project:
        return RunVariables({}, f"Builds: none; {VARIABLE}=FOLDER names them")
    text = ",".join(map(str, of_project))
    said = [f"{folder}{'' if folder.is_dir() else ' (not there yet)'}" for folder in of_project]
    line = f"Builds: {', '.join(said)} (found; {VARIABLE}={OFF} leaves them out)"
    return RunVariables({VARIABLE: text}, line)


def build_folders(start: Path) -> list[Path]:
    """Return the build folders of the project that a folder is in; else of those in it at usual
    places; else of the one project beside it, if there is just one."""
    for folder in (start, *start.parents[:MAX_PARENTS]):
        if folders := _of_project(folder):
            return folders
    if folders := [folder for inner in INSIDE for folder in _of_project(start / inner)]:
        return folders
    beside = [folders for sibling in _siblings(start) if (folders := _of_project(sibling))]
    return beside[0] if len(beside) == 1 else []


def _siblings(start: Path) -> Iterator[Path]:
    try:
        with os.scandir(start.parent) as entries:
            for entry in islice(entries, MAX_SIBLINGS):
                if entry.is_dir(follow_symlinks=False) and entry.name != start.name:
                    yield start.parent / entry.name
    except OSError:
        return


def _of_project(project: Path) -> list[Path]:
    folders = []
    with suppress(OSError):  # a folder that may not be read
        if (project / FOUNDRY).is_file():
            folders.append(project / _foundry_out(project / FOUNDRY))
        if any((project / name).is_file() for name in HARDHAT):
            folders.append(project / "artifacts")
        return [folder for folder in folders if folder.parent.is_dir() and not folder.is_file()]
    return []


def _foundry_out(file: Path) -> str:
    """Return `out` of the default profile, which is a folder in the project or does not count."""
    try:
        with file.open("rb") as configuration:
            text = configuration.read(MAX_CONFIGURATION_BYTES).decode()
        out = tomllib.loads(text)["profile"]["default"]["out"]
        path = PurePath(out)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return "out"
    is_inside = not path.is_absolute() and path.parts and ".." not in path.parts
    return str(path) if is_inside and out.isprintable() else "out"


HOOKS = RunSettings(find=find)
