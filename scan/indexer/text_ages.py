"""Since when tokens have their names and symbols: the first block after which they answer one that
looks the same, halved from the creation on, as long as the node has the state of these blocks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import MAX_NAME, MAX_SYMBOL, NAME, SYMBOL, text
from scan.indexer.state_reader import MOST_CALL_GAS, StateQuery, StateReader

AGES = "addresses", "are_found", "names_since", "symbols_since"
MOST_DATED = 10  # tokens at once, each of whose texts takes a call or two a halving


class UndatedToken(NamedTuple):
    """A row of indexer/tokens_list_undated: a token with its texts after `read_block`, the block of
    its creation, where that is known, and the first one of the search."""

    address: bytes
    name: str
    symbol: str
    created: int | None
    first_block: int
    read_block: int


@dataclass(slots=True)
class _Search:
    """A search for the block in which a token came to have a text: after one `without` it, up to
    one `having` it; first in `next_block`, and at last in none that is known."""

    address: bytes
    call: str
    text: str
    most: int  # characters
    without: int
    having: int
    next_block: int
    is_possible: bool = True


def find_text_ages(
    state: StateReader, database: Database, tokens: Sequence[UndatedToken]
) -> list[tuple[object, ...]]:
    """Return a row of AGES for each token: whether the states of all blocks between are there, and
    then the first block of its name, and that of its symbol, None of those of its creation. Raises
    NodeError."""
    searches = [
        # In its first block, as nearly all have it from there on.
        _Search(t.address, call, wanted, most, t.first_block - 1, t.read_block, t.first_block)
        for t in tokens
        for call, wanted, most in ((NAME, t.name, MAX_NAME), (SYMBOL, t.symbol, MAX_SYMBOL))
    ]
    while left := [s for s in searches if s.is_possible and s.having > s.without + 1]:
        blocks = [search.next_block for search in left]
        hashes: dict[int, bytes] = dict(database.rows("indexer/blocks_list_hashes", numbers=blocks))
        calls = [
            StateQuery(s.address, s.call, BlockId(n, bytes(hashes[n])), True, MOST_CALL_GAS)
            for s, n in zip(left, blocks, strict=True)
        ]
        results = state.read(calls)
        codes = {call: call._replace(data=None) for call in calls if results[call] is None}
        has_state = state.read(codes.values())  # or is it refused by a contract?
        alike = database.rows(
            "indexer/texts_compare",
            texts=[text(results[c], s.most) for c, s in zip(calls, left, strict=True)],
            others=[search.text for search in left],
        )
        for search, call, (is_alike,) in zip(left, calls, alike, strict=True):
            search.is_possible = call not in codes or has_state[codes[call]] is not None
            if is_alike:
                search.having = search.next_block
            else:
                search.without = search.next_block
            search.next_block = (search.without + search.having) // 2
    rows: list[tuple[object, ...]] = []
    for token, *of in zip(tokens, searches[::2], searches[1::2], strict=True):
        since = (None if s.having == token.created else s.having for s in of)
        rows.append((token.address, all(s.is_possible for s in of), *since))
    return rows
