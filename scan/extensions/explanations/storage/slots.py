"""The values of variables, from the bytes in their slots, and where in the storage the parts of a
variable are: by arithmetic, so that no walk goes over all elements of an array, and each takes a
bounded number of steps.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scan.contracts.abi import parse_type
from scan.contracts.abi_json import coerce, render
from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.explanations.storage.layout import SLOTS, WORD, Layout, Variable
from scan.hex import to_hex

MAX_DEPTH = 16  # of structs and arrays in one another
MAX_STEPS = 50_000  # of all walks of a request: they take 0.1 s
MAX_PATH = 500  # characters of a name
MOST_ELEMENTS = 2**64
MOST_DATA = 2**32  # slots of a string


class Place(NamedTuple):
    """A variable, or a part of one, by its path, such as `proposals[3].votes`; `offset` is that of
    its lowest byte in the slot."""

    path: str
    type: str
    slot: int
    offset: int = 0


def bytes_at(word: bytes, offset: int, size: int) -> bytes:
    """Return the bytes of a word, of which `offset` counts from the lowest."""
    end = WORD - offset
    return word[max(end - size, 0) : end]


class Part(NamedTuple):
    """What is in a slot: a "value", the "length" of an array or of Vyper's string, Solidity's
    "text" (a string or bytes, if it is short, else its length), or "data" of a string."""

    name: str
    label: str
    slot: int
    offset: int
    size: int
    kind: Literal["value", "length", "text", "data"]

    def raw(self, word: bytes) -> bytes:
        """Return its bytes in the word of its slot."""
        return bytes_at(word, self.offset, self.size)


class Root(NamedTuple):
    """A region of the storage. `is_data`: the elements of an array, or the content of a string,
    which stand elsewhere than the place. `rank` is that of the key in its mapping."""

    start: int
    slots: int
    place: Place
    is_data: bool = False
    rank: int = 0


@dataclass
class Steps:
    """The steps that the walks of a request may still take."""

    left: int = MAX_STEPS

    @property
    def are_spent(self) -> bool:
        return self.left <= 0

    def take(self) -> bool:
        self.left -= 1
        return self.left >= 0


class Regions:
    """Regions by their first slots."""

    def __init__(self, layout: Layout, roots: Iterable[Root], steps: Steps) -> None:
        self._layout, self._steps = layout, steps
        self._roots = sorted(roots, key=lambda root: root.start)
        self._starts = [root.start for root in self._roots]

    def parts_at(self, slot: int) -> list[Part]:
        """Return what is in a slot: nothing, or the parts of the regions that begin last before it;
        variables may share a slot."""
        index, steps = bisect_right(self._starts, slot), self._steps
        start = self._starts[index - 1] if index else -1
        parts: list[Part] = []
        while index and self._starts[index - 1] == start and steps.take():
            index -= 1
            root = self._roots[index]
            if slot < root.start + root.slots:
                parts += parts_of(self._layout, root, slot, steps)
        return sorted(parts, key=lambda part: part.offset)


def place_of(variable: Variable) -> Place:
    return Place(variable.name, variable.type, variable.slot, variable.offset)


def content_start(slot: int) -> int:
    """Return where Solidity puts what stands apart from its slot: elements, or a long string."""
    return int.from_bytes(keccak256(slot.to_bytes(WORD)))


def root_of(layout: Layout, place: Place, rank: int = 0) -> Root:
    type_ = layout.types.get(place.type)
    return Root(place.slot, type_.slots if type_ else 1, place, rank=rank)


def roots_of(layout: Layout) -> list[Root]:
    """Return the regions of the variables."""
    return [root_of(layout, place_of(v)) for v in layout.variables]


def data_of(layout: Layout, place: Place, rank: int = 0) -> Root:
    """Return the region of an array's elements, or of a string's content."""
    type_ = layout.types[place.type]
    if layout.is_vyper:
        return Root(place.slot + 1, type_.slots - 1, place, True, rank)
    slots = MOST_ELEMENTS if type_.kind == "dynamic" else MOST_DATA
    return Root(content_start(place.slot), slots, place, True, rank)


def member_of(place: Place, member: Variable) -> Place:
    path = f"{place.path}.{member.name}"[:MAX_PATH]
    return Place(path, member.type, (place.slot + member.slot) % SLOTS, member.offset)


def element_of(layout: Layout, array: Place, start: int, index: int) -> Place:
    """Return an element of an array whose elements begin at a slot."""
    base = layout.types[array.type].base
    type_ = layout.types[base]
    path = f"{array.path}[{index}]"[:MAX_PATH]
    per_slot = layout.per_slot(type_)
    if per_slot > 1:
        slot = (start + index // per_slot) % SLOTS
        return Place(path, base, slot, index % per_slot * type_.size)
    return Place(path, base, (start + index * type_.slots) % SLOTS)


def parts_of(layout: Layout, root: Root, slot: int, steps: Steps) -> Iterator[Part]:
    """Yield what a region has in a slot."""
    type_ = layout.types.get(root.place.type)
    if type_ is None:
        return
    if not root.is_data:
        yield from _parts(layout, root.place, slot, steps, 0)
    elif type_.kind == "bytes":
        yield _data_part(root.place, slot, root.start)
    else:
        yield from _in_elements(layout, root.place, (root.start, MOST_ELEMENTS), slot, steps, 0)


def _data_part(place: Place, slot: int, start: int) -> Part:
    first = (slot - start) * WORD
    return Part(f"{place.path}[{first}:{first + WORD}]", "bytes32", slot, 0, WORD, "data")


def _parts(layout: Layout, place: Place, slot: int, steps: Steps, depth: int) -> Iterator[Part]:
    type_ = layout.types.get(place.type)
    if type_ is None or depth == MAX_DEPTH or not place.slot <= slot < place.slot + type_.slots:
        return
    # A mapping has nothing in its slot.
    if type_.kind == "struct":
        for member in type_.members:
            if not steps.take():
                return
            yield from _parts(layout, member_of(place, member), slot, steps, depth + 1)
    elif type_.kind == "array":
        yield from _in_elements(layout, place, (place.slot, type_.length), slot, steps, depth)
    elif type_.kind == "value":
        yield Part(place.path, type_.label, slot, place.offset, min(type_.size, WORD), "value")
    elif type_.kind == "unknown":
        word = f" (word {slot - place.slot})" if type_.size != WORD else ""
        yield Part(f"{place.path}{word}", type_.label, slot, 0, WORD, "value")
    elif type_.kind in ("bytes", "dynamic"):
        yield from _sized_parts(layout, place, slot, steps, depth)


def _sized_parts(
    layout: Layout, place: Place, slot: int, steps: Steps, depth: int
) -> Iterator[Part]:
    """Yield what bytes or an array of any length have in a slot: the first has the length, and of
    Solidity's bytes the text where it is short; in Vyper the others have what it is the length of.
    """
    type_ = layout.types[place.type]
    if slot == place.slot and type_.kind == "bytes" and not layout.is_vyper:
        yield Part(place.path, type_.label, slot, 0, WORD, "text")
    elif slot == place.slot:
        yield Part(f"{place.path}.length", "uint256", slot, 0, WORD, "length")
    elif type_.kind == "bytes":
        yield _data_part(place, slot, place.slot + 1)
    else:
        elements = (place.slot + 1, type_.length)
        yield from _in_elements(layout, place, elements, slot, steps, depth)


def _in_elements(
    layout: Layout, array: Place, elements: tuple[int, int], slot: int, steps: Steps, depth: int
) -> Iterator[Part]:
    """Yield what those elements of an array have in a slot that stand there. `elements` are their
    first slot and their number."""
    start, count = elements
    base = layout.types.get(layout.types[array.type].base)
    if base is None:
        return
    per_slot = layout.per_slot(base)
    first = (slot - start) // base.slots * per_slot
    for index in range(first, min(first + per_slot, count)):
        if not steps.take():
            return
        element = element_of(layout, array, start, index)
        yield from _parts(layout, element, slot, steps, depth + 1)


def hashed_places(
    layout: Layout, root: Root, indices: Sequence[int], steps: Steps
) -> Iterator[Place]:
    """Yield the places in a region whose contents stand elsewhere, by a hash: mappings, Solidity's
    dynamic arrays and strings. Of arrays those in the elements at `indices`."""
    type_ = layout.types.get(root.place.type)
    if type_ is None:
        return
    if not root.is_data:
        yield from _hashed(layout, root.place, indices, steps, 0)
    elif type_.kind == "dynamic":
        count = type_.length if layout.is_vyper else MOST_ELEMENTS
        yield from _hashed_in(layout, root.place, (root.start, count), indices, steps, 0)


def _hashed(
    layout: Layout, place: Place, indices: Sequence[int], steps: Steps, depth: int
) -> Iterator[Place]:
    type_ = layout.types.get(place.type)
    if not steps.take() or type_ is None or depth == MAX_DEPTH:
        return
    if type_.kind == "mapping" or (type_.kind in ("dynamic", "bytes") and not layout.is_vyper):
        yield place
    elif type_.kind == "struct":
        for member in type_.members:
            yield from _hashed(layout, member_of(place, member), indices, steps, depth + 1)
    elif type_.kind == "array":
        elements = (place.slot, type_.length)
        yield from _hashed_in(layout, place, elements, indices, steps, depth)


def _hashed_in(
    layout: Layout,
    array: Place,
    elements: tuple[int, int],
    indices: Sequence[int],
    steps: Steps,
    depth: int,
) -> Iterator[Place]:
    start, count = elements
    base = layout.types.get(layout.types[array.type].base)
    if base is None or base.kind in ("value", "unknown"):
        return
    for index in indices:
        if index < count:
            element = element_of(layout, array, start, index)
            yield from _hashed(layout, element, indices, steps, depth + 1)


_DECIMAL = parse_type({"type": "fixed168x10"})  # Vyper's decimal
# Others, such as int7, may be names of types that a source declares.
_BITS = "|".join(map(str, range(8, 257, 8)))
_NUMBER = re.compile(rf"u?int(?:{_BITS})\Z")
_FIXED_BYTES = re.compile(r"bytes(?:[1-9]|[12][0-9]|3[012])\Z")


def value_of(
    label: str,
    raw: bytes,
    *,
    is_vyper: bool = False,
    declared: Mapping[str, Sequence[str] | str] = {},
) -> Any:
    """Return the value of a type by its label, or by what a `declared` one is: numbers as decimal
    strings, bool, members of enums by their names, and others as hex. A bool that is neither 0 nor
    1 is a number, as is what no member of an enum has. `raw` are the variable's own bytes, in Vyper
    a whole slot."""
    number, meaning = int.from_bytes(raw), declared.get(label, ())
    if isinstance(meaning, str):
        label = meaning
    elif number < len(meaning):
        return meaning[number]
    if label == "bool" and number < 2:
        return bool(number)
    if label == "decimal":
        return render(_DECIMAL, int.from_bytes(raw, signed=True))
    if is_address(label):
        return to_hex(raw[-20:])
    if is_number(label):
        return str(int.from_bytes(raw, signed=is_signed(label)))
    if is_vyper and is_fixed_bytes(label):
        raw = raw[: int(label.removeprefix("bytes"))]
    return to_hex(raw)


def decimal_of(text: str) -> int:
    """Return Vyper's decimal as its number is stored. Raises ValueError."""
    return int(coerce(_DECIMAL, text, "the key"))


def is_address(label: str) -> bool:
    return label in ("address", "address payable") or label.startswith("contract ")


def is_text(label: str) -> bool:
    """Return whether a type is a string or bytes of any length, in Solidity or Vyper."""
    return label in ("string", "bytes") or label.startswith(("String[", "Bytes["))


def is_number(label: str) -> bool:
    """Return whether a type's values are numbers, as members of enums are, and Vyper's flags."""
    is_named = label == "bool" or label.startswith(("enum ", "flag "))
    return is_named or _NUMBER.match(label) is not None


def is_signed(label: str) -> bool:
    return label.startswith("int") and is_number(label)


def is_elementary(label: str) -> bool:
    """Return whether a label says how a value is encoded; in Solidity, those of types that a source
    declares over elementary ones ("type Mark is bytes4") do not."""
    return is_address(label) or is_number(label) or is_fixed_bytes(label) or label == "decimal"


def is_fixed_bytes(label: str) -> bool:
    return _FIXED_BYTES.match(label) is not None


def text_of(label: str, content: bytes) -> str:
    """Return a string; as hex where it is none, or not UTF-8."""
    if not label.lower().startswith("string"):
        return to_hex(content)
    try:
        return content.decode()
    except UnicodeDecodeError:
        return to_hex(content)


def length_of(word: bytes) -> int:
    """Return the length of Solidity's bytes or string by its slot: a short one has its content
    there, too."""
    number = int.from_bytes(word)
    return (number - 1) // 2 if number & 1 else (number & 0xFF) // 2


def short_content(word: bytes) -> bytes | None:
    """Return the content of a short string, None of a long one."""
    return None if word[31] & 1 else word[: min(word[31] // 2, 31)]
