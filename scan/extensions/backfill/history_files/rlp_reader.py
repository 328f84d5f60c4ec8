"""Recursive length prefix encoding (Yellow Paper, appendix B), read from bytes of a file.

Lengths are hostile until the items end where their list does. Raises ValueError.
"""

from typing import Any

from scan.ethereum.rlp import LISTS, LONG, STRINGS

MAX_DEPTH = 8  # of lists within lists; an access list of a transaction in a block has five


def list_content(data: bytes, start: int = 0) -> tuple[int, int]:
    """Return where the content of a list begins and ends, which is all of `data` from `start`."""
    [(_, content, end)] = items_of(data, start, len(data))
    if data[start] < LISTS:
        raise ValueError("not a list")
    return content, end


def items_of(data: bytes, start: int, end: int) -> list[tuple[int, int, int]]:
    """Return the positions of consecutive items: where each begins, and where its content begins
    and ends."""
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
