"""`scan export`: whole tables as files, for analyses."""

import argparse
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from scan import registry
from scan.commands import startup
from scan.commands.arguments import count, run_of_extensions, whole_number
from scan.database.connection import Database
from scan.errors import ScanError, SettingError, install_extra
from scan.extensions.exports.hooks import Exports
from scan.observability.logs import print_lines
from scan.settings import Settings

STATEMENT_TIMEOUT_MS = 60_000
WATCH_S = 600

DESCRIPTION = """\
Writes whole tables as files, one per table and range of blocks, and a manifest of the ranges with
their hashes. Run again after an interruption, or for newer blocks, it continues; a range that a
fork replaced is exported again. Tables: blocks, transactions, internal_transfers, withdrawals,
token_transfers, dex_trades, logs, credits, uncles, contract_creations, authorizations, blobs,
execution_requests, messages_to_l1, contract_events, user_operations, tokens, or all. Each event of
a followed contract is a table, too, such as events.vault_deposit. Needs the packages of the extra
parquet; see docs/sql.md.

In place of tables, `history` writes the blocks themselves as ere files; see docs/growing.md.

`iceberg WAREHOUSE [TABLE...]` appends final blocks to tables of Apache Iceberg, in a folder or in a
storage such as s3://bucket/path; see docs/growing.md. Needs the packages of the extra iceberg."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=run)
    command.add_argument("tables", nargs="+", metavar="TABLE", help="a table, or all")
    command.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    command.add_argument("--output", type=Path, metavar="DIR", help="a folder, for all but iceberg")
    command.add_argument(
        "--catalog",
        metavar="URI",
        help="with iceberg: sqlite:///FILE, or https://… of a REST catalog",
    )
    command.add_argument(
        "--watch",
        type=count,
        nargs="?",
        const=WATCH_S,
        metavar="SECONDS",
        help=f"with iceberg: repeat, SECONDS after each run; {WATCH_S} by default",
    )
    command.add_argument(
        "--limbs",
        action="store_true",
        help="in Parquet files, integers of 256 bits as four unsigned ones of 64",
    )
    command.add_argument(
        "--blocks-per-file", type=count, default=10_000, metavar="N", help="10000 by default"
    )
    block: Any = {"type": whole_number, "metavar": "BLOCK"}
    command.add_argument("--from", dest="block_from", help="the first block", **block)
    command.add_argument("--to", dest="block_to", help="the last block", **block)


def run(settings: Settings, options: argparse.Namespace) -> int:
    is_iceberg = options.tables[0] == "iceberg"
    if len(options.tables) < 2 if is_iceberg else options.output is None:
        raise SettingError("WAREHOUSE" if is_iceberg else "--output", "", "is required")
    if not is_iceberg and (options.catalog or options.watch):
        raise SettingError("TABLE", options.tables[0], "has no --catalog or --watch; iceberg has")
    if (code := run_of_extensions("export", settings, options)) is not None:
        return code
    try:
        from scan.extensions.exports.table_export import export

        if is_iceberg:
            from scan.extensions.exports import iceberg
    except ImportError as error:
        extra = install_extra("iceberg" if is_iceberg else "parquet")
        raise ScanError(f"{error.name} is not installed: {extra}") from None
    startup.require_order(options.block_from, options.block_to)
    url = startup.settings_with_database(settings).read_database_url
    database = Database(url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-export")
    with closing(database):
        if is_iceberg:
            _, warehouse, *names = options.tables
            options.format, options.limbs = "parquet", False  # no other is Iceberg's
            read_options = partial(_export_options, database, options, names or ["all"])
            return iceberg.run(database, warehouse, options, read_options, settings.finality)
        try:
            manifest = export(database, _export_options(database, options, options.tables))
        except OSError as error:
            raise ScanError(f"{error.filename or options.output}: {error.strerror}") from None
    files = manifest.files()
    rows = sum(file.rows for file in files)
    size = sum(file.bytes for file in files)
    blocks = f"{manifest.block_from} to {manifest.next_block() - 1}"
    print_lines(f"{rows:,} rows, {size:,} bytes, {len(files)} files, blocks {blocks}")
    return 0


def _export_options(database: Database, options: argparse.Namespace, names: list[str]) -> Any:
    """Return the ExportOptions of tables with these names; raises SettingError."""
    from scan.extensions.exports.table_export import ExportOptions
    from scan.extensions.exports.table_files import TABLES

    others = {*names} - {*TABLES, "all"}
    tables = [t for t in TABLES if t in names or "all" in names]
    added = registry.merged(
        part.tables(database, others) for part in registry.parts(Exports) if part.tables
    )
    if unknown := sorted(others - added.keys()):
        known = f"there are: {', '.join(TABLES)}, or all"
        raise SettingError("TABLE", unknown[0], f"is unknown; {known}")
    bounds = options.blocks_per_file, options.block_from, options.block_to
    return ExportOptions(
        [*tables, *sorted(added)], options.format, options.output, *bounds, added, options.limbs
    )
