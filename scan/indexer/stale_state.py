"""Balances and readings of tokens that are marked as stale, read from the node while the index is
idle, and whether the events of these tokens add up to what they answer; and how codes pass calls
on that were too many for their block."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import NamedTuple

from scan.contracts.proxy_contracts import delegations_of
from scan.database.connection import Database
from scan.database.transaction import Row
from scan.ethereum import events
from scan.ethereum.served_chain import BlockId
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
from scan.indexer import state_reader
from scan.indexer.writer import IndexedHead, Writer

BATCH_ADDRESSES, BATCH_TOKENS, BATCH_CODES = 500, 90, 50
# Parameters of statements that store what was read.
REFRESHED = (
    *"addresses supplies block_numbers read_blocks names symbols decimals inconsistent".split(),
)
READ_BEFORE = "addresses", "block_numbers", "decimals"
Results = Mapping[state_reader.StateQuery, bytes | None]


class StaleToken(NamedTuple):
    """A row of indexer/tokens_list_stale: a token, the block to read it after, that of its labels,
    and what its events say."""

    address: bytes
    number: int
    hash: bytes
    label_number: int
    label_hash: bytes
    has_unread_labels: bool
    held: Decimal
    held_otherwise: bool
    has_negative: bool
    wraps: bool
    older_since: int | None
    drawn: Sequence[tuple[str, str | None, str]]

    def query(self, data: str, *, is_of_block_only: bool = False) -> state_reader.StateQuery:
        block = BlockId(self.number, bytes(self.hash))
        return state_reader.StateQuery(bytes(self.address), data, block, is_of_block_only)

    @property
    def labels(self) -> list[state_reader.StateQuery]:
        """The queries of name, symbol and decimals, where they are to be read."""
        block = BlockId(self.label_number, bytes(self.label_hash))
        return [
            state_reader.StateQuery(bytes(self.address), data, block)
            for data in (NAME, SYMBOL, DECIMALS)
            if self.has_unread_labels
        ]

    @property
    def drawn_balances(self) -> list[tuple[int, state_reader.StateQuery]]:
        """Balances by events, with their queries."""
        return [
            (
                int(balance),
                self.query(
                    balance_of(bytes.fromhex(holder), None if item is None else int(item)),
                    is_of_block_only=True,
                ),
            )
            for holder, item, balance in self.drawn
        ]

    @property
    def of_zero(self) -> state_reader.StateQuery:
        return self.query(balance_of(events.ZERO_ADDRESS), is_of_block_only=True)

    def queries(self) -> list[state_reader.StateQuery]:
        queries = [self.query(TOTAL_SUPPLY), *self.labels]
        queries += [query for _, query in self.drawn_balances]
        return [*queries, self.of_zero] if self.drawn and self.held_otherwise else queries

    def adds_up(self, results: Results) -> bool:
        """Return whether its events add up to what it answers, as far as it does. The zero address
        may keep what was burnt, and a token that wraps coin counts as supply what it was sent, too,
        which nobody holds."""
        read = [(summed, word(results[query])) for summed, query in self.drawn_balances]
        answered = [(summed, balance) for summed, balance in read if balance is not None]
        if self.has_negative or any(summed != balance for summed, balance in answered):
            return False
        supply, held = word(results[self.query(TOTAL_SUPPLY)]), int(self.held)
        if supply is None or not answered:  # of a pruned block the supply would be a later one
            return True
        burnt = word(results.get(self.of_zero)) or 0
        return supply in (held, held + burnt) or (self.wraps and supply > held)

    def row(self, results: Results) -> tuple[object, ...]:
        """Return a row of REFRESHED."""
        supply, *answers = map(results.get, (self.query(TOTAL_SUPPLY), *self.labels))
        name, symbol, decimals = answers or (None, None, None)
        read_block = self.label_number if answers else None
        labels = text(name, MAX_NAME), text(symbol, MAX_SYMBOL), decimal_places(decimals)
        since = self.older_since
        if since is None and not self.adds_up(results):
            since = self.number
        return bytes(self.address), word(supply), self.number, read_block, *labels, since


class StaleStateRefresher:
    """Reads values that the database marks as stale, a limited number at a time."""

    def __init__(
        self, reader: state_reader.StateReader, database: Database, writer: Writer
    ) -> None:
        self._state = reader
        self._database = database
        self._writer = writer

    def refresh(self, head: IndexedHead) -> bool:
        """Read and store one batch of values; return whether there was one."""
        # One batch a step, so that the follower looks for new blocks in between.
        followed = self._follow_codes(head)
        return self._refresh_tokens(head) or self._refresh_balances(head) or followed

    def _follow_codes(self, head: IndexedHead) -> bool:
        """Store how codes pass calls on that were too many for their block; return whether there
        were any."""
        rows = self._database.rows("indexer/codes_list_unfollowed", limit=BATCH_CODES)
        delegations = delegations_of(bytes(code) for _, code in rows)
        pairs = zip((bytes(code_hash) for code_hash, _ in rows), delegations, strict=True)
        followed = [pair for pair in pairs if pair[1] is not None]
        if followed:
            columns = _columns(("code_hashes", "delegations"), followed)
            self._writer.execute(head, [("indexer/codes_set_delegations", columns)])
        return bool(followed)

    def _refresh_tokens(self, head: IndexedHead) -> bool:
        """Store the supplies of stale tokens, names and decimals of those that are due, and whether
        their events add up; and decimals before contracts changed. All are as of blocks that do not
        depend on when they are read. Return whether there were any."""
        rows = self._list_readable("indexer/tokens_list_stale")
        # As many drawn balances as one request has calls for beside supplies, one at least.
        drawn = max(1, state_reader.CHUNK_CALLS // len(rows) - 1) if rows else 0
        tokens = [StaleToken(*row) for row in rows]
        tokens = [token._replace(drawn=(token.drawn or ())[:drawn]) for token in tokens]
        queries = [query for token in tokens for query in token.queries()]
        changes = []
        for address, changed_in, before, block_hash in self._list_readable(
            "indexer/contract_changes_list_unread"
        ):
            block = BlockId(before, bytes(block_hash))
            changes.append((state_reader.StateQuery(bytes(address), DECIMALS, block), changed_in))
        results = self._state.read([*queries, *(query for query, _ in changes)])
        # A mark stays: one false answer must not set it. Where the index alone says so, none does.
        compared = [t for t in tokens if t.older_since is None and not t.has_negative]
        doubtful = [token for token in compared if not token.adds_up(results)]
        results |= self._state.read(query for token in doubtful for query in token.queries())
        unreadable = self._state.unreadable  # those that have become so now, too
        tokens = [token for token in tokens if bytes(token.address) not in unreadable]
        changes = [change for change in changes if change[0].address not in unreadable]
        statements = []
        if tokens:
            refreshed = _columns(REFRESHED, [token.row(results) for token in tokens])
            statements.append(("indexer/tokens_refresh", refreshed))
        if changes:
            decimals = [
                (
                    query.address,
                    changed_in,
                    None if word(results[query]) is None else decimal_places(results[query]),
                )
                for query, changed_in in changes
            ]
            read_before = _columns(READ_BEFORE, decimals)
            statements.append(("indexer/contract_changes_store_read", read_before))
        if statements:
            self._writer.execute(head, statements)
        return bool(statements)

    def _list_readable(self, statement: str) -> list[Row]:
        """Return at most BATCH_TOKENS rows, without those of contracts that are unreadable now."""
        unreadable = self._state.unreadable
        rows = self._database.rows(statement, limit=BATCH_TOKENS + len(unreadable))
        return [row for row in rows if bytes(row[0]) not in unreadable][:BATCH_TOKENS]

    def _refresh_balances(self, head: IndexedHead) -> bool:
        rows = self._database.rows("indexer/addresses_list_stale", limit=BATCH_ADDRESSES)
        addresses = [bytes(address) for (address,) in rows]
        balances = self._state.balances(addresses, BlockId(head.number, head.hash))
        if addresses:
            row = {"addresses": addresses, "balances": balances, "block_number": head.number}
            self._writer.execute(head, [("indexer/addresses_refresh", row)])
        return bool(addresses)


def _columns(names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> dict[str, object]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
