"""The variables of a contract with their values at a block, of all or of one by its path, such as
`allowances[0x…][0x…]`. Their slots are read from the node, with proofs where it gives them.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

from scan.contracts.abi_decoding import DecodingBudget
from scan.errors import HistoryUnavailable, InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum import client, request_node, served_chain, state_proofs
from scan.extensions.decoding.contract_abis import NO_CONTRACT, Block, ContractAbis
from scan.extensions.explanations.storage import queries, slot_names, slots
from scan.extensions.explanations.storage.layout import (
    SLOTS,
    WORD,
    KnownLayout,
    Layout,
    StorageLayouts,
    StorageType,
    in_order,
)
from scan.extensions.explanations.storage.mapping_keys import key_of, slot_of
from scan.hex import BadHex, quantity, to_hex
from scan.parameters import LONGEST_NAME
from scan.queries import blocks
from scan.queries.reader import Reader

MAX_PATH = 500  # characters of a parameter
MOST_SHOWN = 10  # elements of an array

_STEP = re.compile(
    r"""\.(?P<member>[A-Za-z_$][\w$]*)|\[(?P<key>"(?:\\.|[^"\\])*"|[^\[\]"]{1,300})\]""", re.ASCII
)
# What state changes name of an array or a string, beside its parts.
_OF_WHOLE = {
    "dynamic": re.compile(r"\.length"),
    "bytes": re.compile(r"\.length|\[[0-9]{1,20}:[0-9]{1,20}\]", re.ASCII),
}
_INDEX = re.compile(r"[0-9]{1,78}\Z", re.ASCII)


class Entry(NamedTuple):
    """A place, with what the storage has there: a "value" of `size` bytes, Solidity's "text", the
    "list" of an array whose length is in the slot, or Vyper's "bytes" with a length before them; or
    the "whole" of what has no word of its own, such as a mapping. `is_open`: entries of its
    elements follow."""

    place: slots.Place
    label: str
    kind: Literal["value", "text", "bytes", "list", "whole"]
    size: int = WORD
    length: int | None = None
    is_open: bool = False

    @property
    def has_word(self) -> bool:
        return self.kind != "whole"


def place_at(layout: Layout, path: str) -> slots.Place:
    """Return the place of a path; that of a length, or of a word of a string, is the array or the
    string. Raises InvalidParameter, and NotFound where the layout has no such variable."""
    variables = [v for v in layout.variables if path.startswith(v.name)]
    for variable in sorted(variables, key=lambda v: -len(v.name)):
        rest = path[len(variable.name) :]
        if rest[:1] in ("", ".", "["):
            return _followed(layout, slots.place_of(variable), rest)
    raise NotFound(f"The contract has no variable {path[:LONGEST_NAME]!r}.")


def _followed(layout: Layout, place: slots.Place, rest: str) -> slots.Place:
    while rest:
        step = _STEP.match(rest)
        type_ = layout.types.get(place.type)
        of_whole = _OF_WHOLE.get(type_.kind) if type_ is not None else None
        if of_whole is not None and of_whole.fullmatch(rest):
            return place
        if step is None or type_ is None:
            raise _no_part(place, rest)
        rest = rest[step.end() :]
        if step["member"]:
            name = step["member"]
            member = next((member for member in type_.members if member.name == name), None)
            if member is None:
                raise _no_part(place, f".{name}")
            place = slots.member_of(place, member)
        else:
            place = _element(layout, place, type_, step["key"].strip())
    return place


def _no_part(place: slots.Place, text: str) -> InvalidParameter:
    message = f"{place.path[:LONGEST_NAME]} has no part {text[:LONGEST_NAME]!r}."
    return InvalidParameter(message, field="variable")


def _element(layout: Layout, place: slots.Place, type_: StorageType, text: str) -> slots.Place:
    """Return the value of a mapping, or the element of an array."""
    key_type = layout.key_type(type_)
    if type_.kind == "mapping" and key_type is not None:
        slot = slot_of(layout, place.slot, key_type, key_of(key_type, text))
        return slots.Place(f"{place.path}[{text}]", type_.base, slot)
    elements = elements_of(layout, place)
    if elements is None or not _INDEX.match(text):
        raise _no_part(place, f"[{text}]")
    start, count = elements
    if int(text) >= count:
        message = f"{place.path[:LONGEST_NAME]} has at most {count} elements."
        raise InvalidParameter(message, field="variable")
    return slots.element_of(layout, place, start, int(text))


def elements_of(layout: Layout, place: slots.Place) -> tuple[int, int] | None:
    """Return the first slot of an array's elements, and the most that it may have."""
    type_ = layout.types[place.type]
    if type_.base not in layout.types:
        return None
    if type_.kind == "array":
        return place.slot, type_.length
    if type_.kind == "dynamic":
        most = type_.length if layout.is_vyper else slots.MOST_ELEMENTS
        return slots.data_of(layout, place).start, most
    return None


def entries_of(
    layout: Layout, place: slots.Place, steps: slots.Steps, depth: int = 0
) -> Iterator[Entry]:
    """Yield what is at a place: itself, then the members of a struct, or the first elements of a
    fixed array."""
    type_ = layout.types.get(place.type)
    if not steps.take() or type_ is None or depth == slots.MAX_DEPTH or place.slot >= SLOTS:
        return
    entry = _entry(layout, place, type_)
    yield entry
    if type_.kind == "struct":
        for member in type_.members:
            yield from entries_of(layout, slots.member_of(place, member), steps, depth + 1)
    elif type_.kind == "array":
        yield from element_entries(layout, entry, type_.length, steps, depth)


def element_entries(
    layout: Layout, array: Entry, count: int, steps: slots.Steps, depth: int = 0
) -> Iterator[Entry]:
    """Yield the entries of the first MOST_SHOWN of an array's elements."""
    elements = elements_of(layout, array.place)
    if elements is None:
        return
    for index in range(min(count, elements[1], MOST_SHOWN)):
        element = slots.element_of(layout, array.place, elements[0], index)
        yield from entries_of(layout, element, steps, depth + 1)


def _entry(layout: Layout, place: slots.Place, type_: StorageType) -> Entry:
    if type_.kind == "value" or (type_.kind == "unknown" and type_.size == WORD):
        return Entry(place, type_.label, "value", min(type_.size, WORD))
    if type_.kind == "dynamic":
        return Entry(place, type_.label, "list")
    if type_.kind == "bytes":
        return Entry(place, type_.label, "bytes" if layout.is_vyper else "text")
    length = type_.length if type_.kind == "array" else None
    return Entry(place, type_.label, "whole", type_.size, length, is_open=True)


def content_slots(layout: Layout, entry: Entry, length: int) -> list[int]:
    """Return the slots of a string's content that stands apart from its length."""
    start: int = slots.data_of(layout, entry.place).start
    return [(start + index) % SLOTS for index in range(-(-length // WORD))]


MAX_ENTRIES = 300
MAX_SLOTS = 300  # that are read
MAX_ROUNDS = 4  # of reading: a list, its elements, their strings, and the content of these
MAX_TEXT = 2_048  # bytes of a string that is read
MAX_RESPONSE_BYTES = 256 * 1024
TIMEOUT_S, PROOF_TIMEOUT_S = 4.0, 2.0

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
        return "byte" if slots.is_text(self.type) else "element"

    def record(self) -> dict[str, Any]:
        return {**self._asdict(), "slot": to_hex(self.word)}


class ContractStorage(NamedTuple):
    """The variables of a contract at a block, in the order of its layouts. `is_truncated`: of
    variables, elements or strings some are left out. `is_proven`: the block's hash proves the
    slots and the code, which has the layout, and is no proxy's."""

    block: served_chain.BlockId
    layouts: Sequence[KnownLayout]
    variables: Sequence[StoredVariable]
    is_truncated: bool
    is_proven: bool

    @property
    def unproven(self) -> Sequence[str]:
        return () if self.is_proven else ("layouts", "variables")


def get(
    reader: Reader,
    address: bytes,
    block: served_chain.BlockId | None = None,
    variable: str | None = None,
) -> ContractStorage:
    """Return the variables of a contract at a block, or what is at the path `variable`.

    Raises NotFound without a layout, InvalidParameter, HistoryUnavailable, UpstreamFailed,
    Unavailable.
    """
    if block is None:
        reader.do_not_cache()
    block = blocks.or_newest(reader, block)
    at = Block(block.number, to_hex(block.hash))
    targets = queries.implementations_at(reader, [address], at).get(address, ())
    wanted = (*targets, address)
    layouts = in_order(reader.sources.get(StorageLayouts).of(wanted), wanted)
    if not layouts and reader.has_node_failed:
        raise UpstreamFailed(request_node.NOT_ANSWERING)
    if not layouts:
        raise NotFound(NO_LAYOUT)
    every = [one.layout for one in layouts] + [slot_names.OF_PROXIES][: len(targets)]
    steps = slots.Steps()
    starts = _starts(every, variable)
    every_entry = ((lay, e) for lay, place in starts for e in entries_of(lay, place, steps))
    entries = [*islice(every_entry, MAX_ENTRIES + 1)]
    stored = _StoredWords(reader, address, block)
    values = _Values(stored.read, entries, steps)
    variables = values.read()
    is_truncated = values.is_truncated or any(layout.is_truncated for layout in every)
    is_proven = stored.are_proven_of(layouts)
    return ContractStorage(block, layouts, variables, is_truncated, is_proven)


def _starts(layouts: Sequence[Layout], variable: str | None) -> list[tuple[Layout, slots.Place]]:
    """Return the places of all variables, or the one at a path."""
    if variable is None:
        return [(layout, slots.place_of(v)) for layout in layouts for v in layout.variables]
    for layout in layouts[:-1]:
        try:
            return [(layout, place_at(layout, variable))]
        except NotFound:
            continue
    return [(layouts[-1], place_at(layouts[-1], variable))]


class _StoredWords:
    """Words of a contract's storage, each proven by the block's hash until one is not."""

    def __init__(self, reader: Reader, address: bytes, block: served_chain.BlockId) -> None:
        self._reader, self._address, self._block = reader, address, block
        self._code_hash: bytes | None = None  # that the proof has; None without one

    def read(self, slots: Sequence[int]) -> Mapping[int, bytes]:
        proofs = self._reader.sources.get(state_proofs.AccountProofs)
        try:
            node = self._reader.node.within(PROOF_TIMEOUT_S)
            account = proofs.read(node, self._address, self._block, slots)
        except (HistoryUnavailable, Unavailable, UpstreamFailed):
            self._code_hash = b""
            return _read(self._reader, self._address, self._block, slots)
        self._code_hash = account.code_hash if self._code_hash is None else self._code_hash
        return {slot.slot: slot.value.to_bytes(WORD) for slot in account.slots}

    def are_proven_of(self, layouts: Sequence[KnownLayout]) -> bool:
        """Return whether all words are proven, and that the code has the layout, if it is one."""
        of_code = self._reader.sources.get(ContractAbis).find([self._address], DecodingBudget())
        contract = of_code.get(self._address, NO_CONTRACT)
        is_proxy = bool(contract.delegation.kind)
        return not is_proxy and [layout.code_hash for layout in layouts] == [self._code_hash]


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

    def __init__(self, read_slots: ReadSlots, entries: _Entries, steps: slots.Steps) -> None:
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
        return None if slots.short_content(word) is not None else slots.length_of(word)

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
            raw = slots.bytes_at(word, place.offset, entry.size)
            value = slots.value_of(
                entry.label, raw, is_vyper=layout.is_vyper, declared=layout.declared
            )
        elif word is not None and entry.kind in ("text", "bytes"):
            length = int.from_bytes(word) if entry.kind == "bytes" else slots.length_of(word)
            content = self._content(layout, entry, word)
            value = None if content is None else slots.text_of(entry.label, content)
            self.is_truncated = self.is_truncated or content is None
        elif word is not None and entry.kind == "list":
            length = int.from_bytes(word)
        if entry.kind in ("list", "whole"):
            shown_elements = MOST_SHOWN if entry.is_open else 0
            self.is_truncated = self.is_truncated or (length or 0) > shown_elements
        count = None if length is None else str(length)
        size = entry.size if entry.has_word else None
        return StoredVariable(place.path, entry.label, place.slot, place.offset, size, value, count)

    def _content(self, layout: Layout, entry: Entry, word: bytes) -> bytes | None:
        """Return the content of a string, None where not all of it was read."""
        if entry.kind == "text" and (short := slots.short_content(word)) is not None:
            return short
        length = self._content_length(entry) or 0
        if length > MAX_TEXT:
            return None
        words = (self._words.get(slot, b"") for slot in content_slots(layout, entry, length))
        content = b"".join(words)
        return content[:length] if len(content) >= length else None
