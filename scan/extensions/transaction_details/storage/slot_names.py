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
# Candidates that are tried at each level: of a mapping, of one in another's values, and so on.
MOST_KEYS = (1_000, 64, 16, 8)


@dataclass
class Budget:
    """The hashes that a request may still have computed, and the steps of its walks."""

    hashes: int = MAX_HASHES
    steps: Steps = field(default_factory=Steps)

    def take(self) -> bool:
        self.hashes -= 1
        return self.hashes >= 0


def names_of_slots(
    layout: Layout, slots: Collection[int], candidates: Candidates, budget: Budget
) -> dict[int, Sequence[Part]]:
    """Return what is in these slots, as far as candidates lead to them."""
    named: dict[int, Sequence[Part]] = {}
    unnamed = {*slots}
    roots = roots_of(layout)
    for level in range(len(MOST_KEYS) + 1):
        regions = Regions(layout, roots, budget.steps)
        named |= {slot: parts for slot in unnamed if (parts := regions.parts_at(slot))}
        unnamed -= named.keys()
        if not unnamed or level == len(MOST_KEYS):
            break
        roots = [*_next(layout, roots, candidates, budget, level)]
    return named


def _next(
    layout: Layout,
    roots: Sequence[Root],
    candidates: Candidates,
    budget: Budget,
    level: int,
) -> Iterator[Root]:
    """Yield the regions that hashes lead to from these; of values of mappings those alone whose
    keys are likely."""
    indices = candidates.indices()
    for root in roots:
        if root.rank >= MOST_KEYS[level] and level:
            continue
        for place in hashed_places(layout, root, indices, budget.steps):
            type_ = layout.types[place.type]
            if type_.kind == "mapping":
                yield from _values(layout, place, type_, candidates, budget, MOST_KEYS[level])
            elif budget.take():
                yield data_of(layout, place, root.rank)


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
