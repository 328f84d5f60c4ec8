"""What a layout of the storage says: its variables, and their types by name.

Solidity's is read here in the form of its documentation, "JSON Output" of "Layout of State
Variables in Storage". A stranger's contract decides what it says: its sizes are bounded.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import orjson

from scan.errors import ScanError

WORD = 32
MAX_VARIABLES = 2_000
MAX_TYPES = 2_000
MAX_MEMBERS = 5_000  # of all structs together
MAX_NAME = 100
MAX_LABEL = 200
MAX_ENUMS = 500
MAX_ENUM_MEMBERS = 256
SLOTS = 2**256

Kind = Literal["value", "mapping", "array", "dynamic", "bytes", "struct", "unknown"]
_LENGTH = re.compile(r"\)([0-9]{1,78})_storage\Z", re.ASCII)
_KINDS: Mapping[str, Kind] = {
    "mapping": "mapping",
    "dynamic_array": "dynamic",
    "bytes": "bytes",
    "inplace": "value",
}


class MalformedLayout(ScanError):
    """A layout is not in its compiler's form."""


class Variable(NamedTuple):
    """A variable, or a member of a struct, whose slot counts from the struct's. `offset` is that of
    its lowest byte in the slot."""

    name: str
    type: str
    slot: int
    offset: int


class StorageType(NamedTuple):
    """A type by its `label`; `size` is in bytes. `base` is the type of an array's elements, or of a
    mapping's values. `length` is that of a fixed array, or the most that Vyper's others have. An
    "unknown" one has no more than its size."""

    kind: Kind
    label: str
    size: int
    base: str = ""
    key: str = ""
    length: int = 0
    members: Sequence[Variable] = ()

    @property
    def slots(self) -> int:
        return max(-(-self.size // WORD), 1)


class Layout(NamedTuple):
    """Variables by their slots, and types by name. `is_vyper`: in Vyper's way, whose arrays and
    strings stand where they are declared, and whose values have a slot each. `is_truncated`:
    variables beyond MAX_VARIABLES are left out. `enums` are the members by the labels of types."""

    variables: Sequence[Variable]
    types: Mapping[str, StorageType]
    is_vyper: bool = False
    is_truncated: bool = False
    enums: Mapping[str, Sequence[str]] = {}

    @property
    def entries(self) -> int:
        """Return how many variables and types it has."""
        return len(self.variables) + len(self.types)

    def per_slot(self, type_: StorageType) -> int:
        """Return how many elements of a type share a slot."""
        return 1 if self.is_vyper else max(WORD // max(type_.size, 1), 1)


def read_solidity(text: str) -> Layout:
    """Read a `storageLayout`, with the names that scan/verification/storage_names.py adds. Raises
    MalformedLayout."""
    try:
        given = orjson.loads(text)
        namespaces = given.get("namespaces") or {"storage": []}
        entries = [*given["storage"], *namespaces["storage"]]
        variables = [_variable(entry) for entry in entries[:MAX_VARIABLES]]
        types = _types({**(given.get("types") or {}), **(namespaces.get("types") or {})})
        enums = {
            str(label)[:MAX_LABEL]: [str(name)[:MAX_NAME] for name in names[:MAX_ENUM_MEMBERS]]
            for label, names in [*(given.get("enums") or {}).items()][:MAX_ENUMS]
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MalformedLayout("The layout of the storage is malformed.") from None
    layout = laid_out(variables, types, is_truncated=len(entries) > MAX_VARIABLES)
    return layout._replace(enums=enums)


def laid_out(
    variables: Sequence[Variable],
    types: Mapping[str, StorageType],
    *,
    is_vyper: bool = False,
    is_truncated: bool = False,
) -> Layout:
    """Return the layout of variables, of which those of one name get their slots to it: contracts
    and those that they inherit may each have a private one."""
    known: set[str] = set()
    named = []
    for variable in sorted(variables, key=lambda v: (v.slot, v.offset)):
        own = variable.name in known
        known.add(variable.name)
        name = f"{variable.name}@{variable.slot}" if own else variable.name
        named.append(variable._replace(name=name))
    return Layout(named, types, is_vyper, is_truncated)


def _variable(entry: Mapping[str, Any]) -> Variable:
    slot, offset = int(entry["slot"]), int(entry["offset"])
    if not (0 <= slot < SLOTS and 0 <= offset < WORD):
        raise ValueError("a variable outside of the storage")
    return Variable(str(entry["label"])[:MAX_NAME], str(entry["type"]), slot, offset)


def _types(given: Mapping[str, Any]) -> dict[str, StorageType]:
    types: dict[str, StorageType] = {}
    members_left = MAX_MEMBERS
    for name, entry in [*given.items()][:MAX_TYPES]:
        members = [_variable(member) for member in (entry.get("members") or ())[:members_left]]
        members_left -= len(members)
        types[name] = _type(name, entry, members)
    return types


def _type(name: str, entry: Mapping[str, Any], members: Sequence[Variable]) -> StorageType:
    kind = _KINDS[entry["encoding"]]
    size = int(entry["numberOfBytes"])
    if not 0 < size <= SLOTS * WORD:
        raise ValueError("a type of no size")
    length = _LENGTH.search(name)
    if kind == "value" and "members" in entry:
        kind = "struct"
    elif kind == "value" and "base" in entry:
        kind = "array"
    elif kind == "value" and size > WORD:
        kind = "unknown"
    return StorageType(
        kind,
        str(entry["label"])[:MAX_LABEL],
        size,
        str(entry.get("base", entry.get("value", ""))),
        str(entry.get("key", "")),
        int(length[1]) if length and kind == "array" else 0,
        members,
    )
