"""Credits of the OP Stack in exports."""

import csv
from contextlib import closing

from scan.database.connection import Database
from scan.extensions.chains.tests.rollup import rollup
from scan.extensions.exports.table_export import ExportOptions, export
from tests.support.database import execute

__all__ = ["rollup"]


def test_an_export_has_the_credits(rollup, tmp_path):
    with closing(Database(rollup.url, statement_timeout_ms=10_000)) as database:
        export(database, ExportOptions(("credits",), "csv", tmp_path, 5, None, None))
    files = sorted((tmp_path / "credits").iterdir())
    rows = [tuple(row.values()) for file in files for row in csv.DictReader(file.open(newline=""))]
    stored = execute(
        rollup.url,
        "SELECT ordinal::text, block_number::text, coalesce(transaction_index::text, ''),"
        " type::text, hex(address), amount_wei::text FROM credits c ORDER BY c.ordinal",
    )
    assert rows == stored
    minted = sum(int(amount) for *_, type_, _, amount in rows if type_ == "0")
    assert minted == sum(mint for _, mint in rollup.deposits.values()) > 0
