"""The JSON files of a folder of descriptors, with what they include, and paths of ERC-7730 to the
arguments of a call, which lead to values whose types an ABI has, as abi_json.render() writes them.

They are files of strangers: links are not followed, nothing outside the folder is included, and
number, depth and size are bounded. A file that breaks a bound is left out, and the log says why.
"""

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from scan.contracts.abi import AbiType
from scan.errors import ScanError
from scan.hex import to_hex
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


MAX_VALUES = 200  # that the paths of a call lead to
MAX_STEPS = 32
MAX_PATH_CHARACTERS = 500
ARGUMENTS, CONTAINER = "#", "@"
BYTES = AbiType("bytes", "bytes", dynamic=True)

_STEP = re.compile(
    r"\.?(?:([A-Za-z_$][A-Za-z0-9_$]*)|\[(-?[0-9]{1,6})?(:)?(-?[0-9]{1,6})?\])", re.ASCII
)

Step = str | int | tuple[int | None, int | None]


class DoesNotFit(ValueError):
    """A call is not what a descriptor says of it."""


class ValuePath(NamedTuple):
    """A path: a name for each member, a number for an element, a pair for some or all elements."""

    root: str
    steps: tuple[Step, ...]


def parse_path(text: object, outer: ValuePath | None = None) -> ValuePath:
    """Return the path, within that of the group around it. Raises InvalidDescriptor."""
    if not isinstance(text, str) or not text or len(text) > MAX_PATH_CHARACTERS:
        raise InvalidDescriptor("a path is no text, empty or too long")
    has_root = text[0] in (ARGUMENTS, CONTAINER) or text.startswith("$.")
    root, rest = (text[0], text[1:]) if has_root else ("", text)
    steps: list[Step] = []
    while rest and rest != ".":
        match = _STEP.match(rest)
        if match is None or len(steps) == MAX_STEPS:
            raise InvalidDescriptor(f"{text[:60]!r} is no path")
        steps.append(_step(*match.groups()))
        rest = rest[match.end() :]
    if not root and outer is not None:
        root = outer.root
        steps = [*outer.steps, *steps]
    return ValuePath(root or ARGUMENTS, tuple(steps))


def _step(name: str | None, first: str | None, colon: str | None, last: str | None) -> Step:
    if name is not None:
        return name
    if first is not None and colon is None:
        if last is not None:
            raise InvalidDescriptor("an index is no number")
        return int(first)
    return (None if first is None else int(first), None if last is None else int(last))


class TypedValue(NamedTuple):
    """A value with its type. `positions` are where it stands among the elements that each `[]` on
    the path selected, each with their number."""

    type: AbiType
    value: Any
    positions: tuple[tuple[int, int], ...] = ()


def values_at(
    path: ValuePath, roots: Mapping[str, TypedValue], along: Sequence[tuple[int, int]] = ()
) -> list[TypedValue]:
    """Return the values at a path; of arrays, their elements. None of them is a tuple.

    `along` are the positions of the value to which another one is to be found: of arrays on this
    path, the elements at the same positions. Raises DoesNotFit, also for more than MAX_VALUES.
    """
    if path.root not in roots:
        raise DoesNotFit("the path leads to no argument")
    values = [roots[path.root]]
    for step in path.steps:
        values = _bounded(inner for outer in values for inner in _next(outer, step, along))
    while any(value.type.kind == "array" for value in values):
        values = _bounded(
            inner
            for outer in values
            for inner in (
                _next(outer, (None, None), along) if outer.type.kind == "array" else (outer,)
            )
        )
    if any(value.type.kind == "tuple" for value in values):
        raise DoesNotFit("the path leads to a tuple, not to a value")
    return values


def _bounded(values: Iterator[TypedValue]) -> list[TypedValue]:
    bounded = [*islice(values, MAX_VALUES + 1)]
    if len(bounded) > MAX_VALUES:
        raise DoesNotFit(f"a path leads to more than {MAX_VALUES} values")
    return bounded


def _next(typed: TypedValue, step: Step, along: Sequence[tuple[int, int]]) -> Iterator[TypedValue]:
    if isinstance(step, str):
        yield _member(typed, step)
    elif isinstance(step, int):
        if typed.type.kind != "array" or not -len(typed.value) <= step < len(typed.value):
            raise DoesNotFit(f"there is no element {step}")
        yield typed._replace(type=typed.type.items[0], value=typed.value[step])
    elif typed.type.kind == "array":
        yield from _elements(typed, step, along)
    else:
        yield typed._replace(type=BYTES, value=to_hex(bytes_of(typed)[slice(*step)]))


def _member(typed: TypedValue, name: str) -> TypedValue:
    if typed.type.kind != "tuple":
        raise DoesNotFit(f"{name} is a member of no tuple")
    # The names of an ABI are in the values, where the descriptor's signature has none.
    labels = [*typed.value] if isinstance(typed.value, dict) else list(typed.type.labels)
    if labels.count(name) != 1:
        raise DoesNotFit(f"there is no {name}")
    index = labels.index(name)
    value = typed.value[name if isinstance(typed.value, dict) else index]
    return typed._replace(type=typed.type.items[index], value=value)


def _elements(
    typed: TypedValue, step: tuple[int | None, int | None], along: Sequence[tuple[int, int]]
) -> Iterator[TypedValue]:
    selected, depth = typed.value[slice(*step)], len(typed.positions)
    wanted: Sequence[int] = range(len(selected))
    if depth < len(along):
        position, count = along[depth]
        if count != len(selected):
            raise DoesNotFit("arrays that belong together differ in length")
        wanted = (position,)
    for index in wanted:
        positions = (*typed.positions, (index, len(selected)))
        yield TypedValue(typed.type.items[0], selected[index], positions)


def bytes_of(typed: TypedValue) -> bytes:
    """Return the bytes of a value: 32 of an integer. Raises DoesNotFit for a composite one."""
    match "unknown" if typed.type.decimals else typed.type.kind:
        case "uint":
            return int(typed.value).to_bytes(32)
        case "int":
            return int(typed.value).to_bytes(32, signed=True)
        case "string":
            return str(typed.value).encode()
        case "array" | "tuple" | "bool" | "unknown":
            raise DoesNotFit("a value has no bytes")
    return bytes.fromhex(typed.value[2:])
