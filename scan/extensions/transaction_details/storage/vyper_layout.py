"""A layout of the storage in Vyper's form: variables by name, those of modules below the module's,
with types as text. Types that a source declares have no members there."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from scan.extensions.transaction_details.storage.layout import (
    MAX_LABEL,
    MAX_NAME,
    MAX_TYPES,
    MAX_VARIABLES,
    SLOTS,
    WORD,
    Layout,
    MalformedLayout,
    StorageType,
    Variable,
    laid_out,
)

MAX_TYPE = 1_000  # characters of a type
MAX_DEPTH = 8  # of modules in modules, and of types in types
_FIXED = re.compile(r"(.+)\[([0-9]{1,78})\]\Z", re.DOTALL)
_LIST = re.compile(r"DynArray\[(.+), ([0-9]{1,78})\]\Z", re.DOTALL)
_MAPPING = re.compile(r"HashMap\[([A-Za-z0-9_]+(?:\[[0-9]{1,78}\])?), (.+)\]\Z", re.DOTALL)
_BYTES = re.compile(r"(?:String|Bytes)\[([0-9]{1,78})\]\Z")
_VALUE = re.compile(r"(?:u?int[0-9]{1,3}|bytes[0-9]{1,2}|address|bool|decimal)\Z")


def read_vyper(text: str) -> Layout:
    """Read a `storage_layout`. Raises MalformedLayout."""
    types = _Types()
    variables: list[Variable] = []
    is_truncated = False
    try:
        for name, entry in _entries(orjson.loads(text), "", 0):
            if len(variables) == MAX_VARIABLES:
                is_truncated = True
                break
            variables.append(_variable(name, entry, types))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MalformedLayout("The layout of the storage is malformed.") from None
    return laid_out(variables, types.by_name, is_vyper=True, is_truncated=is_truncated)


def _entries(
    given: Mapping[str, Any], module: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield variables with their names, which begin with those of their modules."""
    for name, entry in given.items():
        if isinstance(entry.get("slot"), int) and isinstance(entry.get("type"), str):
            yield f"{module}{name}"[:MAX_NAME], entry
        elif depth < MAX_DEPTH:
            yield from _entries(entry, f"{module}{name}."[:MAX_NAME], depth + 1)


def _variable(name: str, entry: Mapping[str, Any], types: "_Types") -> Variable:
    slot, slots = entry["slot"], int(entry.get("n_slots", 1))
    if not (0 <= slot < SLOTS and 0 < slots <= SLOTS):
        raise ValueError("a variable outside of the storage")
    return Variable(name, types.add(entry["type"], slots), slot, 0)


class _Types:
    """The types of variables, by their text and their slots."""

    def __init__(self) -> None:
        self.by_name: dict[str, StorageType] = {}

    def add(self, text: str, slots: int | None, depth: int = 0) -> str:
        """Note a type and those inside; `slots` is None where its size is known of its text alone.
        Return its name."""
        name = text if slots is None else f"{text} in {slots}"
        if name not in self.by_name:
            if max(len(self.by_name) - MAX_TYPES, depth - MAX_DEPTH, len(text) - MAX_TYPE) >= 0:
                raise ValueError("too many types")
            type_ = self._read(text, slots, depth)
            self.by_name[name] = type_._replace(label=text[:MAX_LABEL])
        return name

    def _read(self, text: str, slots: int | None, depth: int) -> StorageType:
        """Return a type without its label. The size of elements that a source declares is their
        share in the array's."""
        if _VALUE.match(text):
            return StorageType("value", "", WORD)
        if size := _BYTES.match(text):
            most = int(size[1])
            return StorageType("bytes", "", WORD * (1 - -most // WORD), length=most)
        if mapping := _MAPPING.match(text):
            key, value = mapping.groups()
            base, key = self.add(value, None, depth + 1), self.add(key, None, depth + 1)
            return StorageType("mapping", "", WORD, base, key)
        for pattern, own in ((_LIST, 1), (_FIXED, 0)):
            if array := pattern.match(text):
                length = int(array[2])
                share = None if slots is None else (slots - own) // max(length, 1)
                base = self.add(array[1], share, depth + 1)
                whole = WORD * (own + length * self.by_name[base].slots)
                kind = StorageType("dynamic" if own else "array", "", whole)
                return kind._replace(base=base, length=length)
        return StorageType("unknown", "", WORD * (slots or 1))
