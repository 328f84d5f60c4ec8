"""`scan audit`: recomputes derived tables and compares blocks with the node's.

Exit codes: 0 all is exact or was repaired; 1 something differs; 2 the comparison failed.
"""

import argparse
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from scan.audit import derived_tables, rebuild, token_comparison
from scan.audit.block_comparison import Comparison, NodeComparison
from scan.audit.stored_source import StoredComparison
from scan.commands import arguments, long_work, startup
from scan.contracts.account_state import node_of_index
from scan.database import connection, transaction
from scan.errors import SettingError
from scan.ethereum.blocks import MalformedBlock
from scan.ethereum.client import Node, NodeError
from scan.indexer.writer import NotTheWriter, Writer
from scan.observability.logs import print_lines
from scan.settings import Settings

MAX_SHOWN = 20
EXACT, DIFFERS, NOT_COMPARED = 0, 1, 2
LOCK_WAIT_S = 2.0
RANGE_BLOCKS = 1000
# Memory for sorts and joins of whole tables.
SESSION = {"work_mem": "256MB", "max_parallel_workers_per_gather": "2"}


def add_audit(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("--repair", action="store_true", help="correct derived values")
    command.add_argument(
        "--node",
        action="store_true",
        help="compare blocks with the node's (RPC_URL), not with stored ones, and tokens, too",
    )
    command.add_argument(
        "--blocks",
        type=arguments.whole_number,
        default=1000,
        help="number of blocks, and with --node of tokens, that are compared; 0: all (1000)",
    )
    command.add_argument("--digest", action="store_true", help="only print a digest of each table")
    command.add_argument(
        "--from",
        dest="first",
        type=arguments.whole_number,
        metavar="BLOCK",
        help="only the rows of these blocks, a thousand at a time",
    )
    command.add_argument(
        "--to", dest="last", type=arguments.whole_number, metavar="BLOCK", help="the last of them"
    )
    for extension_options in arguments.options_of_extensions("audit"):
        extension_options.add_arguments(command)


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = startup.settings_with_database(settings)
    if (code := arguments.run_of_extensions("audit", settings, options)) is not None:
        return code
    is_of_range = options.first is not None or options.last is not None
    if is_of_range and (options.repair or options.digest):
        raise SettingError("--from, --to", "", "not possible together with --repair or --digest")
    startup.require_order(options.first, options.last)
    if options.node:
        startup.require_node(settings)
    return audit(settings, options)


def audit(settings: Settings, options: argparse.Namespace) -> int:
    database = connection.Database(
        settings.database_url, statement_timeout_ms=0, name="scan-audit", session=SESSION
    )
    try:
        if options.digest:
            for table, rows, digest in database.rows("audit/tables_digest"):
                print_lines(f"{table:18} {rows:>12} {digest}")
            return EXACT
        comparison: Comparison = StoredComparison(database)
        if options.node:
            node = node_of_index(settings)
            comparison = NodeComparison(database, node, settings)
        if options.first is not None or options.last is not None:
            return audit_blocks(database, comparison, options.first, options.last)
        if options.repair:
            # The session of an earlier audit ends a moment after its client.
            writer, deadline = Writer(database), time.monotonic() + LOCK_WAIT_S
            while time.monotonic() < deadline:
                with suppress(NotTheWriter):
                    writer.acquire_lock()
                    break
                time.sleep(0.1)
            else:
                writer.acquire_lock()
        code = _audit_rows(database, repair=options.repair)
        compared = _compare_blocks(database, comparison, options.blocks)
        if compared and options.repair and isinstance(comparison, StoredComparison):
            compared = _rebuild(settings, database, comparison)
        if options.node:
            code = max(code, _compare_tokens(database, node, options.blocks, repair=options.repair))
        return max(code, compared)
    except NotTheWriter:
        print_lines("an indexer is running on this database: stop it before --repair")
    except (NodeError, MalformedBlock) as error:
        print_lines(f"cannot compare with the node: {error}")
    finally:
        database.close()
    return NOT_COMPARED


def audit_blocks(
    database: connection.Database | transaction.Transaction,
    comparison: Comparison | None,
    first: int | None,
    last: int | None,
    *,
    range_blocks: int = RANGE_BLOCKS,
    show_every_s: float = long_work.SHOW_EVERY_S,
) -> int:
    """Check the rows of the blocks `first` to `last`, and compare them with the node's where there
    is a comparison. Return the exit code.

    No snapshot is held longer than a statement, so that vacuum is not held up. An interrupted audit
    can go on with the block that its last line names.
    """
    oldest, newest = database.row("audit/blocks_get_ends") or (0, -1)
    first = oldest if first is None else max(first, oldest)
    last = newest if last is None else min(last, newest)
    differences = 0
    shown_at = time.monotonic()
    for start in range(first, last + 1, range_blocks):
        end = min(start + range_blocks - 1, last)
        for rule, count, example in database.rows(
            "audit/block_range_check", block_from=start, block_to=end
        ):
            differences += count
            print_lines(f"  {rule}: {count}, such as {example}")
        for line in comparison.compare(start, end) if comparison else ():
            differences += 1
            print_lines(f"  {line}")
        if time.monotonic() - shown_at > show_every_s and end < last:
            shown_at = time.monotonic()
            print_lines(
                f"blocks {first} to {end}: {differences} differ; go on with --from {end + 1}"
            )
    print_lines(f"rows of blocks {first} to {last} contradict each other: {differences}")
    return DIFFERS if differences else EXACT


def _audit_rows(database: connection.Database, *, repair: bool) -> int:
    """Check rows and derived tables, and repair these. Return the exit code. All statements read
    one snapshot, so that an indexer may write meanwhile."""
    code = EXACT
    with database.transaction(snapshot=True) as tx:
        began = time.monotonic()
        kept = tx.row("audit/retention_get")
        first_block = 0
        if kept is None:
            title, wrong = "rows contradict each other", tx.rows("audit/whole_chain_check")
        else:
            first_block, _ = kept
            print_lines(
                f"rows before block {first_block} are removed: balances and counters over all rows"
                " are not compared"
            )
            code = audit_blocks(tx, None, first_block, None)
            title = "derived tables contradict rows"
            wrong = derived_tables.contradictions_of_kept_rows(tx, *kept)
        lines = [f"{rule}: {rows}, such as {example}" for rule, rows, example in wrong]
        _write_section(title, sum(rows for _, rows, _ in wrong), began, lines)
        if wrong:
            print_lines("  these rows cannot be recomputed: index again into an empty database")
            code = DIFFERS
        for table in derived_tables.DERIVED if kept is None else derived_tables.OF_KEPT_ROWS:
            began = time.monotonic()
            rows = derived_tables.differing_rows(tx, table, MAX_SHOWN, first_block)
            differences = int(rows[0][3]) if rows else 0
            lines = [derived_tables.difference(table, *compared) for *compared, _ in rows]
            _write_section(f"{table} differ", differences, began, lines)
            if differences > len(rows):
                print_lines(f"  and {differences - len(rows)} more")
            if differences and repair:
                tx.execute("audit/derived_repair", table=table)
                print_lines(f"  repaired {table}")
            elif differences:
                code = DIFFERS
        if repair:
            tx.execute("indexer/chain_notify")
    return code


def _write_section(title: str, count: int, began: float, lines: Sequence[str]) -> None:
    print_lines(f"{title}: {count} ({time.monotonic() - began:.1f} s)")
    print_lines(*(f"  {line}" for line in lines))


def _compare_blocks(database: connection.Database, comparison: Comparison, blocks: int) -> int:
    ranges = comparison.ranges(blocks)
    progress = long_work.Progress(sum(last - first + 1 for first, last in ranges), "compared")
    total = done = 0
    for first, last in ranges:
        for line in comparison.compare(first, last):
            total += 1
            if total <= MAX_SHOWN:
                print_lines(f"  {line}")
        done += last - first + 1
        progress.show(done)
    progress.end()
    compared = comparison.compared
    others = f"{comparison.owner}s" if isinstance(comparison, StoredComparison) else "the node's"
    print_lines(f"blocks that differ from {others}: {total} differences in {compared} blocks")
    if not isinstance(comparison, NodeComparison):
        if compared < done:
            print_lines(f"  not compared, as they are not stored: {done - compared} blocks")
        return DIFFERS if total else EXACT
    for first, last, reason in database.rows("queries/unproven_blocks_list"):
        print_lines(f"not proven when indexed, in blocks {first} to {last}: {reason}")
    if count := database.value("queries/unproven_blocks_count"):
        print_lines(f"not proven when indexed: {count} blocks in all")
    for reason, count in comparison.unproven.items():
        print_lines(f"  not proven in {count} of them: {reason}")
    if comparison.untraced:
        print_lines(f"  internal transfers not compared in {comparison.untraced} blocks: no traces")
    return DIFFERS if total else EXACT


def _rebuild(
    settings: Settings, database: connection.Database, comparison: StoredComparison
) -> int:
    """Derive the tables that differ again from stored blocks. Return the exit code."""
    tables = comparison.differing.intersection(rebuild.from_blocks())
    run = rebuild.Rebuild(database, settings.database_url, threading.Event())
    run.request(sorted(tables))
    for _ in run.run():
        pass
    print_lines(f"  derived again: {', '.join(sorted(tables)) or 'nothing'}")
    if comparison.differing - tables or comparison.damaged:
        print_lines("  other rows cannot be derived: index again into an empty database")
        return DIFFERS
    return EXACT


def _compare_tokens(database: connection.Database, node: Node, most: int, *, repair: bool) -> int:
    """Compare the readings of as many tokens as blocks with the node's; have those that differ read
    again, to repair them. Return the exit code."""
    comparison = token_comparison.TokenComparison(database, node)
    differing: set[bytes] = set()
    for address, line in comparison.differences(most):
        differing.add(address)
        if len(differing) <= MAX_SHOWN:
            print_lines(f"  {line}")
    print_lines(f"tokens that differ: {len(differing)} of {comparison.compared}")
    if comparison.without_state:
        print_lines(f"  not compared: {comparison.without_state}, whose blocks the node has pruned")
    if differing and repair:
        marked = {"addresses": [*differing], "compared": False}
        database.rows("indexer/tokens_mark_changed", **marked)
        print_lines("  the indexer reads them again")
        return EXACT
    return DIFFERS if differing else EXACT
