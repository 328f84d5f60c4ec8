"""From slots to variables: a changed slot is in a variable, or is the hash of where a mapping,
array or string stands. Hashes of candidates are computed level by level, within a bound."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from scan.extensions.transaction_details.storage.layout import Layout, StorageType
from scan.extensions.transaction_details.storage.mapping_keys import Candidates, slot_of
from scan.extensions.transaction_details.storage.places import (
    MAX_PATH,
    Part,
    Place,
    Regions,
    Root,
    Steps,
    data_of,
    hashed_places,
    root_of,
    roots_of,
)

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
        known = self._known.get(id(layout))
        if known is None:
            roots = roots_of(layout) if len(layout.variables) <= self.variables else []
            self.variables -= len(roots)
            known = self._known[id(layout)] = _Level(layout, roots, self.steps)
        return known


class _Level:
    """Regions that as many hashes lead to, and the places in them that further ones lead from."""

    def __init__(self, layout: Layout, roots: Sequence[Root], steps: Steps) -> None:
        self._layout, self._roots, self._steps = layout, roots, steps  # the id stays the layout's
        self.regions = Regions(layout, roots, steps)
        self._places: Sequence[tuple[Place, int]] | None = None

    def places(self, indices: Sequence[int], most_rank: int) -> Sequence[tuple[Place, int]]:
        """Return the places with the ranks of their regions, of those below `most_rank`."""
        if self._places is None:
            self._places = [*self._walk(indices, most_rank)]
        return self._places

    def _walk(self, indices: Sequence[int], most_rank: int) -> Iterator[tuple[Place, int]]:
        for root in self._roots:
            if self._steps.are_spent:
                return
            if root.rank < most_rank:
                for place in hashed_places(self._layout, root, indices, self._steps):
                    yield place, root.rank


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
    for place, rank in level.places(candidates.indices(), most):
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
    key_type = layout.types.get(type_.key)
    if key_type is None:
        return
    keys = candidates.of(key_type, is_vyper=layout.is_vyper)
    for rank, key in enumerate(keys[:most]):
        if not budget.take():
            return
        slot = slot_of(layout, mapping.slot, key_type, key)
        path = f"{mapping.path}[{key.text}]"[:MAX_PATH]
        yield root_of(layout, Place(path, type_.base, slot), rank)
