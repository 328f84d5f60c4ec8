"""Header fields that this version of Scan does not know, as a hard fork adds them. Pure.

A fork appends fields to the header. A node's JSON has them by name, in any order; that the block's
hash is the one of a header with some of them proves which, and their order.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any

import msgspec

from scan.ethereum.block_encoding import encode_header_of_chains
from scan.ethereum.blocks import FormBlockJson
from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import join_list, quantity_item, split_list, string_item
from scan.hex import data

MOST_ADDED = 3  # fields, by all forks that this version does not know
MOST_NAMES = 8  # of a header; their arrangements are 400
MOST_HEADER_ITEMS = 64
_WORD_CHARACTERS, _MOST_CHARACTERS = 66, 1_024
_KNOWN = frozenset(FormBlockJson.__struct_fields__) | {"totalDifficulty"}
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


def unknown_fields(header: Any) -> dict[str, str]:
    """Return the fields of a block's JSON that no struct has, and that a header could have."""
    fields = header.source
    if isinstance(fields, msgspec.Raw):
        raw = _OBJECT.decode(fields)
        fields = {
            name: msgspec.json.decode(value)
            for name, value in raw.items()
            if name not in _KNOWN and bytes(memoryview(value)[:3]) == b'"0x'
        }
    names = [name for name, value in fields.items() if name not in _KNOWN and _is_hex(value)]
    return {name: fields[name] for name in names[:MOST_NAMES]}


def _is_hex(value: Any) -> bool:
    return isinstance(value, str) and value[:2] == "0x" and len(value) <= _MOST_CHARACTERS


def find_order(header: Any, fields: Mapping[str, str]) -> tuple[str, ...]:
    """Return the unknown fields that the block's hash covers, in its order; () where no order of at
    most MOST_ADDED of them gives the hash."""
    for count in range(1, MOST_ADDED + 1):
        for order in permutations(fields, count):
            if has_hash_with(header, [fields[name] for name in order]):
                return order
    return ()


def has_hash_with(header: Any, values: Sequence[str]) -> bool:
    """Return whether a block's hash is its header's with these values appended."""
    return _encoded_with(header, values) is not None


def encoded_with_unknown_fields(header: Any) -> bytes | None:
    """Return the encoded header with the unknown fields that its block's hash covers; None where
    the hash covers no order of them."""
    fields = unknown_fields(header)
    order = find_order(header, fields)
    return _encoded_with(header, [fields[name] for name in order]) if order else None


def _encoded_with(header: Any, values: Sequence[str]) -> bytes | None:
    with suppress(ValueError, TypeError, AttributeError):
        added = [bytes.fromhex(_item(value)) for value in values]
        hash_ = data(header.hash, 32)
        encodings = (join_list([*items, *added]) for items in _items(header))
        return next((encoded for encoded in encodings if keccak256(encoded) == hash_), None)
    return None


def agrees_with_bytes(header: Any, encoded: bytes) -> bool:
    """Return whether all known fields are items of the encoded header, in their order."""
    actual = split_list(encoded, MOST_HEADER_ITEMS)
    with suppress(ValueError, TypeError, AttributeError):
        return any(are_within(items, actual) for items in _items(header))
    return False


def are_within(items: Sequence[bytes], others: Sequence[bytes]) -> bool:
    """Return whether others has all of the items in their order, and maybe more."""
    rest = iter(others)
    return all(item in rest for item in items)


def _items(header: Any) -> Iterator[list[bytes]]:
    for encoded in encode_header_of_chains(header):
        yield split_list(encoded, MOST_HEADER_ITEMS)


def _item(value: str) -> str:
    """Return a field's item. DATA may begin with zeros; in a QUANTITY they would be left out."""
    is_data = len(value) >= _WORD_CHARACTERS or (value[:3] == "0x0" and len(value) > 3)
    return string_item(value) if is_data else quantity_item(value)
