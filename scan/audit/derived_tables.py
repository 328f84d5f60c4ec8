"""`scan audit`: recomputes and repairs derived values, compares rows with the node.

Exit codes: 0 everything is exact or was repaired; 1 something differs; 2 could not be compared.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.audit import block_ranges
from scan.audit.node_comparison import NodeComparison
from scan.database.connection import Database
from scan.database.transaction import Row, Transaction
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node, NodeError
from scan.indexer.writer import NotTheWriter, Writer
from scan.settings import Settings

# What `scan audit` calls a row of each table, by its columns. <table>_expected() of
# sql/schema/expected.sql returns what a table should hold. In this order: holders, items and
# candles first, then the counters of tokens, pools and addresses.
DERIVED = {
    "blocks": "{number}",
    "token_holders": "{holder} of {token_address}",
    "token_holder_ranges": "{token_address} range {balance_range}",
    "item_balances": "{holder} of the item first moved by transfer {first_ordinal}",
    "token_items": "{token_address}, first moved by transfer {first_ordinal}",
    "tokens": "{address}",
    "dexes": "{name}",
    "pool_candles": "{pool_address} {hour}",
    "pools": "{address}",
    "addresses": "{address}",
    "daily_stats": "{day}",
    "event_topics": "topic0 {topic0}",
    "list_counts": "{list} of {key}",
    "list_checkpoints": "{list} of {key} at {place}",
    "authorizations": "authorization {authorization_index} of block {block_number}, transaction"
    " {transaction_index}",
    "chain": "the chain",
}
MAX_SHOWN = 20
EXACT, DIFFERS, NOT_COMPARED = 0, 1, 2
LOCK_WAIT_S = 2.0
# Memory for sorts and joins of whole tables.
SESSION = {"work_mem": "256MB", "max_parallel_workers_per_gather": "2"}


class Difference(NamedTuple):
    """`stored` and `expected` have the fields that differ; None if there is no row."""

    row_name: str
    stored: dict[str, Any] | None
    expected: dict[str, Any] | None

    def __str__(self) -> str:
        if self.stored is None or self.expected is None:
            missing = "is missing" if self.stored is None else "should not exist"
            return f"{self.row_name} {missing}"
        fields = (
            f"{name} is {self.stored.get(name)}, should be {value}"
            for name, value in self.expected.items()
            if self.stored.get(name) != value
        )
        return f"{self.row_name}: {'; '.join(fields)}"


def run(settings: Settings, options: argparse.Namespace) -> int:
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-audit", session=SESSION
    )
    try:
        if options.digest:
            for table, rows, digest in database.rows("audit/tables_digest"):
                write_line(f"{table:18} {rows:>12} {digest}")
            return EXACT
        if options.first is not None or options.last is not None:
            comparison = None
            if options.node:
                node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
                comparison = NodeComparison(database, node, settings)
            differences = block_ranges.audit(
                database, comparison, options.first, options.last, write_line
            )
            return DIFFERS if differences else EXACT
        if options.repair:
            _acquire_lock(Writer(database))
        code = _audit_rows(database, repair=options.repair)
        if options.node:
            node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
            code = max(code, _compare_node(database, node, settings, options.blocks))
        return code
    except NotTheWriter:
        write_line("an indexer is running on this database: stop it before --repair")
    except (NodeError, MalformedBlock) as error:
        write_line(f"cannot compare with the node: {error}")
    finally:
        database.close()
    return NOT_COMPARED


def _acquire_lock(writer: Writer) -> None:
    """Waits a moment: PostgreSQL ends the session of an audit before this one after its client.
    Raises NotTheWriter."""
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            return writer.acquire_lock()
        except NotTheWriter:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def write_line(line: str) -> None:
    print(line, flush=True)


def _audit_rows(database: Database, *, repair: bool) -> int:
    """In one snapshot, so that an indexer may write meanwhile."""
    code = EXACT
    with database.transaction(snapshot=True) as tx:
        began = time.monotonic()
        contradictions = tx.rows("audit/rows_check_all")
        count = sum(row[1] for row in contradictions)
        lines = [f"{rule}: {rows}, such as {example}" for rule, rows, example in contradictions]
        _write_section("rows contradict each other", count, began, lines)
        if contradictions:
            write_line("  these rows cannot be recomputed: index again into an empty database")
            code = DIFFERS
        for table in DERIVED:
            differences = _audit_table(tx, table)
            if differences and repair:
                tx.execute("audit/derived_repair", table=table)
                write_line(f"  repaired {table}")
            elif differences:
                code = DIFFERS
        if repair:
            tx.execute("indexer/chain_notify")
    return code


def _audit_table(tx: Transaction, table: str) -> int:
    began = time.monotonic()
    rows = differing_rows(tx, table, MAX_SHOWN)
    count = int(rows[0][3]) if rows else 0
    lines = [str(Difference(_row_name(table, row), *others)) for row, *others, _ in rows]
    _write_section(f"{table} differ", count, began, lines)
    if count > len(rows):
        write_line(f"  and {count - len(rows)} more")
    return count


def differing_rows(tx: Transaction, table: str, most: int) -> list[Row]:
    """Return the rows of `audit/derived_compare`: of the rows that are not as expected, so many."""
    if table == "list_checkpoints":
        tx.execute("audit/list_checkpoints_expect")
    else:
        tx.execute("audit/derived_expect", table=table)
    return tx.rows("audit/derived_compare", table=table, most=most)


def _row_name(table: str, row: Mapping[str, Any]) -> str:
    values = {
        name: value.replace("\\x", "0x").replace("+00:00", "Z") if isinstance(value, str) else value
        for name, value in row.items()
    }
    return DERIVED[table].format_map(values)


def _write_section(title: str, count: int, began: float, lines: Sequence[str]) -> None:
    write_line(f"{title}: {count} ({time.monotonic() - began:.1f} s)")
    for line in lines:
        write_line(f"  {line}")


def _compare_node(database: Database, node: Node, settings: Settings, blocks: int) -> int:
    comparison = NodeComparison(database, node, settings)
    ranges = comparison.ranges(blocks)
    progress = _Progress(sum(last - first + 1 for first, last in ranges))
    total = 0
    for first, last in ranges:
        for line in comparison.compare(first, last):
            total += 1
            if total <= MAX_SHOWN:
                write_line(f"  {line}")
        progress.show(comparison.compared)
    progress.end()
    compared = comparison.compared
    write_line(f"blocks that differ from the node's: {total} differences in {compared} blocks")
    for (entity, migration), count in (+comparison.unfilled).items():
        unfilled = f"{count} {entity} rows have no values in the columns of {migration}"
        write_line(f"  {unfilled}: run scan backfill fields")
    for reason, count in comparison.skipped.items():
        write_line(f"  roots not computed in {count} blocks: {reason}")
    if comparison.untraced:
        write_line(f"  internal transfers not compared in {comparison.untraced} blocks: no traces")
    return DIFFERS if total else EXACT


class _Progress:
    """On stderr: on a terminal a line that is overwritten, otherwise a line every five seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._is_terminal = sys.stderr.isatty()
        self._began = self._shown_at = time.monotonic()

    def show(self, compared: int) -> None:
        now = time.monotonic()
        if not self._is_terminal and now - self._shown_at <= 5.0:
            return
        self._shown_at = now
        share = compared / self._total
        left_s = (now - self._began) / share * (1 - share)
        print(
            f"\rcompared {compared} of {self._total} blocks ({share:.0%}), {left_s:.0f} s left",
            end="" if self._is_terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    def end(self) -> None:
        if self._is_terminal:
            print(file=sys.stderr)
