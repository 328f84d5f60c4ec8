"""The JSON files of a folder of descriptors, with what they include.

They are files of strangers: links are not followed, nothing outside the folder is included, and
number, depth and size are bounded. A file that breaks a bound is left out, and the log says why.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scan.errors import ScanError
from scan.json_bodies import json_object

MAX_FILES = 5_000
MAX_FOLDER_DEPTH = 8
MAX_FILE_BYTES = 256 * 1024
MAX_BYTES = 64 * 1024 * 1024  # of all, where one that is included counts each time
MAX_INCLUDES = 4  # one after another
SUFFIX = ".json"

log = logging.getLogger(__name__)

Document = Mapping[str, Any]


class InvalidDescriptor(ValueError):
    """A file is no descriptor that can be used; the message says why."""


class DescriptorFiles:
    """The files of a folder, read one after another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = frozenset(_list(folder))
        self._bytes_left = MAX_BYTES

    def names(self) -> list[str]:
        """Return the paths of the files in the folder, in their order."""
        return sorted(str(path.relative_to(self._folder)) for path in self._files)

    def read(self, name: str) -> Document:
        """Return a file merged with those that it includes. Raises InvalidDescriptor."""
        return self._merged(self._folder / name, MAX_INCLUDES)

    def allow_all(self) -> None:
        """Count anew, as once all files were read, each may be read again."""
        self._bytes_left = MAX_BYTES

    def _merged(self, path: Path, includes_left: int) -> dict[str, Any]:
        document = self._parsed(path)
        included = document.pop("includes", None)
        if included is None:
            return document
        if includes_left == 0:
            raise InvalidDescriptor(f"more than {MAX_INCLUDES} files include each other")
        if not isinstance(included, str):
            raise InvalidDescriptor("includes is no path")
        target = Path(os.path.normpath(path.parent / included[:500]))
        if target not in self._files:
            raise InvalidDescriptor("it includes what is no file of the folder")
        merged: dict[str, Any] = _merge(self._merged(target, includes_left - 1), document)
        return merged

    def _parsed(self, path: Path) -> dict[str, Any]:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(descriptor, "rb") as file:
                content = file.read(MAX_FILE_BYTES + 1)
        except OSError as error:
            raise InvalidDescriptor(f"it cannot be read: {error.strerror}") from None
        if len(content) > MAX_FILE_BYTES:
            raise InvalidDescriptor(f"it has more than {MAX_FILE_BYTES >> 10} KiB")
        self._bytes_left -= len(content)
        if self._bytes_left < 0:
            raise InvalidDescriptor(f"the files have more than {MAX_BYTES >> 20} MiB")
        try:
            return json_object(content)
        except ScanError as error:
            raise InvalidDescriptor(error.message) from None


def _list(folder: Path) -> Iterator[Path]:
    """Yield at most MAX_FILES files, without links."""
    waiting, count = [(folder, 0)], 0
    while waiting:
        inside, depth = waiting.pop()
        try:
            with os.scandir(inside) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            log.warning("descriptors: %r is left out: %s", str(inside), error.strerror)
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < MAX_FOLDER_DEPTH:
                    waiting.append((Path(entry.path), depth + 1))
            elif entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
                count += 1
                if count > MAX_FILES:
                    log.warning("descriptors: only %d files are read", MAX_FILES)
                    return
                yield Path(entry.path)


def _merge(included: Any, including: Any) -> Any:
    """Return both, where they contradict each other as the including one has it; fields, which
    are arrays, by their path (ERC-7730, "Organizing files")."""
    if not isinstance(included, dict) or not isinstance(including, dict):
        return including
    merged = dict(included)
    for key, value in including.items():
        before = included.get(key)
        if key == "fields" and isinstance(before, list) and isinstance(value, list):
            merged[key] = _merge_fields(before, value)
        else:
            merged[key] = _merge(before, value)
    return merged


def _merge_fields(included: list[Any], including: list[Any]) -> list[Any]:
    fields_by_path = {path: field for field in including if (path := _path(field)) is not None}
    paths = {_path(field) for field in included} - {None}
    merged = [
        _merge(field, fields_by_path[path]) if (path := _path(field)) in fields_by_path else field
        for field in included
    ]
    return [*merged, *(field for field in including if _path(field) not in paths)]


def _path(field: Any) -> str | None:
    path = field.get("path") if isinstance(field, dict) else None
    return path if isinstance(path, str) else None
