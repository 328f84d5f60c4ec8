"""Comparison of two layouts: variables of two contracts in the same bytes of the storage, as where
a proxy gets another implementation, or has variables of its own.

Structs that are variables are compared member by member, so that members, like variables, may be
added where nothing was. What is in mappings may grow; elements of arrays may not, since those after
them would move; no array may get shorter. Variables may get a name of which the source says the
former one. Types of one encoding are alike: an address and a contract, an enum and a uint8. A gap
is there to be replaced: it may lie over any variable but one that has moved. What a layout does not
say is not taken for a difference.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from scan.extensions.explanations.storage.layout import WORD, Layout, StorageType, Variable
from scan.extensions.explanations.storage.slots import Steps

MAX_COLLISIONS = 50
MAX_COMPARED = 40_000  # variables, pairs of them and of types, of a request: they take 0.1 s
MAX_DEPTH = 16

Kind = Literal["type", "place", "name"]
_GAP = re.compile(r"__gap(?:_|\Z)")  # OpenZeppelin's names of gaps
_NUMBERED = re.compile(r"@[0-9]+\Z")  # of variables of one name
_ELEMENTARY = re.compile(r"(uint|int)([0-9]*)\Z|(bytes[0-9]+|decimal)\Z", re.ASCII)
_PADDED = ("uint", "int")  # which are keys of mappings in any size alike


class Collision(NamedTuple):
    """Two variables in the same bytes, with the labels of their types, and how they differ: in
    "type", or in what they are: one has moved to the "place" of the other; or in "name" alone.
    `slot` and `offset` are of the first byte in both."""

    slot: int
    offset: int
    first: tuple[str, str]
    second: tuple[str, str]
    kind: Kind


class _Placed(NamedTuple):
    """A variable, or a member of one, that is no struct, with its first byte. `path` is its name in
    the source, `former_path` the one that the source says it had. Of an unknown type there is
    none."""

    name: str
    path: str
    former_path: str
    start: int
    type_name: str
    type: StorageType | None

    @property
    def end(self) -> int:
        return self.start + (self.type.size if self.type else WORD - self.start % WORD)

    @property
    def shown(self) -> tuple[str, str]:
        return self.name, self.type.label if self.type else ""

    @property
    def is_gap(self) -> bool:
        is_array = self.type is not None and self.type.kind == "array"
        return is_array and _GAP.match(self.path.rpartition(".")[2]) is not None


class Comparisons:
    """The comparisons of a request, each made once, with the steps that are left for all."""

    def __init__(self) -> None:
        self.steps = Steps(MAX_COMPARED)
        # By the ids of two layouts, which are kept with it.
        self._known: dict[tuple[int, int], tuple[Layout, Layout, Sequence[Collision]]] = {}

    def collisions_of(self, first: Layout, second: Layout) -> Sequence[Collision]:
        """Return the first MAX_COLLISIONS collisions of a layout and one after it, by their place;
        equal layouts have none."""
        pair = id(first), id(second)
        if pair not in self._known:
            self._known[pair] = first, second, self._compare(first, second)
        return self._known[pair][2]

    def _compare(self, first: Layout, second: Layout) -> Sequence[Collision]:
        if self.steps.are_spent or first.is_vyper != second.is_vyper or first == second:
            return ()
        comparison = _Comparison(first, second, self.steps)
        collided = comparison.collided(first.variables, second.variables)
        collisions = []
        for one, other, kind in islice(collided, MAX_COLLISIONS):
            slot, offset = divmod(max(one.start, other.start), WORD)
            collisions.append(Collision(slot, offset, one.shown, other.shown, kind))
        return collisions


class _Comparison:
    """A comparison of two layouts, with the types that it has compared."""

    def __init__(self, first: Layout, second: Layout, steps: Steps) -> None:
        self._first, self._second, self._steps = first, second, steps
        self._known: dict[tuple[str, str, bool], Kind | None] = {}

    def collided(
        self, ones: Sequence[Variable], others: Sequence[Variable], depth: int = 0
    ) -> Iterator[tuple[_Placed, _Placed, Kind]]:
        """Yield variables, or members of two structs, that have bytes in common and differ."""
        firsts = [*self._placed(self._first, ones)]
        seconds = [*self._placed(self._second, others)]
        before, after = ({(p.path, p.start) for p in side} for side in (firsts, seconds))
        moved = {path for path, _ in before - after} & {path for path, _ in after - before}
        for one, other in self._overlapping(firsts, seconds):
            if one.type is None or other.type is None:
                continue
            if (one.type.kind == "unknown") != (other.type.kind == "unknown"):
                continue
            has_moved = any(p.path in moved for p in (one, other) if not p.is_gap)
            if one.is_gap or other.is_gap:
                if has_moved:
                    yield one, other, "place"
                continue
            is_renamed = one.path == other.former_path and not has_moved
            kind = self._difference(one.type_name, other.type_name, True, depth)
            if one.start != other.start:
                kind = "type"
            elif kind != "type" and one.path != other.path and not is_renamed:
                is_same_type = _label(one.type) == _label(other.type)
                kind = "place" if has_moved else "name" if is_same_type else "type"
            if kind is not None:
                yield one, other, kind

    def _placed(
        self, layout: Layout, variables: Sequence[Variable], of: _Placed | None = None
    ) -> Iterator[_Placed]:
        """Yield variables, of structs the members."""
        for variable in variables:
            if not self._steps.take():
                return
            name, path = variable.name, _NUMBERED.sub("", variable.name)
            former = variable.former_name or path
            start = variable.slot * WORD + variable.offset
            if of is not None:
                name, path = f"{of.name}.{name}", f"{of.path}.{name}"
                former = f"{of.former_path}.{variable.name}"
                start += of.start
            type_ = layout.types.get(variable.type)
            placed = _Placed(name, path, former, start, variable.type, type_)
            if type_ is not None and type_.kind == "struct" and path.count(".") < MAX_DEPTH:
                yield from self._placed(layout, type_.members, placed)
            else:
                yield placed

    def _overlapping(
        self, firsts: Sequence[_Placed], seconds: Sequence[_Placed]
    ) -> Iterator[tuple[_Placed, _Placed]]:
        """Yield those that have bytes in common, both in the order of their places. Variables of
        one layout do not overlap."""
        ones, others = iter(firsts), iter(seconds)
        one, other = next(ones, None), next(others, None)
        while one is not None and other is not None and self._steps.take():
            if one.start < other.end and other.start < one.end:
                yield one, other
            if one.end <= other.end:
                one = next(ones, None)
            else:
                other = next(others, None)

    def _difference(self, one: str, other: str, grows: bool, depth: int) -> Kind | None:
        """Return how types differ, whose names have numbers of the compilation: "name" where only
        members have other names. `grows`: nothing follows where the later one is larger."""
        key = one, other, grows
        if key not in self._known:
            self._known[key] = None  # while those inside are compared: types may have themselves
            own, others = self._first.types.get(one), self._second.types.get(other)
            is_known = self._steps.take() and depth < MAX_DEPTH
            if is_known and own is not None and others is not None:
                self._known[key] = self._of_types(own, others, grows, depth + 1)
        return self._known[key]

    def _of_types(
        self, own: StorageType, others: StorageType, grows: bool, depth: int
    ) -> Kind | None:
        if own.kind != others.kind:
            return "type"
        if own.kind == "value":
            return None if self._are_alike(own, others) else "type"
        if own.kind == "mapping":
            key, its = self._first.types.get(own.key), self._second.types.get(others.key)
            if key is not None and its is not None and not self._are_alike(key, its, is_key=True):
                return "type"
            return self._difference(own.base, others.base, True, depth)
        if own.kind == "unknown":
            return None if _label(own) == _label(others) and own.size == others.size else "type"
        if not grows and own.slots != others.slots:
            return "type"
        if own.kind == "struct":
            kinds = {kind for *_, kind in self.collided(own.members, others.members, depth)}
            return None if not kinds else "name" if kinds == {"name"} else "type"
        if own.kind == "bytes":
            return None
        if own.kind == "array" and others.length < own.length:  # 0 of one that has any length
            return "type"
        return self._difference(own.base, others.base, False, depth)

    def _are_alike(self, own: StorageType, others: StorageType, *, is_key: bool = False) -> bool:
        """Return whether values are written the same way; as keys of mappings, whether they lead
        to the same slots."""
        before, after = self._first.declared, self._second.declared
        members, theirs = before.get(own.label), after.get(others.label)
        if isinstance(members, list) and isinstance(theirs, list):
            return members == theirs[: len(members)]
        one, other = _encoding(own, before), _encoding(others, after)
        if one is None or other is None:  # of what a source declares, and a layout does not
            return own.size == others.size
        if is_key and one[0] in _PADDED:
            return one[0] == other[0]
        return one == other


def _encoding(
    type_: StorageType, declared: Mapping[str, Sequence[str] | str]
) -> tuple[str, int] | None:
    """Return how a value is written, and its bytes; None of a declared type that is not known."""
    meaning = declared.get(type_.label)
    label = meaning if isinstance(meaning, str) else type_.label
    if type_.kind == "bytes":
        return "bytes", 0
    if label.startswith(("contract ", "address")):
        return "uint", 20
    if label.startswith(("enum ", "flag ")) or label == "bool":
        return "uint", 1 if label == "bool" else type_.size
    if label.startswith("function "):
        return "function", type_.size
    elementary = _ELEMENTARY.match(label)
    if elementary is None:
        return None
    family, bits, other = elementary.groups()
    return (family, int(bits or 256) // 8) if family else (other, type_.size)


def _label(type_: StorageType) -> str:
    """Return a label without the contract that declares a type: another version may inherit it."""
    return " ".join(word.rpartition(".")[2] for word in type_.label.split(" "))
