"""Layouts of the storage of verified contracts, read from the database and cached: their variables,
and the types of these by name.

Solidity's is in the form of its documentation, "JSON Output" of "Layout of State Variables in
Storage"; Vyper's has variables by name, those of modules below the module's, with types as text, to
which compiler_layouts.py adds members of structs. A stranger's contract decides what a layout says:
its sizes are bounded.
"""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.database.connection import Database
from scan.extensions.compiled_sources import compiler_layouts
from scan.verification.languages import language_of_path, vyper

recorded = recording(__file__)

WORD = 32
MAX_VARIABLES = 2_000
MAX_TYPES = 2_000
MAX_MEMBERS = 5_000  # of all structs together
MAX_NAME = 100
MAX_LABEL = 200
MAX_DECLARED = 500
MAX_ENUM_MEMBERS = 256
SLOTS = 2**256

# What a layout raises that is not in its compiler's form.
MALFORMED_LAYOUT = (ValueError, KeyError, TypeError, AttributeError)
Kind = Literal["value", "mapping", "array", "dynamic", "bytes", "struct", "unknown"]
_LENGTH = re.compile(r"\)([0-9]{1,78})_storage\Z", re.ASCII)
_KINDS: Mapping[str, Kind] = {
    "mapping": "mapping",
    "dynamic_array": "dynamic",
    "bytes": "bytes",
    "inplace": "value",
}


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
    names: Sequence[str] = ()  # of an enum's members, where a layout has them

    @property
    def slots(self) -> int:
        return max(-(-self.size // WORD), 1)


class Layout(NamedTuple):
    """Variables by their slots, and types by name. `is_vyper`: in Vyper's way, whose arrays and
    strings stand where they are declared, and whose values have a slot each. `is_truncated`:
    variables beyond MAX_VARIABLES are left out. `declared` are the members of enums, and what other
    types are that the source declares, by their labels."""

    variables: Sequence[Variable]
    types: Mapping[str, StorageType]
    is_vyper: bool = False
    is_truncated: bool = False
    declared: Mapping[str, Sequence[str] | str] = {}

    @property
    def entries(self) -> int:
        """Return how many variables and types it has."""
        return len(self.variables) + len(self.types)

    def key_type(self, mapping: StorageType) -> StorageType | None:
        """Return the type of a mapping's keys, with the names of an enum's members; of one that the
        source declares over another type, that one."""
        type_ = self.types.get(mapping.key)
        meaning = self.declared.get(type_.label, ()) if type_ else ()
        if type_ is None or isinstance(meaning, str):
            return type_ and type_._replace(label=str(meaning))
        return type_._replace(names=meaning)

    def per_slot(self, type_: StorageType) -> int:
        """Return how many elements of a type share a slot."""
        return 1 if self.is_vyper else max(WORD // max(type_.size, 1), 1)


def read_solidity(text: str) -> Layout:
    """Read a `storageLayout`, with the names that compiler_layouts.py adds. Raises
    MALFORMED_LAYOUT."""
    compiled = orjson.loads(text)
    namespaces = compiled.get("namespaces") or {"storage": []}
    entries = [*compiled["storage"], *namespaces["storage"]]
    variables = [_variable(entry) for entry in entries[:MAX_VARIABLES]]
    types = _types({**(compiled.get("types") or {}), **(namespaces.get("types") or {})})
    meanings = compiled.get("declared") or compiled.get("enums") or {}  # older rows: enums alone
    declared = {
        str(label)[:MAX_LABEL]: meaning[:MAX_NAME]
        if isinstance(meaning, str)
        else [str(name)[:MAX_NAME] for name in meaning[:MAX_ENUM_MEMBERS]]
        for label, meaning in [*meanings.items()][:MAX_DECLARED]
    }
    layout = laid_out(variables, types, is_truncated=len(entries) > MAX_VARIABLES)
    return layout._replace(declared=declared)


def laid_out(
    variables: Sequence[Variable],
    types: Mapping[str, StorageType],
    *,
    is_vyper: bool = False,
    is_truncated: bool = False,
) -> Layout:
    """Return the layout of variables, of which those of one name get their slots to it: contracts
    and those that they inherit may each have a private one."""
    names: set[str] = set()
    distinct = []
    for variable in sorted(variables, key=lambda v: (v.slot, v.offset)):
        is_named_once = variable.name in names
        names.add(variable.name)
        name = f"{variable.name}@{variable.slot}" if is_named_once else variable.name
        distinct.append(variable._replace(name=name))
    return Layout(distinct, types, is_vyper, is_truncated)


def _variable(entry: Mapping[str, Any]) -> Variable:
    slot, offset = int(entry["slot"]), int(entry["offset"])
    if not (0 <= slot < SLOTS and 0 <= offset < WORD):
        raise ValueError("a variable outside of the storage")
    return Variable(str(entry.get("label", ""))[:MAX_NAME], str(entry["type"]), slot, offset)


def _types(declared: Mapping[str, Any]) -> dict[str, StorageType]:
    types: dict[str, StorageType] = {}
    members_left = MAX_MEMBERS
    for name, entry in [*declared.items()][:MAX_TYPES]:
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


MAX_TYPE = 1_000  # characters of a type
MAX_DEPTH = 8  # of modules in modules, and of types in types
_FIXED = re.compile(r"(.+)\[([0-9]{1,78})\]\Z", re.DOTALL)
_LIST = re.compile(r"DynArray\[(.+), ([0-9]{1,78})\]\Z", re.DOTALL)
_MAPPING = re.compile(
    r"HashMap\[((?:(?:contract|flag) )?[A-Za-z0-9_]+(?:\[[0-9]{1,78}\])?), (.+)\]\Z", re.DOTALL
)
_BYTES = re.compile(r"(?:String|Bytes)\[([0-9]{1,78})\]\Z")
_INTERFACE = re.compile(r"(?<![^\[\], ])(?:[^\[\], ]*/)?([A-Za-z_]\w*)\.vyi?")  # by its file
NOT_DECODED = " (not decoded)"
_VALUE = re.compile(
    r"(?:u?int[0-9]{1,3}|bytes[0-9]{1,2}|address|bool|decimal|(?:contract|flag) \w+)\Z"
)


def read_vyper(text: str) -> Layout:
    """Read a `storage_layout`. Raises MALFORMED_LAYOUT."""
    declared = orjson.loads(text)
    types = _Types(declared.pop(compiler_layouts.STRUCTS, {}))
    entries = [*islice(_entries(declared, "", 0), MAX_VARIABLES + 1)]
    variables = [_vyper_variable(*entry, types) for entry in entries[:MAX_VARIABLES]]
    is_truncated = len(entries) > MAX_VARIABLES
    return laid_out(variables, types.by_name, is_vyper=True, is_truncated=is_truncated)


def _entries(
    declared: Mapping[str, Any], module: str, depth: int
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield variables with their names, which begin with those of their modules."""
    for name, entry in declared.items():
        if isinstance(entry.get("slot"), int) and isinstance(entry.get("type"), str):
            yield f"{module}{name}"[:MAX_NAME], entry
        elif depth < MAX_DEPTH:
            yield from _entries(entry, f"{module}{name}."[:MAX_NAME], depth + 1)


def _vyper_variable(name: str, entry: Mapping[str, Any], types: "_Types") -> Variable:
    slot, slots = entry["slot"], int(entry.get("n_slots", 1))
    if not (0 <= slot < SLOTS and 0 < slots <= SLOTS):
        raise ValueError("a variable outside of the storage")
    text = _INTERFACE.sub(r"contract \1", entry["type"][: MAX_TYPE + 1])
    return Variable(name, types.add(text, slots), slot, 0)


class _Types:
    """The types of variables, by their text and their slots. `structs` are the members of structs,
    names and types."""

    def __init__(self, structs: Mapping[str, Sequence[tuple[str, str]]]) -> None:
        self.by_name: dict[str, StorageType] = {}
        self._structs = structs
        self._members_left = MAX_MEMBERS

    def add(self, text: str, slots: int | None, depth: int = 0) -> str:
        """Note a type and those inside; `slots` is None where its size is known of its text alone.
        Return its name."""
        name = text if slots is None else f"{text} in {slots}"
        if name not in self.by_name:
            if max(len(self.by_name) - MAX_TYPES, depth - MAX_DEPTH, len(text) - MAX_TYPE) >= 0:
                raise ValueError("too many types")
            type_ = self._read(text, slots, depth)
            self.by_name[name] = type_._replace(label=text[:MAX_LABEL] + type_.label)
        return name

    def _read(self, text: str, slots: int | None, depth: int) -> StorageType:
        """Return a type with the end of its label. The size of elements that are not known is their
        share in the array's; in a mapping it is not known, nor what they have."""
        if _VALUE.match(text):
            return StorageType("value", "", WORD)
        if size := _BYTES.match(text):
            most = int(size[1])
            return StorageType("bytes", "", WORD * (1 - -most // WORD), length=most)
        if mapping := _MAPPING.match(text):
            key, value = mapping.groups()
            base, key = self.add(value, None, depth + 1), self.add(key, None, depth + 1)
            return StorageType("mapping", "", WORD, base, key)
        for pattern, index in ((_LIST, 1), (_FIXED, 0)):
            if array := pattern.match(text):
                length = int(array[2])
                share = None if slots is None else (slots - index) // max(length, 1)
                base = self.add(array[1], share, depth + 1)
                if not self.by_name[base].size:
                    return self.by_name[base]._replace(label=NOT_DECODED)
                whole = WORD * (index + length * self.by_name[base].slots)
                kind = StorageType("dynamic" if index else "array", "", whole)
                return kind._replace(base=base, length=length)
        members = self._members(text, depth)
        in_all = sum(self.by_name[member.type].slots for member in members)
        if members and slots in (None, in_all):
            return StorageType("struct", "", WORD * in_all, members=members)
        if slots is None:
            return StorageType("unknown", NOT_DECODED, 0)
        return StorageType("unknown", "", WORD * slots)

    def _members(self, text: str, depth: int) -> Sequence[Variable]:
        """Return the members of a struct; none where the size of one is not known."""
        members: list[Variable] = []
        slot = 0
        for name, type_text in self._structs.get(text, ()):
            type_name = self.add(type_text, None, depth + 1)
            self._members_left -= 1
            if not self.by_name[type_name].size or self._members_left < 0:
                return ()
            members.append(Variable(str(name)[:MAX_NAME], type_name, slot, 0))
            slot += self.by_name[type_name].slots
        return members


CACHE_BYTES = 16 * 1024 * 1024
# Of the JSON of a request's layouts together, those of one code once: they take 0.05 s to read.
MAX_CHARACTERS = 3 * 1024 * 1024
BYTES_PER_CHARACTER = 6  # memory of a layout per character of its JSON, measured
EMPTY = Layout((), {})


class KnownLayout(NamedTuple):
    """The layout of the code at `address`, with the contract's name in the source."""

    address: bytes
    contract_name: str
    layout: Layout
    code_hash: bytes

    def record(self) -> dict[str, Any]:
        return recorded("layout", self)


class StorageLayouts:
    """A reader of layouts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        # Each with the characters of its JSON.
        self._layouts: SizedCache[tuple[Layout, int]] = SizedCache(CACHE_BYTES)

    def of(self, addresses: Sequence[bytes]) -> dict[bytes, KnownLayout]:
        """Return the layouts of those contracts whose verification has one, by address; those last
        in order are left out where all have more than MAX_CHARACTERS. Contracts of one
        verification have the same object."""
        if not addresses:
            return {}
        distinct = sorted({*addresses})
        rows = self._database.rows("contracts/compiled_sources_find_layouts", addresses=distinct)
        by_address = {bytes(address): row for address, *row in rows}
        read: dict[Hashable, Layout] = {}
        layouts: dict[bytes, KnownLayout] = {}
        left = MAX_CHARACTERS
        for address in dict.fromkeys(addresses):
            if address not in by_address or left <= 0:
                continue
            name, path, verified, code_hash, at = by_address[address]
            key = bytes(verified), bytes(code_hash), at
            if key not in read:
                read[key], characters = self._layout(key, path)
                left -= characters
            layouts[address] = KnownLayout(address, name, read[key], bytes(code_hash))
        return layouts

    def _layout(self, key: tuple[bytes, bytes, object], path: str) -> tuple[Layout, int]:
        """Return the layout of a verification, which is nothing where it is malformed."""
        sized = self._layouts.get(key)
        if sized is None:
            stored = self._database.value(
                "contracts/compiled_sources_get_layout", address=key[0], code_hash=key[1]
            )
            text = "" if stored is None else compiler_layouts.unpacked(bytes(stored))
            read = read_vyper if language_of_path(path) is vyper.VYPER else read_solidity
            try:
                layout = read(text)
            except MALFORMED_LAYOUT:
                layout = EMPTY
            sized = layout, len(text)
            self._layouts.store(key, sized, 1_000 + BYTES_PER_CHARACTER * len(text))
        return sized


def in_order(layouts: Mapping[bytes, KnownLayout], addresses: Sequence[bytes]) -> list[KnownLayout]:
    """Return the layouts that are known of these contracts, in their order."""
    return [layouts[address] for address in dict.fromkeys(addresses) if address in layouts]
