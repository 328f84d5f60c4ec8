"""The files of build folders and projects: which are new or changed, and what they have.

A folder is written by compilers that build the code of strangers: no link is followed in any
component of a path, and depth, number and size of files are bounded.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from scan.json_bodies import BYTE_ORDER_MARK

MAX_FILES = 20_000
MAX_ENTRIES = 50_000  # of a folder, and folders to read: a list of millions takes all memory
MAX_DEPTH = 12
MAX_FILE_BYTES = 64 * 1024 * 1024
SUFFIXES = (".json",)
_LEFT_OUT = ("node_modules", ".git", "cache", ".venv", "venv")


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
    status = file.stat(follow_symlinks=False)
    return FileState(status.st_mtime_ns, status.st_size, status.st_ino)


def read(path: Path, max_bytes: int) -> bytes:
    """Return what a regular file has. Raises OSError, also where a component of the absolute path
    is a link, or the file is larger; ValueError for a null byte in the path."""
    with _opened(path, os.O_RDONLY | os.O_NONBLOCK) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > max_bytes:
            raise OSError(f"it is no file of at most {max_bytes} bytes")
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(max_bytes)


def read_json(path: Path) -> bytes:
    """Return a build's file as read() does, without a byte order mark."""
    return read(path, MAX_FILE_BYTES).removeprefix(BYTE_ORDER_MARK.encode())


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    """Open a path component by component, none of which may be a link."""
    folder = os.open(path.anchor, os.O_PATH | os.O_DIRECTORY)
    try:
        for name in path.parts[1:-1]:
            inner = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        descriptor = os.open(path.name or ".", flags | os.O_NOFOLLOW, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def list_files(
    folders: Iterable[Path],
    *,
    max_files: int = MAX_FILES,
    max_entries: int = MAX_ENTRIES,
    max_file_bytes: int = MAX_FILE_BYTES,
    suffixes: tuple[str, ...] = SUFFIXES,
) -> Listing:
    """Return the files with these suffixes in folders and in the folders inside. What cannot be
    read, such as a folder that a build has just removed, is left out."""
    files: dict[Path, FileState] = {}
    left_out = None
    for entry in _entries(folders, max_entries, suffixes):
        if isinstance(entry, str):
            left_out = entry
            continue
        file, state = entry
        if state.size > max_file_bytes:
            left_out = f"{file} is larger than {max_file_bytes >> 20} MiB"
            continue
        if len(files) == max_files:
            return Listing(files, f"there are more than {max_files} files")
        files[file] = state
    return Listing(files, left_out)


def _entries(
    folders: Iterable[Path], max_entries: int, suffixes: tuple[str, ...]
) -> Iterator[tuple[Path, FileState] | str]:
    """Yield the files, and a text for folders that are too deep."""
    waiting = [(folder, 0) for folder in folders]
    while waiting:
        folder, depth = waiting.pop()
        if depth > MAX_DEPTH:
            yield f"{folder} is more than {MAX_DEPTH} folders deep"
            continue
        if len(waiting) > max_entries:
            yield f"there are more than {max_entries} folders"
            del waiting[max_entries:]
        try:
            yield from _in_folder(folder, depth, waiting, max_entries, suffixes)
        except OSError:
            continue


def _in_folder(
    folder: Path,
    depth: int,
    waiting: list[tuple[Path, int]],
    max_entries: int,
    suffixes: tuple[str, ...],
) -> Iterator[tuple[Path, FileState] | str]:
    """Yield the files in a folder, a text where it has more than `max_entries`, of which no
    more are read, and add its folders to those that wait. Raises OSError."""
    with (
        _opened(folder, os.O_RDONLY | os.O_DIRECTORY) as descriptor,
        os.scandir(descriptor) as entries,
    ):
        read_ones = sorted(islice(entries, max_entries), key=lambda entry: entry.name)
        if next(entries, None) is not None:
            yield f"{folder} has more than {max_entries} entries"
        for entry in read_ones:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _LEFT_OUT:
                    waiting.append((folder / entry.name, depth + 1))
            elif entry.name.endswith(suffixes) and entry.is_file(follow_symlinks=False):
                with suppress(OSError):
                    yield folder / entry.name, state_of(entry)
