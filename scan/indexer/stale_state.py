"""Balances and readings of tokens that are marked as stale, read from the node while the index is
idle; whether balances that tokens answer are the sums of their events; and how codes pass calls
on that were too many for their block.

Only a drawn balance or owner, or a sum below zero, marks a token: what totalSupply() counts is its
own matter, such as a collection's size or all votes. A mark ends when what it was made of agrees
again, and the balances of up to MOST_COMPARED others do.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby, islice
from secrets import token_bytes
from typing import NamedTuple

import orjson

from scan.database.connection import Database
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
    owner_of,
    text,
    word,
)
from scan.indexer import state_reader, text_ages
from scan.indexer.writer import IndexedHead, Writer

BATCH_ADDRESSES, BATCH_TOKENS = 500, 90
LEAST_DRAWN = 2
# Marks that may end at once, and the holders of each token that are read before. Others stay until
# the token is read again.
MOST_ENDED, MOST_COMPARED = 3, 300
STEP_S = 0.25  # of reading tokens, after which the follower looks for new blocks
FIRST_TOGETHER, FEWER = 12, 4  # contracts that are read in a group the first time; 12, 48, 90
# What a group may take without being slow: twice what requests take, and for each call and in all.
CALL_S, SPARE_S = 0.000_5, 0.05
SLOW_RESTS = 4  # times as long as slow contracts were read, none of them is
# Between batches of tokens that are read though nothing used them: 260,000 a day.
IDLE_EVERY_S = 30.0
MAX_REMEMBERED = 200_000
# Slow contracts that are known as such, each of which two statements a step pass over. Of more,
# those read longest ago are read among others again, as new ones are.
MAX_SLOW = 1000
# Parameters of statements that store what was read.
REFRESHED = (
    *"addresses supplies block_numbers read_blocks names symbols decimals".split(),
    *"inconsistent contradicted asked drawn".split(),
)
READ_BEFORE = "addresses", "block_numbers", "decimals"
Results = Mapping[state_reader.StateQuery, bytes | None]


class Party(NamedTuple):
    """Who held how much of a token, or of one of its items, by its events; without a `holder` who
    owned an item."""

    holder: str | None  # hex digits
    item: str | None
    value: str  # a balance, or hex digits of the owner

    @property
    def by_events(self) -> int:
        return int(self.value, 16 if self.holder is None else 10)


class StaleToken(NamedTuple):
    """A row of indexer/tokens_list_stale: a token, the block to read it after, that of its labels,
    whether it is marked and its holders are counted, one of whom a sum is below zero, and the
    parties that are drawn; of a marked one the first is whose balance contradicted."""

    address: bytes
    number: int
    hash: bytes
    label_number: int
    label_hash: bytes
    has_unread_labels: bool
    older_since: int | None
    is_marked: bool
    is_counted: bool
    negative: str | None
    drawn: Sequence[Party]

    def query(self, data: str, *, is_of_block_only: bool = False) -> state_reader.StateQuery:
        block = BlockId(self.number, bytes(self.hash))
        return state_reader.StateQuery(self.address, data, block, is_of_block_only)

    @property
    def labels(self) -> list[state_reader.StateQuery]:
        """The queries of name, symbol and decimals, where they are to be read."""
        block = BlockId(self.label_number, bytes(self.label_hash))
        return [
            state_reader.StateQuery(self.address, data, block)
            for data in (NAME, SYMBOL, DECIMALS)
            if self.has_unread_labels
        ]

    def balance_query(self, party: Party) -> state_reader.StateQuery:
        item = None if party.item is None else int(party.item)
        if party.holder is None:
            return self.query(owner_of(item or 0), is_of_block_only=True)
        return self.query(balance_of(bytes.fromhex(party.holder), item), is_of_block_only=True)

    def queries(self) -> list[state_reader.StateQuery]:
        return [self.query(TOTAL_SUPPLY), *self.labels, *map(self.balance_query, self.drawn)]

    def contradicted(self, results: Results) -> tuple[str | None, str | None] | None:
        """Return the holder, and the item if any, whose balance its events contradict, None and an
        item whose owner they do; None as far as it answers."""
        if self.negative is not None:
            return self.negative, None
        for party in self.drawn:
            balance = word(results[self.balance_query(party)])
            if balance is not None and balance != party.by_events:
                return party.holder, party.item
        return None

    def may_end(self, results: Results) -> bool:
        """Return whether the balance or the owner that its mark was made of agrees again, or the
        item is burnt, whose owner contracts refuse to tell."""
        if not self.is_marked or not self.drawn or self.contradicted(results) is not None:
            return False
        marked = self.drawn[0]
        is_burnt = marked.holder is None and marked.by_events == 0
        return is_burnt or word(results[self.balance_query(marked)]) is not None

    def turn(self) -> bytes:
        """Return its place among tokens whose holders are drawn, which nobody can choose."""
        return sha256(bytes(self.hash) + self.address).digest()

    def is_drawn_further(self, results: Results) -> bool:
        """Return whether more holders are drawn: its mark may end, or it is marked, and they are
        counted when its labels are read."""
        is_due = self.has_unread_labels or not self.is_counted
        return self.may_end(results) or (is_due and self.contradicted(results) is not None)

    def holders(self, results: Results) -> tuple[int, int]:
        """Return how many holders by events are among the parties, and how many of these have any:
        none where an address that nobody names has."""
        nobody = self.turn()[:20].hex()
        named = {party.holder for party in self.drawn if party.holder and party.by_events > 0}
        having = {
            party.holder
            for party in self.drawn
            if party.holder and word(results[self.balance_query(party)])
        }
        return len(named), 0 if nobody in having else len(named & having)

    def row(self, results: Results, *, is_compared: bool) -> tuple[object, ...]:
        """Return a row of REFRESHED; only where it `is_compared` with others does a mark end, and
        are its holders counted."""
        supply, *answers = map(results.get, (self.query(TOTAL_SUPPLY), *self.labels))
        name, symbol, decimals = answers or (None, None, None)
        read_block = self.label_number if answers else None
        labels = text(name, MAX_NAME), text(symbol, MAX_SYMBOL), decimal_places(decimals)
        contradicted = self.contradicted(results)
        if contradicted is None and self.is_marked and self.drawn and not is_compared:
            contradicted = self.drawn[0][:2]
        since = self.older_since if contradicted is None else self.number
        mark = since, contradicted and orjson.dumps(contradicted).decode()
        counts = self.holders(results) if is_compared and contradicted else (None, None)
        return self.address, word(supply), self.number, read_block, *labels, *mark, *counts


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
        self._quick: dict[bytes, int] = {}
        self._slow: dict[bytes, int] = {}  # that took long, by when they were read last
        self._request_s = 0.0  # that a request takes which executes nothing

    def together(self, address: bytes) -> int:
        return self._slow.get(address) or self._quick.get(address, FIRST_TOGETHER)

    def slow(self, *, alone: bool) -> list[bytes]:
        """Return the contracts that took long, in a few or alone."""
        return [address for address, n in self._slow.items() if (n == 1) is alone]

    def groups(self, addresses: Iterable[bytes]) -> Iterator[Sequence[bytes]]:
        """Yield what is read together, what takes least time first."""
        ordered = sorted(addresses, key=self.together, reverse=True)
        for together, of_size in groupby(ordered, key=self.together):
            while group := [*islice(of_size, together)]:
                yield group

    def record(self, group: Sequence[bytes], calls: int, took_s: float) -> None:
        requests = -(-calls // state_reader.CHUNK_CALLS)
        self._request_s = self._request_s or took_s / requests  # or a far node would have slow ones
        is_slow = took_s > 2 * self._request_s * requests + CALL_S * calls + SPARE_S
        if not is_slow:
            self._request_s = min(took_s / requests, 1.01 * self._request_s)
        if len(self._quick) > MAX_REMEMBERED:
            self._quick.clear()
        for address in group:
            more = min(BATCH_TOKENS, FEWER * self.together(address))
            together = max(1, len(group) // FEWER) if is_slow else more
            self._quick.pop(address, None)
            self._slow.pop(address, None)
            (self._slow if together < FIRST_TOGETHER else self._quick)[address] = together
        for address in [*self._slow][:-MAX_SLOW]:
            del self._slow[address]


class StaleStateRefresher:
    """Reads values that the database marks as stale, a limited number at a time."""

    def __init__(
        self, reader: state_reader.StateReader, database: Database, writer: Writer
    ) -> None:
        self._state = reader
        self._database = database
        self._writer = writer
        self._times = ReadingTimes()
        self._slow_rest_until = self._idle_rest_until = 0.0
        self._idle_after = token_bytes(20)  # the address whose turn was last, at first any
        self._idle_done = b""  # the first block of the day of which all have been read
        self._uncounted: dict[bytes, None] = {}  # marked tokens whose holders are still to be drawn

    def refresh(self, head: IndexedHead, *, are_reported: bool) -> bool:
        """Read and store one batch of values; return whether there was one. Balances of tokens that
        `are_reported` are the node's, whatever their events say."""
        # One batch a step, so that the follower looks for new blocks in between.
        return (
            self._mark_idle(head)
            or self._refresh_tokens(head, are_reported)
            or self._date_texts(head)
            or self._refresh_balances(head)
        )

    def _mark_idle(self, head: IndexedHead) -> bool:
        """Have the next tokens read that were not since the newest day began, of addresses in turn,
        as their balances may be another contract's matter; return whether there may be more. Those
        that were used the day before are due already."""
        now = time.monotonic()
        if now < self._idle_rest_until:
            return False
        after, self._idle_after = self._idle_after, b""
        [(day, idle)] = self._database.rows(
            "indexer/tokens_list_idle", done=self._idle_done, after=after, limit=BATCH_TOKENS
        )
        addresses = [*map(bytes, idle or ())]
        if len(addresses) == BATCH_TOKENS:
            self._idle_after = addresses[-1]
            self._idle_rest_until = now + IDLE_EVERY_S
        elif not after and day is not None:
            self._idle_done = bytes(day)
        if addresses:
            marked = {"addresses": addresses, "compared": False}
            self._writer.execute(head, [("indexer/tokens_mark_changed", marked)])
        return bool(addresses) or bool(after)

    def _refresh_tokens(self, head: IndexedHead, are_reported: bool) -> bool:
        """Store the supplies of stale tokens, names and decimals of those that are due, and whether
        their events add up; and decimals before contracts changed. All are as of blocks that do not
        depend on when they are read. Return whether there were any.

        Marked tokens are read again after all others, MOST_ENDED at a time, where there were more
        whose holders were to be drawn; and contracts that take long after these, and rest then."""
        few, alone = self._times.slow(alone=False), self._times.slow(alone=True)
        due = self._list_due(passed_over=[*few, *alone, *self._uncounted])
        if not due and (drawn_next := [*islice(self._uncounted, MOST_ENDED)]):
            due = self._list_due(drawn_next)
            for address in drawn_next:
                del self._uncounted[address]
        is_slow = not due and time.monotonic() >= self._slow_rest_until
        if is_slow and few:
            due = self._list_due(few)
        if is_slow and alone and not due:
            due = self._list_due(alone)
        results, read = dict[state_reader.StateQuery, bytes | None](), list[bytes]()
        compared = dict[bytes, StaleToken]()
        began = time.monotonic()
        for group in self._times.groups(due):
            if read and time.monotonic() >= began + STEP_S:
                break
            results |= self._read_group([due[address] for address in group], compared)
            read += group
        if is_slow:
            now = time.monotonic()
            self._slow_rest_until = now + SLOW_RESTS * (now - began)
        unreadable = self._state.unreadable  # those that have become so now, too
        of_read = [due[address] for address in read if address not in unreadable]
        tokens = [compared.get(t.address, t) for part in of_read if (t := part.token) is not None]
        changes = [change for part in of_read for change in part.changes]
        statements: list[tuple[str, Mapping[str, object]]] = []
        if tokens:
            rows = [t.row(results, is_compared=t.address in compared) for t in tokens]
            refreshed = _columns(REFRESHED, rows) | {"are_reported": are_reported}
            statements.append(("indexer/tokens_refresh", refreshed))
            contradicted = [row[0] for row in rows if row[-1] is not None]
            named = {"tokens": contradicted, "most": MOST_COMPARED}
            statements += [("indexer/unnamed_holders_insert", named)] * bool(contradicted)
            uncounted = [t.address for t in tokens if t.address in self._uncounted]
            again = {"addresses": uncounted, "compared": False}
            statements += [("indexer/tokens_mark_changed", again)] * bool(uncounted)
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

    def _with_others(self, token: StaleToken) -> StaleToken:
        """Return a token with up to MOST_COMPARED holders that are drawn, too, and an address that
        nobody names."""
        rows = self._database.rows(
            "indexer/tokens_list_parties", address=token.address, most=MOST_COMPARED
        )
        others = [Party(*row) for row in rows]
        nobody = [Party(token.turn()[:20].hex(), party.item, "0") for party in others[:1]]
        return token._replace(drawn=[*token.drawn, *others, *nobody])

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
        # As many drawn balances as one request has calls for beside supplies.
        drawn = max(LEAST_DRAWN, state_reader.CHUNK_CALLS // len(rows) - 1) if rows else 0
        tokens = {
            bytes(token.address): token._replace(
                address=bytes(token.address),
                drawn=[Party(*party) for party in (token.drawn or ())[:drawn]],
            )
            for token in (StaleToken(*row) for row in rows)
        }
        changes = defaultdict[bytes, list[tuple[state_reader.StateQuery, int]]](list)
        for address, changed_in, before, block_hash in self._database.rows(
            "indexer/contract_changes_list_unread", **chosen
        ):
            block = BlockId(before, bytes(block_hash))
            query = state_reader.StateQuery(bytes(address), DECIMALS, block)
            changes[query.address].append((query, changed_in))
        return {
            address: _Due(tokens.get(address), changes[address])
            for address in {**tokens, **changes}
        }

    def _read_group(
        self, due: Sequence[_Due], compared: dict[bytes, StaleToken]
    ) -> dict[state_reader.StateQuery, bytes | None]:
        """Return the results for contracts, and note how long they took; add to `compared` the
        tokens of which other holders were read, too, at most MOST_ENDED in all."""
        queries = [query for part in due for query in part.queries()]
        began = time.monotonic()
        results = self._state.read(queries)
        tokens = [part.token for part in due if part.token is not None]
        # One false answer must not set a mark.
        sound = [t for t in tokens if not t.is_marked and t.negative is None]
        doubtful = [token for token in sound if token.contradicted(results)]
        again = [query for token in doubtful for query in token.queries()]
        results |= self._state.read(again)
        further = sorted((t for t in tokens if t.is_drawn_further(results)), key=StaleToken.turn)
        most = MOST_ENDED - len(compared)
        with_others = [self._with_others(token) for token in further[:most]]
        left = [t.address for t in further[most:] if not t.is_counted]
        self._uncounted |= dict.fromkeys(left[: MAX_SLOW - len(self._uncounted)])
        others = [query for token in with_others for query in token.queries()]
        results |= self._state.read(others)
        compared |= {token.address: token for token in with_others}
        calls = len(queries) + len(again) + len(others)
        addresses = list(dict.fromkeys(query.address for query in queries))
        self._times.record(addresses, calls, time.monotonic() - began)
        return results

    def _date_texts(self, head: IndexedHead) -> bool:
        """Store since when some tokens have their names and symbols; return whether there were
        any."""
        rows = self._database.rows(
            "indexer/tokens_list_undated",
            limit=text_ages.MOST_DATED,
            passed_over=[*self._state.unreadable],
        )
        tokens = [text_ages.UndatedToken(bytes(address), *row) for address, *row in rows]
        ages = text_ages.find_text_ages(self._state, self._database, tokens)
        unreadable = self._state.unreadable  # those that have become so now, too
        if read := [row for row in ages if row[0] not in unreadable]:
            columns = _columns(text_ages.AGES, read)
            self._writer.execute(head, [("indexer/tokens_store_ages", columns)])
        return bool(read)

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
