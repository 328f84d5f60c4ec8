"""From a variable to its slots, by paths such as `allowances[0x…][0x…]`, and what is at a place."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from scan.errors import InvalidParameter, NotFound
from scan.extensions.transaction_details.storage import places
from scan.extensions.transaction_details.storage.layout import SLOTS, WORD, Layout, StorageType
from scan.extensions.transaction_details.storage.mapping_keys import key_of, slot_of
from scan.parameters import LONGEST_NAME

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

    place: places.Place
    label: str
    kind: Literal["value", "text", "bytes", "list", "whole"]
    size: int = WORD
    length: int | None = None
    is_open: bool = False

    @property
    def has_word(self) -> bool:
        return self.kind != "whole"


def place_at(layout: Layout, path: str) -> places.Place:
    """Return the place of a path; that of a length, or of a word of a string, is the array or the
    string. Raises InvalidParameter, and NotFound where the layout has no such variable."""
    variables = [v for v in layout.variables if path.startswith(v.name)]
    for variable in sorted(variables, key=lambda v: -len(v.name)):
        rest = path[len(variable.name) :]
        if rest[:1] in ("", ".", "["):
            return _followed(layout, places.place_of(variable), rest)
    raise NotFound(f"The contract has no variable {path[:LONGEST_NAME]!r}.")


def _followed(layout: Layout, place: places.Place, rest: str) -> places.Place:
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
            place = places.member_of(place, member)
        else:
            place = _element(layout, place, type_, step["key"].strip())
    return place


def _no_part(place: places.Place, text: str) -> InvalidParameter:
    message = f"{place.path[:LONGEST_NAME]} has no part {text[:LONGEST_NAME]!r}."
    return InvalidParameter(message, field="variable")


def _element(layout: Layout, place: places.Place, type_: StorageType, text: str) -> places.Place:
    """Return the value of a mapping, or the element of an array."""
    key_type = layout.types.get(type_.key)
    if type_.kind == "mapping" and key_type is not None:
        slot = slot_of(layout, place.slot, key_type, key_of(key_type, text))
        return places.Place(f"{place.path}[{text}]", type_.base, slot)
    elements = elements_of(layout, place)
    if elements is None or not _INDEX.match(text):
        raise _no_part(place, f"[{text}]")
    start, count = elements
    if int(text) >= count:
        message = f"{place.path[:LONGEST_NAME]} has at most {count} elements."
        raise InvalidParameter(message, field="variable")
    return places.element_of(layout, place, start, int(text))


def elements_of(layout: Layout, place: places.Place) -> tuple[int, int] | None:
    """Return the first slot of an array's elements, and the most that it may have."""
    type_ = layout.types[place.type]
    if type_.base not in layout.types:
        return None
    if type_.kind == "array":
        return place.slot, type_.length
    if type_.kind == "dynamic":
        most = type_.length if layout.is_vyper else places.MOST_ELEMENTS
        return places.data_of(layout, place).start, most
    return None


def entries_of(
    layout: Layout, place: places.Place, steps: places.Steps, depth: int = 0
) -> Iterator[Entry]:
    """Yield what is at a place: itself, then the members of a struct, or the first elements of a
    fixed array."""
    type_ = layout.types.get(place.type)
    if not steps.take() or type_ is None or depth == places.MAX_DEPTH or place.slot >= SLOTS:
        return
    entry = _entry(layout, place, type_)
    yield entry
    if type_.kind == "struct":
        for member in type_.members:
            yield from entries_of(layout, places.member_of(place, member), steps, depth + 1)
    elif type_.kind == "array":
        yield from element_entries(layout, entry, type_.length, steps, depth)


def element_entries(
    layout: Layout, array: Entry, count: int, steps: places.Steps, depth: int = 0
) -> Iterator[Entry]:
    """Yield the entries of the first MOST_SHOWN of an array's elements."""
    elements = elements_of(layout, array.place)
    if elements is None:
        return
    for index in range(min(count, elements[1], MOST_SHOWN)):
        element = places.element_of(layout, array.place, elements[0], index)
        yield from entries_of(layout, element, steps, depth + 1)


def _entry(layout: Layout, place: places.Place, type_: StorageType) -> Entry:
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
    root: places.Root = places.data_of(layout, entry.place)
    return [(root.start + index) % SLOTS for index in range(-(-length // WORD))]
