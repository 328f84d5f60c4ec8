"""`scan export`: whole tables as files, for analyses."""

import argparse

from scan.commands.startup import require_order, with_running_database
from scan.database.connection import Database
from scan.errors import ScanError
from scan.settings import Settings

STATEMENT_TIMEOUT_MS = 60_000


def run(settings: Settings, options: argparse.Namespace) -> int:
    try:
        from scan.exports.table_export import ExportOptions, export
        from scan.exports.table_rows import TABLES
    except ImportError as error:
        raise ScanError(f"{error.name} is not installed: pip install 'scan[parquet]'.") from None
    require_order(options.block_from, options.block_to)
    unknown = sorted(set(options.tables) - {*TABLES, "all"})
    if unknown:
        raise ScanError(f"unknown table {unknown[0]}; there are: {', '.join(TABLES)}, or all.")
    tables = TABLES if "all" in options.tables else [t for t in TABLES if t in options.tables]
    url = with_running_database(settings).read_database_url
    database = Database(url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-export")
    try:
        manifest = export(
            database,
            ExportOptions(
                tables,
                options.format,
                options.output,
                options.blocks_per_file,
                options.block_from,
                options.block_to,
            ),
        )
    except OSError as error:
        raise ScanError(f"{error.filename or options.output}: {error.strerror}") from None
    files = manifest.files()
    last = manifest.next_block() - 1
    print(
        f"{sum(file.rows for file in files):,} rows, {sum(file.bytes for file in files):,} bytes,"
        f" {len(files)} files, blocks {manifest.block_from} to {last}"
    )
    return 0
