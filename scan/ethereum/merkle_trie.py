"""Merkle Patricia tries (Yellow Paper, appendix D): the root of a list, and the root and the proofs
of a map, such as a state. Pure."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby, takewhile
from typing import NamedTuple, TypeAlias

from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import list_prefix_bytes, quantity_item, string_prefix_bytes

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
    leaves = [_list(path + _string(value)) for path, value in zip(trie.paths, values, strict=True)]
    return keccak256(_encoded(trie.root, leaves))


class MapTrie:
    """The trie that maps the hash of each key to its value, such as accounts by their addresses."""

    def __init__(self, values: Mapping[bytes, bytes]) -> None:
        keys = sorted((keccak256(key).hex(), n) for n, key in enumerate(values))
        paths = [b""] * len(keys)
        self._root = _node(keys, 0, paths) if keys else None
        pairs = zip(paths, values.values(), strict=True)
        self._leaves = [_list(path + _string(value)) for path, value in pairs]

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
        return _list(node.path + _reference(_encoded(node.child, leaves)))
    children = [
        _NO_CHILD if child is None else _reference(_encoded(child, leaves)) for child in node
    ]
    return _list(b"".join(children) + _NO_CHILD)


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
    return _string(bytes.fromhex(f"{flag}{nibbles if len(nibbles) % 2 else '0' + nibbles}"))


def _string(value: bytes) -> bytes:
    return value if len(value) == 1 and value < b"\x80" else string_prefix_bytes(len(value)) + value


def _list(items: bytes) -> bytes:
    return list_prefix_bytes(len(items)) + items
