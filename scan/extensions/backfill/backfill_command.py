"""`scan backfill chain`: a whole chain into an empty index, in bulk."""

import argparse
import os
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from scan.audit.block_comparison import Check, NodeComparison
from scan.commands import long_work
from scan.commands.arguments import add_actions, add_command, count, setting_type, whole_number
from scan.contracts.account_state import node_of_index
from scan.database.transaction import Transaction
from scan.errors import ScanError, install_extra
from scan.ethereum import client, node_errors
from scan.extensions.backfill import body_backfill, command_options, trace_backfill
from scan.extensions.backfill.plan import CannotBackfill, CannotBegin
from scan.extensions.backfill.resources import GB, Cluster, Resources, total_bytes
from scan.indexer import node_reader
from scan.indexer.chain_identity import WrongLogs
from scan.observability.logs import print_lines
from scan.setting_kinds import existing_file
from scan.settings import Settings

if TYPE_CHECKING:  # which needs the packages of scan[bulk]
    from scan.extensions.backfill.history_source import ChainFiles

REFUSED = 3  # with --automatic: it cannot begin, so the indexer indexes block after block
PACKAGES = ("duckdb", "pyarrow", "numpy", "pebble")
INSTALL = install_extra("bulk")
AUDITED_BLOCKS = 100
MAX_DIFFERENCES = 5  # after which the comparison ends
COMPARISON_PATIENCE_S = 60.0  # with a node that fails, in the transaction that ends the backfill
FAILURES = (*node_errors.RETRIED, CannotBackfill, WrongLogs, OSError)  # which a run reports

CHAIN = """\
Indexes a whole chain into an empty database in bulk: many processes fetch blocks into files, which
are then loaded table by table, indexes last. Needs the extra `bulk`, and no running
indexer. The result is what the indexer would have made, and the indexer continues from it. Blocks
are shown when all is done. After an interruption, the next run continues. See docs/growing.md."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    text = "index a whole chain into an empty database, in bulk"
    actions = add_actions(group)
    chain = add_command(actions, "chain", text, CHAIN, run)
    trace_backfill.add_arguments(actions)
    body_backfill.add_arguments(actions)
    add = chain.add_argument
    add("--folder", help="for its files; default SCAN_DATA_DIR/bulk")
    add("--workers", type=count, default=os.cpu_count(), help="processes that fetch")
    add("--memory", type=count, metavar="GB", help="default: a quarter of all")
    at_once = "tables or partitions loaded at the same time (2)"
    add("--tables-at-once", type=count, default=2, help=at_once)
    add("--range-blocks", type=count, default=500, help="most blocks in one file (500)")
    last = "default: SCAN_FINALITY blocks behind the node's head"
    add("--last-block", type=whole_number, help=last)
    scheduler = "a Dask scheduler whose workers fetch: tls://host:8786"
    add("--cluster", metavar="ADDRESS", help=scheduler)
    add("--files", metavar="URI", help="where its workers write: a shared folder, or s3://…")
    for option in ("--tls-ca-file", "--tls-cert", "--tls-key"):
        file = setting_type(existing_file)
        add(option, type=file, metavar="FILE", help="for tls://, as Dask's own")
    believe = "take senders from the node instead of signatures; blocks are marked as not proven"
    add("--believe-senders", action="store_true", help=believe)
    command_options.add_arguments(chain)
    add("--automatic", action="store_true", help=argparse.SUPPRESS)  # run by the indexer
    add("--discard", action="store_true", help="end an unfinished backfill; empties the index")


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE if the backfill completed or was discarded, NOT_DONE if it was stopped or failed
    and can be continued, REFUSED if --automatic cannot begin."""
    try:
        from scan.extensions.backfill.chain_backfill import ChainBackfill
        from scan.extensions.backfill.warehouse import WarehouseError
    except ImportError as error:
        raise _extra_missing("bulk", error.name) from None
    if options.cluster and find_spec("distributed") is None:
        raise _extra_missing("cluster", "distributed")
    try:
        resources = _resources(options)
    except CannotBackfill as error:
        long_work.write_line(str(error))
        return long_work.NOT_DONE

    def report(reason: str) -> None:
        long_work.report(reason)
        _print_for_indexer(options, reason)

    with long_work.begun(
        settings,
        "scan-backfill",
        (*FAILURES, WarehouseError),
        session={
            "maintenance_work_mem": f"{resources.index_bytes // 1024}kB",
            # Files do not repeat what was committed: a crash of the server must lose no commit.
            "synchronous_commit": "on",
        },
        # With --automatic, SIGTERM ends the process at once, as SIGKILL may.
        ends_by_signals=not options.automatic,
        report=report,
    ) as (settings, database, stop):
        node = node_of_index(settings)
        history = None if options.discard else command_options.open_history(settings, options)
        audit = partial(_differences, node, settings, history)
        backfill = ChainBackfill(settings, database, node, resources, audit, stop, history)
        if options.discard:
            backfill.discard()
            long_work.write_line("the bulk backfill is discarded")
            return long_work.DONE
        folder = Path(options.folder or settings.data_dir / "bulk").absolute()
        try:
            plan = backfill.begin(folder, options.range_blocks, options.last_block)
        except CannotBegin as error:
            long_work.write_line(str(error))
            _print_for_indexer(options, str(error))
            return REFUSED if options.automatic else long_work.NOT_DONE
        long_work.write_line(backfill.requirements.describe(plan))
        if backfill.run():
            last = plan.last_block
            long_work.write_line(f"indexed up to block {last}; `scan index` follows the node")
            return long_work.DONE
        report("stopped")
    return long_work.NOT_DONE


def _extra_missing(extra: str, package: str | None) -> ScanError:
    reason = f"this needs the extra `{extra}` ({package} is not installed)"
    return ScanError(f"{reason}: {install_extra(extra)}")


def _resources(options: argparse.Namespace) -> Resources:
    """Return what a run may use by its options, by default a quarter of the memory. Raises
    CannotBackfill where they name no cluster that can be used."""
    memory_bytes = options.memory * GB if options.memory else total_bytes() // 4 or GB
    cluster = None
    if options.cluster or options.files:
        certificates = options.tls_ca_file, options.tls_cert, options.tls_key
        cluster = Cluster.of(options.cluster or "", options.files or "", certificates)
    return Resources(
        options.workers,
        memory_bytes,
        threads=len(os.sched_getaffinity(0)),
        tables_at_once=options.tables_at_once,
        index_bytes=min(memory_bytes // 8, 2 * GB),
        cluster=cluster,
        computes_senders=not options.believe_senders,
    )


def _print_for_indexer(options: argparse.Namespace, reason: str) -> None:
    """With --automatic, print why the backfill ended, which is its only output on stdout."""
    if options.automatic:
        print_lines(reason)


def _differences(
    node: client.Node, settings: Settings, history: "ChainFiles | None", tx: Transaction
) -> list[tuple[str, int, int]]:
    """Compare a sample of blocks with the node's, in the transaction that makes them visible.
    Return each difference as a line, with the first and last of the blocks that were compared."""
    # Checking takes most of the time: blocks from which proven rows do not differ need none.
    brief, checked = (NodeComparison(tx, node, settings, c) for c in (Check.NONE, Check.REQUIRE))
    retries = node_errors.Retries(COMPARISON_PATIENCE_S)
    differences: list[tuple[str, int, int]] = []
    for first, last in brief.ranges(AUDITED_BLOCKS, _first_comparable(node, history, tx)):
        with suppress(*node_errors.NODE_FAILURES):
            if not any(brief.compare(first, last)):
                continue
        for number in range(first, last + 1):
            lines = retries.run(lambda: [*checked.compare(number, number)])  # noqa: B023, called here
            differences += [(line, first, last) for line in lines]
        if len(differences) >= MAX_DIFFERENCES:
            break
    return differences


def _first_comparable(node: client.Node, history: "ChainFiles | None", tx: Transaction) -> int:
    """Return the first block that the node has to be compared with: with history from elsewhere, it
    may have dropped the oldest ones."""
    if history is None:
        return 0
    first, last = tx.row("audit/blocks_get_ends") or (0, 0)
    if node_reader.is_kept(node, max(first, 1)):
        return int(first)
    return node_reader.first_kept(node, first, last) or last + 1
