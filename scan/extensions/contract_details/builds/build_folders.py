"""The JSON files of build folders: which are new or changed, within bounds.

A folder is written by compilers that build the code of strangers: links are not followed, and
depth, number and size of files are bounded.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

MAX_FILES = 20_000
MAX_DEPTH = 12
MAX_FILE_BYTES = 64 * 1024 * 1024
SUFFIX = ".json"
_LEFT_OUT = ("node_modules", ".git", "cache")


class FileState(NamedTuple):
    """What changes when a file does."""

    modified_ns: int
    size: int
    inode: int


class Listing(NamedTuple):
    """The files of folders. `left_out` says why there are more of them."""

    files: Mapping[Path, FileState]
    left_out: str | None


def state_of(file: os.DirEntry[str] | Path) -> FileState:
    """Raises OSError."""
    stat = file.stat(follow_symlinks=False)
    return FileState(stat.st_mtime_ns, stat.st_size, stat.st_ino)


def list_files(folders: Iterable[Path]) -> Listing:
    """Return the JSON files in folders and in the folders inside. What cannot be read, such as a
    folder that a build has just removed, is left out."""
    files: dict[Path, FileState] = {}
    left_out = None
    for entry in _entries(folders):
        if isinstance(entry, str):
            left_out = entry
            continue
        try:
            state = state_of(entry)
        except OSError:
            continue
        if state.size > MAX_FILE_BYTES:
            left_out = f"{entry.path} is larger than {MAX_FILE_BYTES >> 20} MiB"
            continue
        if len(files) == MAX_FILES:
            return Listing(files, f"there are more than {MAX_FILES} files")
        files[Path(entry.path)] = state
    return Listing(files, left_out)


def _entries(folders: Iterable[Path]) -> Iterator[os.DirEntry[str] | str]:
    """Yield the files, and a text for folders that are too deep."""
    waiting = [(folder, 0) for folder in folders]
    while waiting:
        folder, depth = waiting.pop()
        if depth > MAX_DEPTH:
            yield f"{folder} is more than {MAX_DEPTH} folders deep"
            continue
        try:
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    if entry.is_dir(follow_symlinks=False):
                        if entry.name not in _LEFT_OUT:
                            waiting.append((Path(entry.path), depth + 1))
                    elif entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                        yield entry
        except OSError:
            continue
