"""`scan rebuild`: tables derived again from stored blocks and rows, without a node."""

import argparse
import os
import threading

from scan.audit import derived_tables, rebuild
from scan.commands import audit, long_work
from scan.commands.arguments import count
from scan.database import connection
from scan.errors import SettingError, Unavailable
from scan.indexer import block_rows
from scan.parameters import meant
from scan.settings import Settings

# Tables that no stored block has, and what does.
KEPT = {
    **dict.fromkeys(
        ("contracts", "codes", "contract_changes", "rejected_emitters"),
        "what contracts answered is read from the chain's state: `scan tokens refresh`",
    ),
    "internal_transfers": "traces tell them: `scan backfill traces`",
    **dict.fromkeys(
        ("withdrawals", "uncles", "credits", "orphaned_blocks", "block_bodies"),
        "a stored block does not have what its rows have: `scan audit --node` compares them",
    ),
}


def add_rebuild(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("tables", nargs="*", metavar="TABLE", help="default: all that can be")
    command.add_argument(
        "--missing",
        action="store_true",
        help="rows that disabled extensions missed or a migration left, at low priority",
    )
    command.add_argument(
        "--workers", type=count, default=os.cpu_count(), help="processes that decode blocks"
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE if all is derived, NOT_DONE if the next run has to continue, or cannot."""
    derivable = [*dict.fromkeys((*rebuild.from_blocks(), *derived_tables.DERIVED))]
    for name in options.tables:
        if name in KEPT:
            raise SettingError("TABLE", name, f"cannot be derived: {KEPT[name]}")
        if name not in derivable:
            hint = meant(name, derivable, f"one of {', '.join(derivable)}")
            is_off = "its extension is off" if name in block_rows.TABLES else ""
            raise SettingError("TABLE", name, is_off or f"no table that can be derived: {hint}")
    tables = [*options.tables] or derivable
    failures = rebuild.CannotRebuild, Unavailable
    with long_work.begun(
        settings, "scan-rebuild", failures, session=audit.SESSION, needs_node=False
    ) as (settings, database, stop):
        run_ = rebuild.Rebuild(
            database, settings.database_url, stop, options.workers, settings.partition_rows
        )
        if options.missing:
            long_work.lower_priority()
            run_.request_missing()
        else:
            run_.request(tables, is_optional=not options.tables, logs=settings.logs)
        progress, shown = long_work.Progress(1, ""), ""
        for of_range, done, total in run_.run():
            if of_range != shown:
                progress = long_work.Progress(total, f"{of_range}: derived", done)
                shown = of_range
            progress.show(done)
            if done == total:
                progress.end()
                long_work.write_line(f"{of_range}: derived from {total} blocks")
        if not stop.is_set():
            return long_work.DONE
        long_work.report("stopped")
    return long_work.NOT_DONE


def run_beside(settings: Settings, stop: threading.Event) -> None:
    """Derive beside the indexer what tables lack of stored blocks."""
    before: int | None = -2  # the first stored block at the last look; there was none yet

    def is_needed(database: connection.Database) -> bool:
        nonlocal before
        first, _ = database.row("audit/bodies_get_ends") or (-1, -1)
        # While older blocks are being stored, all of them are waited for.
        is_settled, before = first == before, first
        return is_settled and rebuild.is_needed(database)

    long_work.run_when_needed(settings, stop, is_needed, "rebuild", "--missing", "--workers", "1")
