"""What changed in the storage of a contract, by the names of its variables. A changed slot is in a
variable, or is the hash of where a mapping, array or string stands: hashes of candidates are
computed level by level, within a bound. Pure.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from types import MappingProxyType
from typing import Any, NamedTuple

from scan.contracts.known_proxies import ADMIN_SLOT, BEACON_SLOT, IMPLEMENTATION_SLOT
from scan.extensions.explanations.storage.layout import (
    WORD,
    Layout,
    StorageType,
    Variable,
    laid_out,
)
from scan.extensions.explanations.storage.mapping_keys import Candidates, slot_of
from scan.extensions.explanations.storage.slots import (
    MAX_PATH,
    Part,
    Place,
    Regions,
    Root,
    Steps,
    content_start,
    data_of,
    hashed_places,
    is_address,
    length_of,
    root_of,
    roots_of,
    short_content,
    text_of,
    value_of,
)
from scan.hex import quantity

# Of all contracts of a request together, in each of two attempts: 10,000 take 0.05 s.
MAX_HASHES = 10_000
MAX_VARIABLES = 20_000  # of distinct layouts together, likewise: they take 0.05 s
# Candidates that are tried at each level: of a mapping, of one in another's values, and so on.
MOST_KEYS = (1_000, 64, 16, 8)


@dataclass
class Budget:
    """The hashes that a request may still have computed, the variables whose places it may
    compute, and the steps of its walks. What is known of a layout is kept for its next contract."""

    hashes: int = MAX_HASHES
    variables: int = MAX_VARIABLES
    steps: Steps = field(default_factory=Steps)
    _known: dict[int, "_Level"] = field(default_factory=dict)

    def take(self) -> bool:
        self.hashes -= 1
        return self.hashes >= 0

    @property
    def is_spent(self) -> bool:
        return self.hashes <= 0 or self.steps.are_spent

    def first_level(self, layout: Layout) -> "_Level":
        """Return the variables of a layout; nothing of one that has more than are left."""
        level = self._known.get(id(layout))
        if level is None:
            roots = roots_of(layout) if len(layout.variables) <= self.variables else []
            self.variables -= len(roots)
            level = self._known[id(layout)] = _Level(layout, roots, self.steps)
        return level


class _Level:
    """Regions that as many hashes lead to, and the places in them that further ones lead from."""

    def __init__(self, layout: Layout, roots: Sequence[Root], steps: Steps) -> None:
        self._layout, self._roots, self._steps = layout, roots, steps  # the id stays the layout's
        self.regions = Regions(layout, roots, steps)
        self._places: Sequence[tuple[Place, int]] | None = None

    def places(self, indices: Sequence[int], most_rank: int) -> Sequence[tuple[Place, int]]:
        """Return the places with the ranks of their regions, of those below `most_rank`."""
        if self._places is None:
            self._places = [
                (place, root.rank)
                for root in self._roots
                if root.rank < most_rank and not self._steps.are_spent
                for place in hashed_places(self._layout, root, indices, self._steps)
            ]
        return self._places


def names_of_slots(
    layout: Layout, slots: Collection[int], candidates: Candidates, budget: Budget
) -> dict[int, Sequence[Part]]:
    """Return what is in these slots, as far as candidates lead to them."""
    named: dict[int, Sequence[Part]] = {}
    unnamed = {*slots}
    if not unnamed:
        return named
    level = budget.first_level(layout)
    for most in (*MOST_KEYS, 0):
        regions = level.regions
        named |= {slot: parts for slot in unnamed if (parts := regions.parts_at(slot))}
        unnamed -= named.keys()
        if not unnamed or not most or budget.is_spent:
            break
        roots = [*_next(layout, level, candidates, budget, most)]
        if not roots:
            break
        level = _Level(layout, roots, budget.steps)
    return named


def _next(
    layout: Layout, level: _Level, candidates: Candidates, budget: Budget, most: int
) -> Iterator[Root]:
    """Yield the regions that hashes lead to from these; of values of mappings those alone whose
    keys are likely."""
    for place, rank in level.places(candidates.indices, most):
        if budget.hashes <= 0:
            return
        type_ = layout.types[place.type]
        if type_.kind == "mapping":
            yield from _values(layout, place, type_, candidates, budget, most)
        elif budget.take():
            yield data_of(layout, place, rank)


def _values(
    layout: Layout,
    mapping: Place,
    type_: StorageType,
    candidates: Candidates,
    budget: Budget,
    most: int,
) -> Iterator[Root]:
    key_type = layout.key_type(type_)
    if key_type is None:
        return
    keys = candidates.of(key_type, is_vyper=layout.is_vyper)
    for rank, key in enumerate(keys[:most]):
        if not budget.take():
            return
        slot = slot_of(layout, mapping.slot, key_type, key)
        path = f"{mapping.path}[{key.text}]"[:MAX_PATH]
        yield root_of(layout, Place(path, type_.base, slot), rank)


MAX_TEXT = 64 * 1024  # bytes of a string that is shown
# The slots of proxies (EIP-1967), which no layout has.
OF_PROXIES = laid_out(
    [
        Variable(f"eip1967.proxy.{name}", "address", quantity(slot), 0)
        for name, slot in (
            ("implementation", IMPLEMENTATION_SLOT),
            ("beacon", BEACON_SLOT),
            ("admin", ADMIN_SLOT),
        )
    ],
    {"address": StorageType("value", "address", 20)},
)
Words = Mapping[int, tuple[bytes, bytes]]  # before and after, by slot


class VariableChange(NamedTuple):
    """A variable, or a part of one, with its values before and after. `offset` and `size` are the
    bytes that it has in its slot. A value is None where not all of it is known: a long string of
    which some slots did not change."""

    name: str
    type: str
    offset: int
    size: int
    before: Any
    after: Any

    def addresses(self) -> Sequence[str]:
        return (self.before, self.after) if is_address(self.type) else ()

    def record(self) -> dict[str, Any]:
        return self._asdict()


def changed_variables(
    layouts: Sequence[Layout],
    words: Words,
    candidates: Candidates,
    budget: Budget,
    former: Mapping[int, Sequence[VariableChange]] = MappingProxyType({}),
) -> dict[int, Sequence[VariableChange]]:
    """Return the variables in changed slots, by slot, with those that are known; the first layout
    that has something there names it."""
    named = dict(former)
    sides = [{slot: pair[side] for slot, pair in words.items()} for side in (0, 1)]
    for layout in layouts:
        unnamed = words.keys() - named.keys()
        parts = names_of_slots(layout, unnamed, candidates, budget)
        for slot, in_slot in parts.items():
            changes = [c for part in in_slot for c in _changes(layout, part, words, sides)]
            if changes:
                named[slot] = changes
    return named


_Sides = Sequence[Mapping[int, bytes]]  # the words before, and those after


def _changes(layout: Layout, part: Part, words: Words, sides: _Sides) -> Iterator[VariableChange]:
    before, after = words[part.slot]
    if part.raw(before) == part.raw(after):
        return
    if part.kind == "text":
        yield from _text_changes(part, sides)
        return
    values = (
        value_of(part.label, part.raw(word), is_vyper=layout.is_vyper, declared=layout.declared)
        for word in (before, after)
    )
    yield VariableChange(part.name, part.label, part.offset, part.size, *values)


def _text_changes(part: Part, sides: _Sides) -> Iterator[VariableChange]:
    """Yield the change of a string by its own slot, and that of its length where its content stands
    elsewhere."""
    contents = [content_of(part.slot, side[part.slot], side) for side in sides]
    values = [None if c is None else text_of(part.label, c) for c in contents]
    yield VariableChange(part.name, part.label, part.offset, part.size, *values)
    part_words = [side[part.slot] for side in sides]
    if any(short_content(word) is None for word in part_words):
        lengths = [str(length_of(word)) for word in part_words]
        yield VariableChange(f"{part.name}.length", "uint256", 0, WORD, *lengths)


def content_of(slot: int, word: bytes, words: Mapping[int, bytes]) -> bytes | None:
    """Return the content of Solidity's bytes or string by the word of its slot, None where `words`
    do not have all of it, or it is longer than MAX_TEXT."""
    short = short_content(word)
    if short is not None:
        return short
    length = length_of(word)
    if length > MAX_TEXT:
        return None
    start = content_start(slot)
    in_order = (words.get(start + index, b"") for index in range(-(-length // WORD)))
    data = b"".join(takewhile(bool, in_order))
    return data[:length] if len(data) >= length else None
