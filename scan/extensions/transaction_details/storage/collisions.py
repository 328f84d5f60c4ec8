"""Collisions of two layouts: variables of two contracts in the same bytes of the storage, as where
a proxy gets another implementation, or has variables of its own."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.extensions.transaction_details.storage.layout import WORD, Layout, StorageType, Variable
from scan.extensions.transaction_details.storage.places import Steps
from scan.hex import to_hex

MAX_COLLISIONS = 50
MAX_COMPARED = 40_000  # pairs of variables and types, of a request: they take 0.1 s
MAX_DEPTH = 16
GAP = "gap"  # in the name of an array that is there to be replaced


class Collision(NamedTuple):
    """Two variables in the same bytes, with the labels of their types; `is_renamed`: they have the
    same type and place, and other names. `slot` and `offset` are of the first byte in both."""

    slot: int
    offset: int
    first: tuple[str, str]
    second: tuple[str, str]
    is_renamed: bool


class ContractCollision(NamedTuple):
    """A collision of the layouts of two contracts, by their addresses."""

    contracts: tuple[bytes, bytes]
    collision: Collision

    @property
    def slot(self) -> bytes:
        return self.collision.slot.to_bytes(WORD)

    @property
    def variables(self) -> Sequence[tuple[bytes, str, str]]:
        """The contract, the variable's name and its type, of each of the two."""
        sides = (self.collision.first, self.collision.second)
        return [(a, *side) for a, side in zip(self.contracts, sides, strict=True)]

    def record(self) -> dict[str, Any]:
        return {
            "slot": to_hex(self.slot),
            "offset": self.collision.offset,
            "kind": "name" if self.collision.is_renamed else "type",
            "variables": [
                {"contract": to_hex(address), "name": name, "type": label}
                for address, name, label in self.variables
            ],
        }


class Comparisons:
    """The comparisons of a request, each made once, with the steps that are left for all."""

    def __init__(self) -> None:
        self.steps = Steps(MAX_COMPARED)
        # By the ids of two layouts, which are kept with it.
        self._known: dict[tuple[int, int], tuple[Layout, Layout, Sequence[Collision]]] = {}

    def collisions_of(self, first: Layout, second: Layout) -> Sequence[Collision]:
        """Return the first MAX_COLLISIONS collisions, by their place; equal layouts have none."""
        pair = id(first), id(second)
        if pair not in self._known:
            self._known[pair] = first, second, self._compare(first, second)
        return self._known[pair][2]

    def _compare(self, first: Layout, second: Layout) -> Sequence[Collision]:
        if self.steps.are_spent or first.is_vyper != second.is_vyper or first == second:
            return ()
        comparison = _Comparison(first, second, self.steps)
        compared = (comparison.compare(*pair) for pair in comparison.overlapping())
        return [*islice((c for c in compared if c is not None), MAX_COLLISIONS)]


def _span(layout: Layout, variable: Variable) -> tuple[int, int]:
    """Return the first byte of a variable, and the one after it."""
    type_ = layout.types.get(variable.type)
    start = variable.slot * WORD + variable.offset
    return start, start + (type_.size if type_ else WORD - variable.offset)


class _Comparison:
    """A comparison of the variables of two layouts."""

    def __init__(self, first: Layout, second: Layout, steps: Steps) -> None:
        self._first, self._second, self._steps = first, second, steps
        self._known: dict[tuple[str, str], bool] = {}

    def overlapping(self) -> Iterator[tuple[Variable, Variable]]:
        """Yield variables that have bytes in common, both in the order of their places. Variables
        of one layout do not overlap."""
        ones, others = iter(self._first.variables), iter(self._second.variables)
        one, other = next(ones, None), next(others, None)
        while one is not None and other is not None and self._steps.take():
            start, end = _span(self._first, one)
            other_start, other_end = _span(self._second, other)
            if start < other_end and other_start < end:
                yield one, other
            if end <= other_end:
                one = next(ones, None)
            else:
                other = next(others, None)

    def compare(self, one: Variable, other: Variable) -> Collision | None:
        own, others = self._first.types.get(one.type), self._second.types.get(other.type)
        if own is None or others is None or _is_gap(one, own) or _is_gap(other, others):
            return None
        spans = _span(self._first, one), _span(self._second, other)
        is_same_type = spans[0] == spans[1] and self._is_same(one.type, other.type, 0)
        if is_same_type and one.name == other.name:
            return None
        slot, offset = divmod(max(spans[0][0], spans[1][0]), WORD)
        names = (one.name, own.label), (other.name, others.label)
        return Collision(slot, offset, *names, is_renamed=is_same_type)

    def _is_same(self, one: str, other: str, depth: int) -> bool:
        """Return whether types are the same by their labels and what is in them: their names have
        numbers of the compilation."""
        pair = one, other
        if pair not in self._known:
            self._known[pair] = True  # while those inside are compared: types may have themselves
            self._known[pair] = self._are_alike(pair, depth)
        return self._known[pair]

    def _are_alike(self, names: tuple[str, str], depth: int) -> bool:
        self._steps.take()
        one, other = self._first.types.get(names[0]), self._second.types.get(names[1])
        if one is None or other is None or depth == MAX_DEPTH or self._steps.are_spent:
            return one is other
        if _outside(one) != _outside(other) or len(one.members) != len(other.members):
            return False
        inside = [(one.base, other.base), (one.key, other.key)]
        for member, its in zip(one.members, other.members, strict=True):
            if (member.name, member.slot, member.offset) != (its.name, its.slot, its.offset):
                return False
            inside.append((member.type, its.type))
        return all(self._is_same(own, others, depth + 1) for own, others in inside if own or others)


def _outside(type_: StorageType) -> tuple[object, ...]:
    return type_.kind, _label(type_), type_.size, type_.length


def _label(type_: StorageType) -> str:
    """Return a label without the contract that declares a type: another version may inherit it."""
    return " ".join(word.rpartition(".")[2] for word in type_.label.split(" "))


def _is_gap(variable: Variable, type_: StorageType) -> bool:
    return GAP in variable.name.lower() and type_.kind == "array"
