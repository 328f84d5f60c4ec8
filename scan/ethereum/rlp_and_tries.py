"""Recursive length prefix encoding (Yellow Paper, appendix B) in hex digits, and Merkle Patricia
tries (appendix D): the root of a list, and the root and the proofs of a map. Pure.

A node's JSON is in hex already: joining its digits and decoding them once takes a third of the time
of encoding bytes field by field. Functions of many texts take a column of a block's records.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from itertools import groupby, takewhile
from typing import Any, NamedTuple, TypeAlias

from tiny_keccak import keccak256

__all__ = ["keccak256"]

STRINGS, LISTS = 0x80, 0xC0
EMPTY_STRING, EMPTY_LIST = bytes([STRINGS]), bytes([LISTS])
LONG = 55  # bytes; a longer item's length has bytes of its own
MAX_DEPTH = 8  # of lists within lists; an access list of a transaction in a block has five
MAX_KEPT = 16_384
_WORD_CHARACTERS = 66
# The positions of an item: where it begins, and where its content begins and ends.
Item: TypeAlias = "tuple[int, int, int]"


class _Prefixes(dict[int, str]):
    """The prefixes of items, by the bytes of their content."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def __missing__(self, length: int) -> str:
        if length < 56:
            return self._kept(length, f"{self._offset + length:02x}")
        size = f"{length:x}"
        size = size if len(size) % 2 == 0 else "0" + size
        return self._kept(length, f"{self._offset + 55 + len(size) // 2:02x}{size}")

    def _kept(self, length: int, prefix: str) -> str:
        if len(self) < MAX_KEPT:
            self[length] = prefix
        return prefix


class _Quantities(dict[str, str]):
    """Items by their QUANTITY, most of which a block repeats. Zero's is the empty string's item."""

    def __missing__(self, text: str) -> str:
        if len(text) > _WORD_CHARACTERS:
            raise ValueError("beyond 256 bits")
        digits = text[2:].lstrip("0")
        item = string_item("0x0" + digits if len(digits) % 2 else "0x" + digits)
        if len(self) >= MAX_KEPT:
            self.clear()
        self[text] = item
        return item


list_prefix = _Prefixes(LISTS).__getitem__
string_prefix = _Prefixes(STRINGS).__getitem__
quantity_item = _Quantities().__getitem__
quantity_items = partial(map, quantity_item)  # of texts


def word_items(texts: Sequence[str]) -> Iterable[str]:
    """Return the items of QUANTITYs such as r and s of signatures, most of which have 256 bits and
    occur once: those are not kept."""
    return [
        "a0" + text[2:]
        if len(text) == _WORD_CHARACTERS and text[2:4] > "00"
        else quantity_item(text)
        for text in texts
    ]


def string_item(text: str) -> str:
    """Return the item of DATA of any length; raises ValueError where half a byte is missing."""
    characters = len(text)
    if characters % 2:
        raise ValueError("half a byte")
    if characters == 4 and text < "0x80":
        return text[2:]
    return string_prefix(characters // 2 - 1) + text[2:]


string_items = partial(map, string_item)  # of texts


def bytes_item(value: bytes) -> bytes:
    """Return the item of bytes, such as those of a number without leading zeros."""
    return value if len(value) == 1 and value < b"\x80" else string_prefix_bytes(len(value)) + value


def list_item(items: str) -> str:
    """Return the list of items that are already encoded and joined."""
    return list_prefix(len(items) // 2) + items


def split_list(encoded: bytes, most: int) -> list[bytes]:
    """Return the encoded items of a list; [] where `encoded` is no list, or one of more than
    `most` items."""
    start, end = content_range(encoded, 0)
    with suppress(ValueError):
        is_list = encoded[:1] >= EMPTY_LIST and end == len(encoded)
        if is_list and count_items(encoded, start, end) <= most:
            return [encoded[item:stop] for item, _, stop in items_of(encoded, start, end)]
    return []


def item_content(item: bytes) -> bytes:
    """Return the content of an encoded string; a list is returned as it is."""
    return item if item[:1] >= EMPTY_LIST else item[content_range(item, 0)[0] :]


def strings_within(encoded: bytes) -> set[bytes]:
    """Return the encoded strings of a list and of all lists in it. Raises ValueError where their
    lengths contradict each other."""
    strings: set[bytes] = set()
    lists = [encoded]
    while lists:
        outer = lists.pop()
        start, end = content_range(outer, 0)
        if not outer or end != len(outer):
            raise ValueError("not RLP")
        for at, _, stop in items_of(outer, start, end):
            item = outer[at:stop]
            if item[0] >= LISTS:
                lists.append(item)
            else:
                strings.add(item)
    return strings


def list_content(data: bytes, start: int = 0) -> tuple[int, int]:
    """Return where the content of a list begins and ends, which is all of `data` from `start`."""
    [(_, content, end)] = items_of(data, start, len(data))
    if data[start] < LISTS:
        raise ValueError("not a list")
    return content, end


def items_of(data: bytes, start: int, end: int) -> list[Item]:
    """Return the positions of consecutive items."""
    items = []
    while start < end:
        prefix = data[start]
        content = start + 1
        if prefix < STRINGS:
            items.append((start, start, content))
            start = content
            continue
        size = prefix - (STRINGS if prefix < LISTS else LISTS)
        if size > LONG:
            content += size - LONG
            size = int.from_bytes(data[start + 1 : content])
        stop = content + size
        if stop > end:
            break
        items.append((start, content, stop))
        start = stop
    if start != end:
        raise ValueError("an item is longer than its list")
    return items


def count_items(data: bytes, start: int, end: int) -> int:
    """Return how many items items_of() returns; it takes a third of the time."""
    count = 0
    while start < end:
        size = data[start]
        if size >= STRINGS:
            size -= STRINGS if size < LISTS else LISTS
            if size > LONG:
                content = start + 1 + size - LONG
                size = content - start + int.from_bytes(data[start + 1 : content]) - 1
            start += size
        start += 1
        count += 1
    if start != end:
        raise ValueError("an item is longer than its list")
    return count


def read_list(data: bytes, start: int, end: int, depth: int = MAX_DEPTH) -> list[Any]:
    """Return the items of a list whose content is given: bytes, and lists."""
    if depth < 0:
        raise ValueError("lists are too deep")
    return [
        read_list(data, content, stop, depth - 1) if data[item] >= LISTS else data[content:stop]
        for item, content, stop in items_of(data, start, end)
    ]


def whole_list(data: bytes, start: int = 0) -> list[Any]:
    """Return the items of a list that is all of `data` from `start`."""
    return read_list(data, *list_content(data, start))


def join_list(items: Sequence[bytes]) -> bytes:
    """Return the list of items that are already encoded."""
    content = b"".join(items)
    return list_prefix_bytes(len(content)) + content


@lru_cache(4_096)
def list_prefix_bytes(length: int) -> bytes:
    return bytes.fromhex(list_prefix(length))


@lru_cache(4_096)
def string_prefix_bytes(length: int) -> bytes:
    return bytes.fromhex(string_prefix(length))


def content_range(encoded: bytes, at: int) -> tuple[int, int]:
    """Return the positions where the content of the item at `at` begins and ends."""
    prefix = encoded[at] if at < len(encoded) else STRINGS
    if prefix < STRINGS:
        return at, at + 1
    size = prefix - (LISTS if prefix >= LISTS else STRINGS)
    start = at + 1
    if size > LONG:
        start += size - LONG
        size = int.from_bytes(encoded[at + 1 : start])
    return start, start + size


EMPTY_ROOT = keccak256(b"\x80")
MAX_KEPT_VALUES = 2_000  # the form of a trie of at most as many values is kept for the next one
_NO_CHILD = b"\x80"
_Key = tuple[str, int]  # the nibbles of rlp(index), and the index


class _Extension(NamedTuple):
    path: bytes
    child: "_Node"
    nibbles: str


# A leaf is its value's index, a branch the list of its sixteen children. No key is a prefix of
# another, so no branch has a value.
_Node: TypeAlias = "int | _Extension | list[_Node | None]"


class _Trie(NamedTuple):
    """The form of a trie; a list's follows from the number of its values."""

    root: _Node
    paths: list[bytes]  # of leaves, by index


def list_root(values: Sequence[bytes]) -> bytes:
    """Return the root of the trie that maps rlp(index) to each value, such as transactionsRoot."""
    if not values:
        return EMPTY_ROOT
    count = len(values)
    trie = _kept_trie(count) if count <= MAX_KEPT_VALUES else _trie(count)
    leaves = [
        join_list((path, bytes_item(value))) for path, value in zip(trie.paths, values, strict=True)
    ]
    return keccak256(_encoded(trie.root, leaves))


class MapTrie:
    """The trie that maps the hash of each key to its value, such as accounts by their addresses."""

    def __init__(self, values: Mapping[bytes, bytes]) -> None:
        keys = sorted((keccak256(key).hex(), n) for n, key in enumerate(values))
        paths = [b""] * len(keys)
        self._root = _node(keys, 0, paths) if keys else None
        pairs = zip(paths, values.values(), strict=True)
        self._leaves = [join_list((path, bytes_item(value))) for path, value in pairs]

    @property
    def root(self) -> bytes:
        return EMPTY_ROOT if self._root is None else keccak256(_encoded(self._root, self._leaves))

    def proof(self, key: bytes) -> list[bytes]:
        """Return the nodes from the root to a key, or to where it would be. Nodes that are shorter
        than a hash are in their parents."""
        nodes: list[bytes] = []
        node, path = self._root, keccak256(key).hex()
        while node is not None:
            encoded = _encoded(node, self._leaves)
            if not nodes or len(encoded) >= 32:
                nodes.append(encoded)
            if isinstance(node, int):
                node = None
            elif isinstance(node, _Extension):
                is_on_path = path.startswith(node.nibbles)
                path = path[len(node.nibbles) :]
                node = node.child if is_on_path else None
            else:
                node, path = node[int(path[0], 16)], path[1:]
        return nodes


def _encoded(node: _Node, leaves: list[bytes]) -> bytes:
    if isinstance(node, int):
        return leaves[node]
    if isinstance(node, _Extension):
        return join_list((node.path, _reference(_encoded(node.child, leaves))))
    children = [
        _NO_CHILD
        if child is None
        else _reference(leaves[child] if isinstance(child, int) else _encoded(child, leaves))
        for child in node
    ]
    return join_list([*children, _NO_CHILD])


def _reference(node: bytes) -> bytes:
    # A node shorter than a hash is embedded in its parent.
    return node if len(node) < 32 else b"\xa0" + keccak256(node)


def _trie(count: int) -> _Trie:
    keys = sorted((quantity_item(hex(index)), index) for index in range(count))
    paths = [b""] * count
    return _Trie(_node(keys, 0, paths), paths)


_kept_trie = lru_cache(64)(_trie)


def _node(keys: list[_Key], depth: int, paths: list[bytes]) -> _Node:
    """Return the node of sorted keys that share their first `depth` nibbles, and set the paths of
    its leaves in `paths`."""
    first, index = keys[0]
    if len(keys) == 1:
        paths[index] = _hex_prefix(first[depth:], is_leaf=True)
        return index
    pairs = zip(first, keys[-1][0], strict=False)
    shared = len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))
    if shared > depth:
        nibbles = first[depth:shared]
        path = _hex_prefix(nibbles, is_leaf=False)
        return _Extension(path, _node(keys, shared, paths), nibbles)
    children: list[_Node | None] = [None] * 16
    for nibble, group in groupby(keys, lambda key: key[0][depth]):
        children[int(nibble, 16)] = _node(list(group), depth + 1, paths)
    return children


def _hex_prefix(nibbles: str, *, is_leaf: bool) -> bytes:
    # An odd number of nibbles shares the first byte with the flag.
    flag = 2 * is_leaf + len(nibbles) % 2
    return bytes_item(bytes.fromhex(f"{flag}{nibbles if len(nibbles) % 2 else '0' + nibbles}"))
