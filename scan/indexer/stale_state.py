"""Balances and readings of tokens that are marked as stale, read from the node while the index is
idle; and whether the events of these tokens add up to what they answer."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import groupby, islice
from typing import NamedTuple

from scan.database.connection import Database
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

BATCH_ADDRESSES, BATCH_TOKENS = 500, 90
STEP_S = 0.25  # of reading tokens, after which the follower looks for new blocks
FIRST_TOGETHER, FEWER = 12, 4  # contracts that are read in a group the first time; 12, 48, 90
# What a group may take without being slow: twice what requests take, and for each call and in all.
CALL_S, SPARE_S = 0.000_5, 0.05
SLOW_RESTS = 4  # times as long as slow contracts were read, none of them is
MAX_REMEMBERED = 200_000
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


class _Due(NamedTuple):
    """What is to be read of a contract: itself as a token, and decimals before its changes, each
    with its query and the changes' blocks."""

    token: StaleToken | None
    changes: Sequence[tuple[state_reader.StateQuery, int]]

    def queries(self) -> list[state_reader.StateQuery]:
        queries = [] if self.token is None else self.token.queries()
        return [*queries, *(query for query, _ in self.changes)]


class ReadingTimes:
    """How many contracts are read together, by how long that took: a contract may take all the gas
    that each call is given. Of contracts that were read in time, more are read together the next
    time, of others fewer, until one that takes long is read alone."""

    def __init__(self) -> None:
        self._together: dict[bytes, int] = {}
        self._request_s = 0.0  # that a request takes which executes nothing

    def together(self, address: bytes) -> int:
        return self._together.get(address, FIRST_TOGETHER)

    def slow(self, *, alone: bool) -> list[bytes]:
        """Return the contracts that took long, in a few or alone."""
        slow = self._together.items()
        return [a for a, n in slow if n < FIRST_TOGETHER and (n == 1) is alone]

    def groups(self, addresses: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
        """Yield what is read together, what takes least time first."""
        ordered = sorted(addresses, key=self.together, reverse=True)
        for together, of_size in groupby(ordered, key=self.together):
            while group := [*islice(of_size, together)]:
                yield group

    def record(self, group: Sequence[bytes], calls: int, took_s: float) -> None:
        requests = -(-calls // state_reader.CHUNK_CALLS)
        is_slow = took_s > 2 * self._request_s * requests + CALL_S * calls + SPARE_S
        if not is_slow:
            self._request_s = min(took_s / requests, 1.01 * self._request_s or took_s)
        if len(self._together) > MAX_REMEMBERED:
            self._together = {a: n for a, n in self._together.items() if n < FIRST_TOGETHER}
        for address in group:
            more = min(BATCH_TOKENS, FEWER * self.together(address))
            self._together[address] = max(1, len(group) // FEWER) if is_slow else more


class StaleStateRefresher:
    """Reads values that the database marks as stale, a limited number at a time."""

    def __init__(
        self, reader: state_reader.StateReader, database: Database, writer: Writer
    ) -> None:
        self._state = reader
        self._database = database
        self._writer = writer
        self._times = ReadingTimes()
        self._slow_rest_until = 0.0

    def refresh(self, head: IndexedHead) -> bool:
        """Read and store one batch of values; return whether there was one."""
        # One batch a step, so that the follower looks for new blocks in between.
        return self._refresh_tokens(head) or self._refresh_balances(head)

    def _refresh_tokens(self, head: IndexedHead) -> bool:
        """Store the supplies of stale tokens, names and decimals of those that are due, and whether
        their events add up; and decimals before contracts changed. All are as of blocks that do not
        depend on when they are read. Return whether there were any.

        Contracts that take long are read after all others, and rest after that."""
        few, alone = self._times.slow(alone=False), self._times.slow(alone=True)
        due = self._list_due(passed_over=[*few, *alone])
        is_slow = not due and time.monotonic() >= self._slow_rest_until
        if is_slow and few:
            due = self._list_due(few)
        if is_slow and alone and not due:
            due = self._list_due(alone)
        results, read = dict[state_reader.StateQuery, bytes | None](), list[bytes]()
        began = time.monotonic()
        for group in self._times.groups(due):
            if read and time.monotonic() >= began + STEP_S:
                break
            results |= self._read_group([due[address] for address in group])
            read += group
        if is_slow:
            now = time.monotonic()
            self._slow_rest_until = now + SLOW_RESTS * (now - began)
        unreadable = self._state.unreadable  # those that have become so now, too
        of_read = [due[address] for address in read if address not in unreadable]
        tokens = [each.token for each in of_read if each.token is not None]
        changes = [change for each in of_read for change in each.changes]
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

    def _list_due(
        self, addresses: Sequence[bytes] | None = None, passed_over: Sequence[bytes] = ()
    ) -> dict[bytes, _Due]:
        """Return what is to be read of some contracts, at most of BATCH_TOKENS tokens, and as many
        changes, without those that are unreadable now."""
        chosen = {
            "addresses": addresses,
            "passed_over": [*passed_over, *self._state.unreadable],
            "limit": BATCH_TOKENS,
        }
        rows = self._database.rows("indexer/tokens_list_stale", **chosen)
        # As many drawn balances as one request has calls for beside supplies, one at least.
        drawn = max(1, state_reader.CHUNK_CALLS // len(rows) - 1) if rows else 0
        tokens = {bytes(row[0]): StaleToken(*row) for row in rows}
        changes = defaultdict[bytes, list[tuple[state_reader.StateQuery, int]]](list)
        for address, changed_in, before, block_hash in self._database.rows(
            "indexer/contract_changes_list_unread", **chosen
        ):
            query = state_reader.StateQuery(
                bytes(address), DECIMALS, BlockId(before, bytes(block_hash))
            )
            changes[query.address].append((query, changed_in))
        return {
            address: _Due(
                token and token._replace(drawn=(token.drawn or ())[:drawn]), changes[address]
            )
            for address in {**tokens, **changes}
            for token in (tokens.get(address),)
        }

    def _read_group(self, due: Sequence[_Due]) -> dict[state_reader.StateQuery, bytes | None]:
        """Return the results for contracts, and note how long they took."""
        queries = [query for each in due for query in each.queries()]
        began = time.monotonic()
        results = self._state.read(queries)
        # A mark stays: one false answer must not set it. Where the index alone says so, none does.
        tokens = [each.token for each in due if each.token is not None]
        compared = [t for t in tokens if t.older_since is None and not t.has_negative]
        doubtful = [token for token in compared if not token.adds_up(results)]
        again = [query for token in doubtful for query in token.queries()]
        results |= self._state.read(again)
        addresses = list(dict.fromkeys(query.address for query in queries))
        self._times.record(addresses, len(queries) + len(again), time.monotonic() - began)
        return results

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
