"""The variables of a contract with their values at a block, read from the node slot by slot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from scan.errors import NotFound, UpstreamFailed
from scan.ethereum import client, request_node, served_chain
from scan.extensions.transaction_details.contract_abis import Block
from scan.extensions.transaction_details.storage import places, queries, slot_names
from scan.extensions.transaction_details.storage.collisions import Comparisons, ContractCollision
from scan.extensions.transaction_details.storage.layout import (
    SLOTS,
    WORD,
    KnownLayout,
    Layout,
    StorageLayouts,
    in_order,
)
from scan.extensions.transaction_details.storage.variable_paths import (
    MOST_SHOWN,
    Entry,
    content_slots,
    element_entries,
    entries_of,
    place_at,
)
from scan.hex import BadHex, quantity, to_hex
from scan.queries import blocks
from scan.queries.reader import Reader

MAX_ENTRIES = 300
MAX_SLOTS = 300  # that are read
MAX_ROUNDS = 4  # of reading: a list, its elements, their strings, and the content of these
MAX_TEXT = 2_048  # bytes of a string that is read
MAX_COLLISIONS = 100
MAX_RESPONSE_BYTES = 256 * 1024
TIMEOUT_S = 4.0

NO_LAYOUT = (
    "No storage layout of this contract is available: it is not verified, was verified before Scan"
    " stored layouts, or its compiler outputs none (Solidity before 0.5.13, Vyper before 0.4.1)."
)

ReadSlots = Callable[[Sequence[int]], Mapping[int, bytes]]


class StoredVariable(NamedTuple):
    """A variable or a part of one. `value` is None of what has parts, and where it was not read;
    `length` is that of an array or a string; `size` are its bytes in the slot."""

    name: str
    type: str
    slot: int
    offset: int
    size: int | None
    value: Any
    length: str | None

    @property
    def word(self) -> bytes:
        return self.slot.to_bytes(WORD)

    @property
    def unit(self) -> str:
        """What its length counts."""
        return "byte" if places.is_text(self.type) else "element"

    def record(self) -> dict[str, Any]:
        return {**self._asdict(), "slot": to_hex(self.word)}


class ContractStorage(NamedTuple):
    """The variables of a contract at a block, in the order of its layouts. `is_truncated`: of
    variables, elements, strings or collisions some are left out."""

    block: served_chain.BlockId
    layouts: Sequence[KnownLayout]
    variables: Sequence[StoredVariable]
    is_truncated: bool
    collisions: Sequence[ContractCollision]


def get(
    reader: Reader,
    address: bytes,
    block: served_chain.BlockId | None = None,
    variable: str | None = None,
    other: bytes | None = None,
) -> ContractStorage:
    """Return the variables of a contract at a block, or what is at the path `variable`. `other` is
    a contract whose layout is compared, too.

    Raises NotFound without a layout, InvalidParameter, HistoryUnavailable, UpstreamFailed,
    Unavailable.
    """
    if block is None:
        block = blocks.find(reader, blocks.newest_number(reader) or 0)
        reader.do_not_cache()
    at = Block(block.number, to_hex(block.hash))
    targets = queries.implementations_at(reader, [address], at).get(address, ())
    wanted = (*filter(None, [other]), *targets, address)
    known = reader.sources.get(StorageLayouts).of(wanted)
    layouts = in_order(known, (*targets, address))
    if not layouts and reader.has_node_failed:
        raise UpstreamFailed(request_node.NOT_ANSWERING)
    if not layouts or (other is not None and other not in known):
        raise NotFound(NO_LAYOUT)
    every = [one.layout for one in layouts] + [slot_names.OF_PROXIES][: len(targets)]
    steps = places.Steps()
    starts = _starts(every, variable)
    every_entry = ((lay, e) for lay, place in starts for e in entries_of(lay, place, steps))
    entries = [*islice(every_entry, MAX_ENTRIES + 1)]
    values = _Values(lambda slots: _read(reader, address, block, slots), entries, steps)
    variables, comparisons = values.read(), Comparisons()
    compared = in_order(known, (*targets, address, *filter(None, [other])))
    if len(compared) > 1:
        queries.hold_for(reader, compared)
    collisions = _collisions(compared, comparisons)
    is_truncated = values.is_truncated or comparisons.steps.are_spent
    is_truncated = is_truncated or any(layout.is_truncated for layout in every)
    return ContractStorage(block, layouts, variables, is_truncated, collisions)


def _starts(layouts: Sequence[Layout], variable: str | None) -> list[tuple[Layout, places.Place]]:
    """Return the places of all variables, or the one at a path."""
    if variable is None:
        return [(layout, places.place_of(v)) for layout in layouts for v in layout.variables]
    for layout in layouts[:-1]:
        try:
            return [(layout, place_at(layout, variable))]
        except NotFound:
            continue
    return [(layouts[-1], place_at(layouts[-1], variable))]


def _collisions(
    layouts: Sequence[KnownLayout], comparisons: Comparisons
) -> list[ContractCollision]:
    """Return the collisions of any two layouts."""
    pairs = [(one, other) for n, one in enumerate(layouts) for other in layouts[n + 1 :]]
    collisions: list[ContractCollision] = []
    for pair in pairs:
        if len(collisions) < MAX_COLLISIONS:
            collisions += queries.contract_collisions(*pair, comparisons)
    return collisions[:MAX_COLLISIONS]


def _read(
    reader: Reader, address: bytes, block: served_chain.BlockId, slots: Sequence[int]
) -> Mapping[int, bytes]:
    calls = [
        client.Call("eth_getStorageAt", (to_hex(address), to_hex(slot.to_bytes(WORD)), block))
        for slot in slots
    ]
    answers = request_node.read(reader.node.within(TIMEOUT_S), block, calls, MAX_RESPONSE_BYTES)
    try:
        if any(isinstance(answer, client.RpcError) for answer in answers):
            raise UpstreamFailed("The node does not give this contract's storage.")
        words = [quantity(answer).to_bytes(WORD) for answer in answers]
    except BadHex:
        reader.node.record_failed()
        raise UpstreamFailed("The node's answer for the storage is malformed.") from None
    return dict(zip(slots, words, strict=True))


_Entries = list[tuple[Layout, Entry]]


class _Values:
    """The values of entries, whose words are read in rounds: what a length says is read in the
    next."""

    def __init__(self, read_slots: ReadSlots, entries: _Entries, steps: places.Steps) -> None:
        self._read_slots, self._steps = read_slots, steps
        self._words: dict[int, bytes] = {}
        self._entries = entries[:MAX_ENTRIES]
        self.is_truncated = len(entries) > MAX_ENTRIES

    def read(self) -> list[StoredVariable]:
        for _ in range(MAX_ROUNDS):
            wanted = [slot for entry in self._entries for slot in self._slots(*entry)]
            missing = [s for s in dict.fromkeys(wanted) if s < SLOTS and s not in self._words]
            room = MAX_SLOTS - len(self._words)
            if not missing[:room]:
                break
            self._words |= self._read_slots(missing[:room])
            opened = [more for entry in self._entries for more in self._opened(*entry)]
            self.is_truncated = self.is_truncated or len(opened) > MAX_ENTRIES
            self._entries = opened[:MAX_ENTRIES]
        return [self._variable(layout, entry) for layout, entry in self._entries]

    def _slots(self, layout: Layout, entry: Entry) -> list[int]:
        """Return the slots of an entry, as far as what was read leads to them."""
        if not entry.has_word:
            return []
        first_slot = entry.place.slot
        length = self._content_length(entry)
        is_read = length is not None and length <= MAX_TEXT
        return [first_slot, *content_slots(layout, entry, length or 0)] if is_read else [first_slot]

    def _content_length(self, entry: Entry) -> int | None:
        """Return the length of a string whose content stands apart from it, if it was read."""
        word = self._words.get(entry.place.slot)
        if word is None or entry.kind not in ("text", "bytes"):
            return None
        if entry.kind == "bytes":
            return int.from_bytes(word)
        return None if places.short_content(word) is not None else places.length_of(word)

    def _opened(self, layout: Layout, entry: Entry) -> Iterator[tuple[Layout, Entry]]:
        """Yield an entry, and those of an array's elements after its length was read."""
        word = self._words.get(entry.place.slot)
        if entry.kind != "list" or entry.is_open or word is None:
            yield layout, entry
            return
        count = int.from_bytes(word)
        yield layout, entry._replace(is_open=True, length=count)
        for element in element_entries(layout, entry, count, self._steps):
            yield layout, element

    def _variable(self, layout: Layout, entry: Entry) -> StoredVariable:
        place, value, length = entry.place, None, entry.length
        word = self._words.get(place.slot)
        self.is_truncated = self.is_truncated or (word is None and entry.has_word)
        if word is not None and entry.kind == "value":
            raw = places.bytes_at(word, place.offset, entry.size)
            value = places.value_of(entry.label, raw, is_vyper=layout.is_vyper, enums=layout.enums)
        elif word is not None and entry.kind in ("text", "bytes"):
            length = int.from_bytes(word) if entry.kind == "bytes" else places.length_of(word)
            content = self._content(layout, entry, word)
            value = None if content is None else places.text_of(entry.label, content)
            self.is_truncated = self.is_truncated or content is None
        elif word is not None and entry.kind == "list":
            length = int.from_bytes(word)
        if entry.kind in ("list", "whole"):
            shown_elements = MOST_SHOWN if entry.is_open else 0
            self.is_truncated = self.is_truncated or (length or 0) > shown_elements
        shown = None if length is None else str(length)
        size = entry.size if entry.has_word else None
        return StoredVariable(place.path, entry.label, place.slot, place.offset, size, value, shown)

    def _content(self, layout: Layout, entry: Entry, word: bytes) -> bytes | None:
        """Return the content of a string, None where not all of it was read."""
        if entry.kind == "text" and (short := places.short_content(word)) is not None:
            return short
        length = self._content_length(entry) or 0
        if length > MAX_TEXT:
            return None
        words = [self._words.get(slot) for slot in content_slots(layout, entry, length)]
        read = [word for word in words if word is not None]
        return b"".join(read)[:length] if len(read) == len(words) else None
