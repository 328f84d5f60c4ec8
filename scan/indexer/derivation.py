"""Updates of derived tables: forward as blocks are written, backward as a fork removes them.

An extension with derived tables has a Derived (hooks.py) in its derived.py.

Webhook events, inserted and unwound in the same transaction as their blocks.
"""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from scan import registry
from scan.database.connection import Database
from scan.database.transaction import Row, Transaction
from scan.ethereum.events import WITH_AMOUNTS
from scan.indexer.block_rows import FOLLOWED, WRITTEN, WatchedLog
from scan.indexer.hooks import BlockRange, Derived

# From so many holders on, a token's holders are counted by range of balance. Without, a page in the
# middle of the list passes over half of them.
LARGE_TOKEN_HOLDERS = 10_000
PLANNER = "indexer/planner_allow"

log = logging.getLogger(__name__)


def read_block_range(tx: Transaction, first: int, last: int) -> BlockRange:
    """Return the range of the blocks first..last, which must be written already."""
    [(*span, listed)] = tx.rows("indexer/blocks_get_range", block_from=first, block_to=last)
    # The seventh and eighth are first_trade and last_trade of block_range.
    return BlockRange((*span,), (span[6], span[7]), listed)


class RowsRemoved(Exception):
    """A table of an extension that was off cannot be filled: rows of older blocks are removed."""


def fill_missing(database: Database) -> None:
    """Fill the derived tables of extensions that were off when blocks were written, and note from
    which block on their others have all rows. Raises RowsRemoved."""
    tables = [*registry.merged(part.tables for part in registry.parts(Derived))]
    forget_others(database)
    with database.transaction() as tx:
        for table in FOLLOWED.values():
            tx.execute(table.begin)
        others = [name for name in WRITTEN if name not in FOLLOWED]
        for name, first in tx.rows("indexer/filled_tables_begin", tables=others):
            log.warning("%s has rows from block %d on: its extension was off before", name, first)
        for (table,) in tx.rows("indexer/filled_tables_list_missing", tables=tables):
            if tx.value("indexer/retention_get_oldest") is not None:
                raise RowsRemoved(
                    f"{table} cannot be filled, as the rows of older blocks are removed; leave its"
                    " extension off (SCAN_EXTENSIONS) or index anew into an empty database"
                )
            log.info("filling %s from all indexed blocks", table)
            tx.execute("indexer/filled_tables_fill", table=table)


def forget_others(database: Database) -> None:
    """Note that the tables of extensions that are off miss the blocks that are written now."""
    tables = [*registry.merged(part.tables for part in registry.parts(Derived)), *WRITTEN]
    with database.transaction() as tx:
        tx.execute("indexer/filled_tables_forget", tables=tables)


def derive(tx: Transaction, written: BlockRange) -> None:
    """Update the derived tables by the rows of these blocks, a day at a time. unwind_day() is the
    inverse."""
    days = tx.rows("indexer/daily_stats_derive", span=written.span)
    for first, last in days:
        of_day = written if len(days) == 1 else read_block_range(tx, first, last)
        grown = _derive_holders_and_addresses(tx, of_day, sign=1, day=None)
        grown += _derive_items(tx, of_day, sign=1)
        grown += tx.rows("indexer/counters_derive", span=of_day.span, sign=1)
        tx.defer("indexer/tokens_mark_seen", span=of_day.span)
        tx.defer("indexer/beacons_mark_changed", span=of_day.span)
        if of_day.listed:
            grown += tx.rows("indexer/list_counts_derive", span=of_day.span, sign=1)
        for extension in registry.parts(Derived):
            grown += extension.derive(tx, of_day)
        if grown:
            lists, keys, entries = zip(*grown, strict=True)
            tx.defer(
                "indexer/lists_insert_checkpoints",
                lists=list(lists),
                keys=[bytes(key) for key in keys],
                entries=list(entries),
                span=of_day.span,
            )


def unwind_day(tx: Transaction, orphaned: BlockRange, last_kept: int) -> None:
    """Remove the blocks after `last_kept`, which are of one day, and their effect on derived
    tables."""
    # Before blocks_unwind: these statements read the rows of the orphaned blocks.
    day = tx.value("indexer/daily_stats_unwind", last_kept=last_kept, span=orphaned.span)
    _derive_holders_and_addresses(tx, orphaned, sign=-1, day=day)
    _derive_items(tx, orphaned, sign=-1)
    tx.execute("indexer/token_items_unwind", span=orphaned.span)
    tx.execute("indexer/counters_derive", span=orphaned.span, sign=-1)
    if orphaned.listed:
        tx.execute("indexer/list_counts_derive", span=orphaned.span, sign=-1)
    for extension in registry.parts(Derived):
        extension.unwind(tx, orphaned)
    others = [bytes(token) for (token,) in tx.rows("indexer/tokens_unwind", last_kept=last_kept)]
    tx.execute("indexer/blocks_unwind", last_kept=last_kept, span=orphaned.span)
    if others:
        derive_anew(tx, others)
    tx.execute("indexer/addresses_forget", last_kept=last_kept, day=day)
    tx.execute("indexer/addresses_restore_last_seen", day=day)


def derive_anew(tx: Transaction, tokens: Sequence[bytes]) -> None:
    """Derive who holds what of tokens that are in another life than before these blocks."""
    tx.execute("indexer/tokens_forget_holders", addresses=tokens)
    tx.execute("indexer/tokens_derive_holders", addresses=tokens)


def _derive_holders_and_addresses(
    tx: Transaction, blocks: BlockRange, sign: int, day: str | None
) -> list[Row]:
    # Without nested loops, for joins of a batch's changes with each other: ANALYZE has not seen the
    # new rows, so the planner expects one and would loop over all: 4 to 22 s instead of 1 s.
    # Addresses have to be looked up by index: the planner takes a new table for small and would
    # scan it, but it grows with the statement, which took 28 s for 30,000 transactions.
    tx.defer(PLANNER, nested_loops=False, other_joins=True, sequential_scans=False)
    changed = tx.rows("indexer/token_holders_derive", span=blocks.span, sign=sign)
    grown = tx.rows("indexer/addresses_derive", span=blocks.span, sign=sign, day=day)
    _allow_all(tx)
    if not changed:
        return grown
    tokens, holders, held, at_zero = zip(*changed, strict=True)
    uncounted = tx.value(
        "indexer/tokens_add_holders",
        tokens=[bytes(token) for token in tokens],
        holders=list(holders),
        held=list(held),
        large=LARGE_TOKEN_HOLDERS,
    )
    if uncounted is not None:
        tx.defer("indexer/token_holder_ranges_insert", token=bytes(uncounted))
    empty = [
        (bytes(holder), bytes(token))
        for token, holders_at_zero in zip(tokens, at_zero, strict=True)
        for holder in holders_at_zero or ()
    ]
    if empty:
        remove_empty_balances(tx, empty)
    return grown


def remove_empty_balances(tx: Transaction, keys: Sequence[tuple[bytes, bytes]]) -> None:
    """Remove the rows of these (holder, token), whose balances are zero."""
    # Each row is looked up in one partition, but the planner expects eight, and would rather read
    # all balances.
    are_many = not tx.is_prepared
    if are_many:
        tx.defer(PLANNER, nested_loops=True, other_joins=True, sequential_scans=False)
    tx.defer(
        "indexer/token_holders_sweep",
        holders=[holder for holder, _ in keys],
        tokens=[token for _, token in keys],
    )
    if are_many:
        _allow_all(tx)


def _derive_items(tx: Transaction, blocks: BlockRange, sign: int) -> list[Row]:
    types = {type_ for (type_,) in tx.rows("indexer/token_items_list_types", span=blocks.span)}
    if not types:
        return []
    grown = tx.rows("indexer/token_items_derive", span=blocks.span, sign=sign)
    if types & {*WITH_AMOUNTS.values()}:
        tx.defer("indexer/item_balances_derive", span=blocks.span, sign=sign)
    return grown


def _allow_all(tx: Transaction) -> None:
    """Allow all plans again, or those for few rows: see planner_plan_for_few_rows.sql."""
    are_many = not tx.is_prepared
    tx.defer(PLANNER, nested_loops=True, other_joins=are_many, sequential_scans=are_many)


MAX_DATA_BYTES = 16_384  # of a log in its event, as in log_event() of sql/schema
MIB = 1024 * 1024
# Webhooks beyond these bounds are stopped. docs/webhooks.md names the same bounds.
MAX_QUEUE_EVENTS = 10_000
MAX_QUEUE_MIB = 32
MAX_BLOCK_EVENTS = 20_000  # of all webhooks together, shared by owners and client networks
MAX_BLOCK_MIB = 8
LIMITS = {
    "queue_events": MAX_QUEUE_EVENTS,
    "queue_bytes": MAX_QUEUE_MIB * MIB,
    "block_events": MAX_BLOCK_EVENTS,
    "block_bytes": MAX_BLOCK_MIB * MIB,
    "queue_events_reason": f"its queue held {MAX_QUEUE_EVENTS:,} undelivered events",
    "queue_bytes_reason": f"its queue held {MAX_QUEUE_MIB} MiB of undelivered events",
    "block_events_reason": "its owner or its network had the most events of a full block",
    "block_bytes_reason": "its owner or its network had the most bytes of a full block",
}


def insert(
    tx: Transaction,
    written: BlockRange,
    watched_logs: Sequence[WatchedLog],
    only: Sequence[int] | None = None,
) -> None:
    """Insert the events of blocks whose rows are written, for all active webhooks that match, or
    `only` for those with these ids."""
    if tx.value("indexer/webhooks_find_active"):
        tx.defer("indexer/delivery_ids_advance")
        # The logs as one list for each field, without the data that log_event() would leave out.
        rows = [
            log if len(log.data) <= MAX_DATA_BYTES else (*log[:-1], None) for log in watched_logs
        ]
        columns = zip(*rows, strict=True) if rows else [()] * len(WatchedLog._fields)
        tx.defer(
            "indexer/events_insert",
            now=datetime.now(UTC),
            span=written.span,
            only=None if only is None else list(only),
            **{
                f"watched_{name}": list(values)
                for name, values in zip(WatchedLog._fields, columns, strict=True)
            },
            **LIMITS,
        )
        # Even if no event matched: a higher head confirms earlier events.
        tx.defer("webhooks/events_notify")


def unwind(tx: Transaction, last_kept: int) -> None:
    """Cancel unsent events of the blocks after `last_kept`, and revoke sent ones."""
    queues = tx.rows("indexer/events_lock_queues", last_kept=last_kept)
    if queues:
        tx.defer("indexer/delivery_ids_advance")
        tx.execute("indexer/events_unwind", last_kept=last_kept, now=datetime.now(UTC))
        tx.execute("webhooks/queues_count_waiting", webhook_ids=[id_ for id_, *_ in queues])
        tx.defer("webhooks/events_notify")
