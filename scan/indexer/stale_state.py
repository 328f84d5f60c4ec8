"""Balances and readings of tokens that are marked as stale, read from the node while the index is
idle; and whether the events of these tokens add up to what they answer."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.token_metadata import (
    DECIMALS,
    MAX_NAME,
    MAX_SYMBOL,
    NAME,
    SYMBOL,
    TOTAL_SUPPLY,
    balance_of,
    decimal_places,
    text,
    word,
)
from scan.indexer.contract_state import BlockId, StateQuery, StateReader, is_reading_due
from scan.indexer.writer import IndexedHead, Writer

BATCH_ADDRESSES = 500
# Parameters of statements that store what was read.
REFRESHED = (
    *"addresses supplies block_numbers are_whole names symbols decimals inconsistent".split(),
)
READ_BEFORE = "addresses", "block_numbers", "decimals"
OF_ZERO = balance_of(bytes(20))


class EventSums(NamedTuple):
    """What the events of a token say: what all holders have, whether one has less than nothing, and
    balances that were drawn, beside what the token answers, or None."""

    held: int
    has_negative: bool
    drawn: Sequence[tuple[int, int | None]]

    def add_up(self, supply: int | None, of_zero: int, *, wraps: bool) -> bool:
        """Return whether they add up to the supply of the same block, as far as the token answers.

        The zero address may keep what was burnt, and a token that wraps coin counts coin that it
        was sent as supply, too, which nobody holds."""
        answered = [(summed, read) for summed, read in self.drawn if read is not None]
        if self.has_negative or any(summed != read for summed, read in answered):
            return False
        if supply is None or not answered:  # pruned, perhaps: then the supply is a later one
            return True
        return supply in (self.held, self.held + of_zero) or (wraps and supply > self.held)


class StaleToken(NamedTuple):
    """A row of indexer/tokens_list_stale."""

    address: bytes
    number: int
    hash: bytes
    first: int
    last: int | None
    is_earlier_day: bool | None
    held: int
    held_otherwise: bool
    has_negative: bool
    wraps: bool
    older_since: int | None
    drawn: Sequence[tuple[str, str | None, str]] | None

    @property
    def is_due(self) -> bool:
        """Whether it is to be read whole."""
        last = self.last
        return (
            last is None
            or bool(self.is_earlier_day)
            or is_reading_due(self.number, self.first, last)
        )

    def query(self, data: str, *, is_of_block_only: bool = False) -> StateQuery:
        block = BlockId(self.number, bytes(self.hash))
        return StateQuery(bytes(self.address), data, block, is_of_block_only)

    def readings(self) -> list[StateQuery]:
        return [self.query(data) for data in (NAME, SYMBOL, DECIMALS)[: 3 * self.is_due]]

    def balances(self) -> list[StateQuery]:
        """Return the queries of the drawn balances."""
        return [
            self.query(
                balance_of(bytes.fromhex(holder), None if item is None else int(item)),
                is_of_block_only=True,
            )
            for holder, item, _ in self.drawn or ()
        ]

    def queries(self) -> list[StateQuery]:
        of_zero = [self.query(OF_ZERO, is_of_block_only=True)]
        is_compared = self.held_otherwise and self.drawn is not None
        return [
            self.query(TOTAL_SUPPLY),
            *self.readings(),
            *self.balances(),
            *(of_zero if is_compared else ()),
        ]

    def row(self, results: Mapping[StateQuery, bytes | None]) -> tuple[object, ...]:
        """Return a row of REFRESHED."""
        name, symbol, decimals = (
            results.get(self.query(data)) for data in (NAME, SYMBOL, DECIMALS)
        )
        supply = word(results[self.query(TOTAL_SUPPLY)])
        of_zero = word(results.get(self.query(OF_ZERO, is_of_block_only=True))) or 0
        summed = [int(balance) for *_, balance in self.drawn or ()]
        read = [word(results[query]) for query in self.balances()]
        sums = EventSums(int(self.held), self.has_negative, [*zip(summed, read, strict=True)])
        since = None if sums.add_up(supply, of_zero, wraps=self.wraps) else self.number
        labels = text(name, MAX_NAME), text(symbol, MAX_SYMBOL), decimal_places(decimals) or 0
        since = since if self.older_since is None else self.older_since
        return bytes(self.address), supply, self.number, self.is_due, *labels, since


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
        """Store supplies as of blocks that do not depend on when they are read,
        where they are due names and decimals, and whether events add up; and decimals before
        changes. Return whether there were any."""
        limit = BATCH_ADDRESSES
        rows = self._database.rows("indexer/tokens_list_stale", limit=limit)
        tokens = [StaleToken(*row) for row in rows]
        changes = [
            (StateQuery(bytes(address), DECIMALS, BlockId(before, bytes(block_hash))), changed_in)
            for address, changed_in, before, block_hash in self._database.rows(
                "indexer/contract_changes_list_unread", limit=limit
            )
        ]
        results = self._state.read(
            [*(query for token in tokens for query in token.queries()), *(q for q, _ in changes)]
        )
        statements = []
        if tokens:
            refreshed = _columns(REFRESHED, [token.row(results) for token in tokens])
            statements.append(("indexer/tokens_refresh", refreshed))
        if changes:
            decimals = [(q.address, n, decimal_places(results[q])) for q, n in changes]
            read_before = _columns(READ_BEFORE, decimals)
            statements.append(("indexer/contract_changes_store_read", read_before))
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


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> dict[str, object]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
