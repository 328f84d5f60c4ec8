"""The writer: it writes a batch of blocks, or unwinds the last blocks, in one transaction."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain
from typing import NamedTuple

from scan.database import connection, transaction
from scan.database.transaction import Row, Transaction
from scan.indexer import block_rows, derivation, partitions
from scan.indexer.contract_state import ContractChange, ContractFindings, NewToken, RejectedEmitter
from scan.indexer.derivation import derive, read_block_range, unwind_day
from scan.observability import metrics
from scan.parameters import GREGORIAN_CYCLE_S
from scan.settings import Keep

# Up to so many rows, updating derived tables takes less time than planning how: a block of 50
# transactions took 20 of 32 ms of PostgreSQL's. So plans are kept, which are made for few rows.
FEW_ROWS = 5_000
PLANS_FOR_GROWTH = 8  # plans last while tables grow by a share of one in so many
POOL_COLUMNS = ("address", "block_number", "dex_id", "token0", "token1")
TOKEN_COLUMNS = (*NewToken._fields[:-1], "supply_block", "supply_missing")


class RowCounts(NamedTuple):
    """The numbers of rows of some blocks, and of those blocks that were traced, lack traces, or are
    not proven. For all blocks up to the head, the numbers of rows are the ordinals of the next
    rows. A block's row has those of the blocks before it as *_before."""

    transactions: int = 0
    token_transfers: int = 0
    dex_trades: int = 0
    internal_transfers: int = 0
    traced: int = 0
    untraced: int = 0
    unproven: int = 0
    logs: int = 0

    def plus(self, counts: "RowCounts") -> "RowCounts":
        return RowCounts(*map(sum, zip(self, counts, strict=True)))


NO_ROWS = RowCounts()


class IndexedHead(NamedTuple):
    number: int
    hash: bytes
    totals: RowCounts
    stored_logs: str = "none"  # as chain.stored_logs has it, which `scan rebuild logs` changes
    followed_version: int = 0  # of chain, which following another contract changes


class NotTheWriter(Exception):
    """Another indexer writes to this database. This one may take over when the other ends."""


class HeadChanged(NotTheWriter):
    """The database's head is not the one written last: a failover lost blocks, another indexer
    wrote some, `scan backfill traces` changed the numbers of rows up to it, `scan rebuild logs`
    which logs are stored, or `scan events` whose logs are followed."""


class InspectedBatch(NamedTuple):
    """Consecutive blocks, and the findings about their contracts."""

    blocks: Sequence[block_rows.BlockRows]
    findings: ContractFindings
    counts: Sequence[RowCounts]  # of each block
    rows: RowCounts  # of all
    is_full: bool  # whether more blocks would have made it too large


def inspected_batch(
    blocks: Sequence[block_rows.BlockRows], findings: ContractFindings, *, is_full: bool = False
) -> InspectedBatch:
    transfers = Counter(number for number, _ in findings.transfers)
    trades = Counter(trade.block_number for trade in findings.trades)
    counts = [
        RowCounts(
            transactions=len(block.transactions),
            token_transfers=transfers[block.contracts.number],
            dex_trades=trades[block.contracts.number],
            internal_transfers=len(block.internal_transfers),
            traced=int(block.columns["traced"] is True),
            untraced=int(block.columns["traced"] is False),
            unproven=int(block.columns["unproven"] is not None),
            logs=len(block.first_topics),
        )
        for block in blocks
    ]
    rows = RowCounts(*map(sum, zip(*counts, strict=True)))
    return InspectedBatch(blocks, findings, counts, rows, is_full)


class Append:
    """Writes blocks on top of a head in one transaction: first the rows of one batch after another
    by add(), then the derived tables for all of them by derive()."""

    def __init__(self, tx: Transaction, head: IndexedHead | None) -> None:
        self.transaction = tx
        self._first_block: int | None = None
        self.head = head
        self._watched_logs: list[block_rows.WatchedLog] = []
        self._other_lives: set[bytes] = set()  # tokens of which a life ended or another began
        self.blocks = 0
        self.transactions = 0

    def add(self, batch: InspectedBatch) -> None:
        tx, blocks, findings = self.transaction, batch.blocks, batch.findings
        before = self.head.totals if self.head else NO_ROWS
        totals = _copy_blocks(tx, before, batch)
        copy_contracts(tx, findings)
        dexes = _dex_ids(tx, {trade.dex for trade in findings.trades}) if findings.trades else {}
        trades = (
            f"{row}\t{transaction.line((dexes[dex], *trade))}"
            for _, row, dex, trade in findings.trades
        )
        transactions = _lines(block.transactions for block in blocks)
        transfers = (line for _, line in findings.transfers)
        moves = _lines(block.internal_transfers for block in blocks)
        for table, columns, lines in (
            ("transactions", block_rows.TRANSACTION_COLUMNS, transactions),
            ("token_transfers", block_rows.TRANSFER_COLUMNS, transfers),
            ("dex_trades", block_rows.TRADE_COLUMNS, trades),
            ("internal_transfers", block_rows.INTERNAL_TRANSFER_COLUMNS, moves),
        ):
            _copy_numbered(tx, table, columns, getattr(before, table), lines)
        if batch.rows.logs:
            _copy_logs(tx, before.logs, blocks)
        for table, names in block_rows.UNNUMBERED.items():
            texts = (block.unnumbered.get(table, "") for block in blocks)
            transaction.copy_lines(tx, table, names, texts)
        names = block_rows.UNNUMBERED[block_rows.BODIES]
        transaction.copy_binary(tx, block_rows.BODIES, names, (block.body for block in blocks))
        store_delegated_calls(tx, _lines(block.delegated_calls for block in blocks))
        _copy_named(tx, blocks)
        if self._first_block is None:
            self._first_block = blocks[0].contracts.number
        self._other_lives |= {end.address for end in findings.ends}
        self._other_lives |= {token.address for token in findings.tokens if not token.is_first}
        self._watched_logs += [log for block in blocks for log in block.watched_logs]
        self.blocks += len(blocks)
        self.transactions += batch.rows.transactions
        last = blocks[-1].contracts
        if self.head is None:
            *_, logs, followed = tx.row("indexer/chain_get") or ("none", 0)
        else:
            logs, followed = self.head.stored_logs, self.head.followed_version
        self.head = IndexedHead(last.number, last.hash, totals, logs, followed)

    def derive(self) -> IndexedHead:
        """Update the derived tables by the added rows; return the new head."""
        assert self.head is not None and self._first_block is not None
        written = read_block_range(self.transaction, self._first_block, self.head.number)
        derive(self.transaction, written)
        if self._other_lives:
            derivation.derive_anew(self.transaction, [*self._other_lives])
        derivation.insert(self.transaction, written, self._watched_logs)
        return self.head


class Writer:
    """The only writer of chain data."""

    def __init__(
        self,
        database: connection.Database,
        partition_rows: int = partitions.DEFAULT_ROWS,
        keep: Keep | None = None,
    ) -> None:
        self._database = database
        self._partitions = partitions.Partitions(database, partition_rows, keep)
        self._plans_last_to = 0  # rows, after which plans are made anew

    def acquire_lock(self) -> None:
        """Take the writer's lock for as long as this connection exists. Raises NotTheWriter if
        another process has it."""
        if not self._database.value("indexer/writer_lock"):
            raise NotTheWriter
        self._partitions.forget()

    def head(self) -> IndexedHead | None:
        return _indexed_head(self._database.row("indexer/blocks_get_head"))

    def can_take(self, head: IndexedHead | None, batch: InspectedBatch) -> bool:
        """Return whether a batch after the head may be written in the same transaction.

        It may not where partitions have to be made for it, while a migration waits for a lock, or
        where webhooks are active: their events wait in a bounded queue, which is emptied between
        commits.
        """
        needed = _partitioned_rows((head.totals if head else NO_ROWS).plus(batch.rows), batch)
        return (
            all(self._partitions.are_made(table, rows) for table, rows in needed.items())
            and not self._database.value("indexer/webhooks_find_active")
            and not self._database.value("indexer/lock_is_awaited")
        )

    @contextmanager
    def appending(
        self, head: IndexedHead | None, batch: InspectedBatch, *, alone: bool = False
    ) -> Iterator[Append]:
        """Make the partitions that the batch needs, and begin a transaction on top of the head,
        which others may be added to unless it is written `alone`."""
        before = head.totals if head else NO_ROWS
        if head is None:
            self._partitions.prepare_first()
        for table, needed in _partitioned_rows(before.plus(batch.rows), batch).items():
            self._partitions.prepare(table, needed)
        are_few = sum(batch.rows) <= FEW_ROWS
        with self._locked_transaction(head, prepared=alone and are_few) as tx:
            if tx.is_prepared:
                self.plan_for_few_rows(tx, before)
            append = Append(tx, head)
            yield append
        metrics.INDEXED_BLOCKS.inc(append.blocks)
        metrics.INDEXED_TRANSACTIONS.inc(append.transactions)

    def plan_for_few_rows(self, tx: Transaction, written: RowCounts) -> None:
        """Have statements planned for few rows, and those anew that were planned for much smaller
        tables. PostgreSQL does so itself when it has analyzed a table, which may be long after."""
        tx.defer("indexer/planner_plan_for_few_rows")
        rows = sum(written)
        if rows > self._plans_last_to:
            tx.defer("indexer/planner_discard_plans")
            self._plans_last_to = rows + rows // PLANS_FOR_GROWTH

    def unwind(self, last_kept: int) -> None:
        """Remove all blocks after `last_kept`, and their effect on derived tables."""
        head = self.head()
        if head is None or head.number <= last_kept:
            return
        with self._locked_transaction(head) as tx:
            now = datetime.now(UTC)
            tx.execute("indexer/orphaned_blocks_insert", last_kept=last_kept, now=now)
            tx.execute("indexer/orphaned_blocks_sweep", now=now)
            derivation.unwind(tx, last_kept)
            ends = tx.rows("indexer/daily_stats_list_ends", last_kept=last_kept)
            last = head.number
            for (end,) in (*ends, (last_kept,)):
                unwind_day(tx, read_block_range(tx, end + 1, last), end)
                last = end
            tx.execute("indexer/filled_tables_unwind", last_kept=last_kept)
        metrics.REORGANISED_BLOCKS.inc(head.number - last_kept)

    def execute(
        self, head: IndexedHead, statements: Iterable[tuple[str, Mapping[str, object]]]
    ) -> None:
        """Execute statements with their parameters, which store what was read at blocks up to the
        head."""
        with self._locked_transaction(head) as tx:
            for name, parameters in statements:
                tx.defer(name, **parameters)

    def store_contracts(self, head: IndexedHead, findings: ContractFindings) -> None:
        """Store what was read of contracts at the head."""
        with self._locked_transaction(head) as tx:
            copy_contracts(tx, findings)
            addresses = [token.address for token in findings.tokens]
            tx.defer("indexer/tokens_mark_changed", addresses=addresses, compared=False)

    @contextmanager
    def _locked_transaction(
        self, head: IndexedHead | None, *, prepared: bool = False
    ) -> Iterator[Transaction]:
        """Begin a transaction on top of `head`. Raises NotTheWriter and HeadChanged."""
        with self._database.transaction(prepared=prepared) as tx:
            if not tx.value("indexer/writer_lock_transaction"):
                raise NotTheWriter
            # Under the lock, so that nothing can be written between the check and the write.
            if _indexed_head(tx.row("indexer/blocks_get_head")) != head:
                raise HeadChanged
            yield tx
            tx.defer("indexer/chain_notify")


def _partitioned_rows(after: RowCounts, batch: InspectedBatch) -> dict[str, int]:
    """Return up to which ordinal each partitioned table has rows once a batch is written."""
    rows = {t: getattr(after, t) for t in partitions.TABLES if t != block_rows.BODIES}
    if any(block.body for block in batch.blocks):
        rows[block_rows.BODIES] = batch.blocks[-1].contracts.number + 1
    return rows


def _indexed_head(row: Row | None) -> IndexedHead | None:
    if row is None:
        return None
    number, hash_, totals, *selection = row
    return IndexedHead(number, bytes(hash_), RowCounts(**totals), *selection)


def _copy_blocks(tx: Transaction, totals: RowCounts, batch: InspectedBatch) -> RowCounts:
    rows = []
    for block, counts in zip(batch.blocks, batch.counts, strict=True):
        # In PostgreSQL's format, also for years after 9999, datetime's limit.
        cycles, seconds = divmod(block.columns["timestamp_s"], GREGORIAN_CYCLE_S)
        moment = datetime.fromtimestamp(seconds, UTC)
        columns = {
            **block.columns,
            **{f"{name}_before": total for name, total in totals._asdict().items()},
            "timestamp": f"{moment.year + 400 * cycles:04d}-{moment:%m-%d %H:%M:%S}+00",
            "token_transfer_count": counts.token_transfers,
            "dex_trade_count": counts.dex_trades,
        }
        del columns["timestamp_s"]
        rows.append(columns)
        totals = totals.plus(counts)
    transaction.copy_records(tx, "blocks", tuple(rows[0]), rows)
    return totals


_lines = chain.from_iterable  # of blocks


def _copy_numbered(
    tx: Transaction, table: str, columns: Iterable[str], first: int, lines: Iterable[str]
) -> None:
    """Copy rows in the chain's order, with their ordinals, from `first` on, prepended."""
    numbered = (f"{ordinal}\t{line}" for ordinal, line in enumerate(lines, start=first))
    transaction.copy_lines(tx, table, ("ordinal", *columns), numbered)


def copy_contracts(tx: Transaction, findings: ContractFindings) -> None:
    """Copy the found code, tokens, pools and rejected emitters, without transfers and trades."""
    if findings.codes:
        distinct = {code.code_hash: code for code in findings.codes if code.code}
        tx.defer(
            "indexer/codes_insert",
            code_hashes=[*distinct],
            codes=[code.code for code in distinct.values()],
            delegations=[code.delegation for code in distinct.values()],
        )
        rows = ((code.address, code.block_number, code.code_hash) for code in findings.codes)
        lines = map(transaction.line, rows)
        transaction.copy_lines(tx, "contracts", ("address", "block_number", "code_hash"), lines)
    tokens = [
        token._asdict()
        | {
            "total_supply": token.total_supply or 0,
            "supply_block": token.block_number,
            # Of a token that is not read, what is held stands for it.
            "supply_missing": token.total_supply is None
            and (token.type != "BEP20" or token.read_block is None),
        }
        for token in findings.tokens
    ]
    firsts = [token for token in tokens if token.pop("is_first")]
    transaction.copy_records(tx, "tokens", TOKEN_COLUMNS, firsts)
    if tokens:
        added = sum(token.has_holdings for token in findings.tokens)
        tx.defer("indexer/chain_add_tokens", added=added)
    later = [
        *((end.end_block, 0, "indexer/tokens_end", end._asdict()) for end in findings.ends),
        *(
            (token["block_number"], 1, "indexer/tokens_begin", token)
            for token, life in zip(tokens, findings.tokens, strict=True)
            if not life.is_first
        ),
        *(
            (number, 2, "indexer/tokens_set_wraps", {"address": address, "block_number": number})
            for address, number in findings.wrappers
        ),
    ]
    for *_, statement, parameters in sorted(later, key=lambda step: step[:2]):
        tx.defer(statement, **parameters)
    if findings.changes:
        lines = map(transaction.line, findings.changes)
        transaction.copy_lines(tx, "contract_changes", ContractChange._fields, lines)
        addresses = [change.address for change in findings.changes]
        tx.defer("indexer/tokens_mark_changed", addresses=addresses, compared=False)
    if findings.pools:
        dexes = _dex_ids(tx, {pool.dex for pool in findings.pools})
        pools = [pool._asdict() | {"dex_id": dexes[pool.dex]} for pool in findings.pools]
        transaction.copy_records(tx, "pools", POOL_COLUMNS, pools)
    lines = map(transaction.line, findings.rejections)
    transaction.copy_lines(tx, "rejected_emitters", RejectedEmitter._fields, lines)


def store_delegated_calls(tx: Transaction, rows: Iterable[Sequence[object]]) -> None:
    """Store those of the rows of delegated_calls that change something."""
    if columns := [*map(list, zip(*rows, strict=True))]:
        names = ("addresses", "selectors", "block_numbers", "implementations")
        tx.defer("indexer/delegated_calls_insert", **dict(zip(names, columns, strict=True)))


def _dex_ids(tx: Transaction, names: set[str]) -> dict[str, int]:
    return dict(tx.rows("indexer/dexes_insert", names=sorted(names)))


def _copy_named(tx: Transaction, blocks: Sequence[block_rows.BlockRows]) -> None:
    """Copy the rows of FollowedTables whose emitters logs of these or of earlier blocks name."""
    for name in {name for block in blocks for name in block.possible}:
        table, first, last = block_rows.FOLLOWED[name], blocks[0].contracts, blocks[-1].contracts
        tx.execute(table.named_insert, block_from=first.number, block_to=last.number)
        possible = [row for block in blocks for row in block.possible.get(name, ())]
        lines = map(transaction.line, block_rows.named_rows(tx, name, possible))
        transaction.copy_lines(tx, name, (*table.columns,), lines)


def _copy_logs(tx: Transaction, before: int, batch: Sequence[block_rows.BlockRows]) -> None:
    first_topics = [topic for block in batch for topic in block.first_topics]
    topics = {topic for topic in first_topics if topic is not None}
    rows = tx.rows("indexer/event_topics_insert", topics=list(topics))
    numbers: dict[bytes | None, int | str] = {bytes(topic): number for topic, number in rows}
    numbers[None] = transaction.NULL  # of logs without topics
    lines = _lines(block.logs for block in batch)
    _copy_numbered(
        tx,
        "logs",
        ("topic_id", *block_rows.LOG_COLUMNS[1:]),
        before,
        (f"{numbers[topic]}\t{line}" for topic, line in zip(first_topics, lines, strict=True)),
    )
