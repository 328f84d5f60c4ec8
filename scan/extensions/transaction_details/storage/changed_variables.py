"""What changed in the storage of a contract, by the names of its variables. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from scan.contracts.proxy_contracts import ADMIN_SLOT, BEACON_SLOT, IMPLEMENTATION_SLOT
from scan.extensions.transaction_details.storage.layout import (
    WORD,
    Layout,
    StorageType,
    Variable,
    laid_out,
)
from scan.extensions.transaction_details.storage.mapping_keys import Candidates
from scan.extensions.transaction_details.storage.places import Part, content_start
from scan.extensions.transaction_details.storage.slot_names import Budget, names_of_slots
from scan.extensions.transaction_details.storage.values import (
    is_address,
    length_of,
    short_content,
    text_of,
    value_of,
)
from scan.hex import quantity

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
    known: Mapping[int, Sequence[VariableChange]] = MappingProxyType({}),
) -> dict[int, Sequence[VariableChange]]:
    """Return the variables in changed slots, by slot, with those that are known; the first layout
    that has something there names it."""
    named = dict(known)
    sides = _sides(words)
    for layout in layouts:
        unnamed = words.keys() - named.keys()
        parts = names_of_slots(layout, unnamed, candidates, budget)
        for slot, in_slot in parts.items():
            changes = [c for part in in_slot for c in _changes(layout, part, words, sides)]
            if changes:
                named[slot] = changes
    return named


_Sides = Sequence[Mapping[int, bytes]]  # the words before, and those after


def _sides(words: Words) -> _Sides:
    return [{slot: pair[side] for slot, pair in words.items()} for side in (0, 1)]


def _changes(layout: Layout, part: Part, words: Words, sides: _Sides) -> Iterator[VariableChange]:
    before, after = words[part.slot]
    if part.raw(before) == part.raw(after):
        return
    if part.kind == "text":
        yield from _text_changes(part, sides)
        return
    values = (
        value_of(part.label, part.raw(word), is_vyper=layout.is_vyper, enums=layout.enums)
        for word in (before, after)
    )
    yield VariableChange(part.name, part.label, part.offset, part.size, *values)


def _text_changes(part: Part, sides: _Sides) -> Iterator[VariableChange]:
    """Yield the change of a string by its own slot, and that of its length where its content stands
    elsewhere."""
    contents = [content_of(part.slot, side[part.slot], side) for side in sides]
    values = [None if c is None else text_of(part.label, c) for c in contents]
    yield VariableChange(part.name, part.label, part.offset, part.size, *values)
    own = [side[part.slot] for side in sides]
    if any(short_content(word) is None for word in own):
        lengths = [str(length_of(word)) for word in own]
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
    data: list[bytes] = []
    for index in range(-(-length // WORD)):
        if (own := words.get(start + index)) is None:
            return None
        data.append(own)
    return b"".join(data)[:length]
