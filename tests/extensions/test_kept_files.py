"""Exports where old rows are removed."""

from contextlib import closing

from scan.database.connection import Database
from scan.extensions.exports.table_export import ExportOptions, export
from scan.extensions.retention.tests.test_retention import pruned

__all__ = ["pruned"]


def test_exports_begin_at_the_first_kept_block(pruned, tmp_path):
    options = ExportOptions(("blocks", "transactions"), "csv", tmp_path, 10**6, None, None)
    with closing(Database(pruned.settings.database_url, statement_timeout_ms=0)) as database:
        [only] = export(database, options).ranges
    assert only.block_from == pruned.first
