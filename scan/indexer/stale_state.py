"""Balances and readings of tokens that are marked as stale, read from the node while the index is
idle."""

from collections.abc import Mapping, Sequence

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.token_metadata import (
    DECIMALS,
    MAX_NAME,
    MAX_SYMBOL,
    NAME,
    SYMBOL,
    TOTAL_SUPPLY,
    decimal_places,
    text,
    word,
)
from scan.indexer.contract_state import BlockId, StateQuery, StateReader, is_reading_due
from scan.indexer.writer import IndexedHead, Writer

BATCH_ADDRESSES = 500
# Parameters of statements that store what was read.
REFRESHED = (*"addresses supplies block_numbers are_whole names symbols decimals".split(),)
READ_BEFORE = "addresses", "block_numbers", "decimals"


class StaleStateRefresher:
    """Reads values that the database marks as stale, a limited number at a time."""

    def __init__(self, node: Node, database: Database, writer: Writer) -> None:
        self._state = StateReader(node)
        self._database = database
        self._writer = writer

    def refresh(self, head: IndexedHead) -> bool:
        """Read and store one batch of values; return whether there was one."""
        # One batch a step, so that the follower looks for new blocks in between.
        return self._refresh_tokens(head) or self._refresh_balances(head)

    def _refresh_tokens(self, head: IndexedHead) -> bool:
        """Store supplies as of each token's last transfer or change, so that they do not depend on
        when they are read, and where they are due names and decimals; and decimals before changes.
        Return whether there were any."""
        tokens: dict[tuple[bytes, BlockId], bool] = {}  # whether all of each is due
        limit = BATCH_ADDRESSES
        for address, number, block_hash, first, last, is_earlier_day in self._database.rows(
            "indexer/tokens_list_stale", limit=limit
        ):
            is_due = last is None or is_earlier_day or is_reading_due(number, first, last)
            tokens[bytes(address), BlockId(number, bytes(block_hash))] = is_due
        changes = [
            (StateQuery(bytes(address), DECIMALS, BlockId(before, bytes(block_hash))), changed_in)
            for address, changed_in, before, block_hash in self._database.rows(
                "indexer/contract_changes_list_unread", limit=limit
            )
        ]
        results = self._state.read(
            [
                *(
                    StateQuery(address, data, block)
                    for (address, block), is_due in tokens.items()
                    for data in (
                        (NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY) if is_due else (TOTAL_SUPPLY,)
                    )
                ),
                *(query for query, _ in changes),
            ]
        )
        statements = []
        if tokens:
            rows = [_row(results, *token, is_due) for token, is_due in tokens.items()]
            statements.append(("indexer/tokens_refresh", _columns(REFRESHED, rows)))
        if changes:
            rows = [(q.address, n, _decimals_before(results[q])) for q, n in changes]
            statements.append(("indexer/contract_changes_store_read", _columns(READ_BEFORE, rows)))
        if statements:
            self._writer.execute(head, statements)
        return bool(statements)

    def _refresh_balances(self, head: IndexedHead) -> bool:
        rows = self._database.rows("indexer/addresses_list_stale", limit=BATCH_ADDRESSES)
        addresses = [bytes(row[0]) for row in rows]
        balances = self._state.balances(addresses, BlockId(head.number, head.hash))
        if addresses:
            row = {"addresses": addresses, "balances": balances, "block_number": head.number}
            self._writer.execute(head, [("indexer/addresses_refresh", row)])
        return bool(addresses)


def _row(
    results: Mapping[StateQuery, bytes | None], token: bytes, block: BlockId, is_whole: bool
) -> tuple[object, ...]:
    """Return a row of REFRESHED."""
    name, symbol, decimals, supply = (
        results.get(StateQuery(token, data, block))
        for data in (NAME, SYMBOL, DECIMALS, TOTAL_SUPPLY)
    )
    labels = text(name, MAX_NAME), text(symbol, MAX_SYMBOL), decimal_places(decimals)
    return token, word(supply), block.number, is_whole, *labels


def _decimals_before(result: bytes | None) -> int | None:
    return None if word(result) is None else decimal_places(result)


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> dict[str, object]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
