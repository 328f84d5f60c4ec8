"""Credits of the OP Stack in bulk and in exports."""

import csv

import pytest

from scan.database.connection import Database
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.extensions.chains.tests.rollup import rollup
from scan.extensions.exports.table_export import ExportOptions, export
from tests.support import auditing, indexing, table_digest
from tests.support.database import execute

__all__ = ["rollup"]


def test_an_export_has_the_credits(rollup, tmp_path):
    database = Database(rollup.url, statement_timeout_ms=10_000)
    export(database, ExportOptions(("credits",), "csv", tmp_path, 5, None, None))
    files = sorted((tmp_path / "credits").iterdir())
    rows = [row for file in files for row in csv.DictReader(file.open(newline=""))]
    stored = execute(
        rollup.url,
        "SELECT ordinal, block_number, transaction_index, type, address, amount_wei FROM credits"
        " ORDER BY ordinal",
    )
    assert [tuple(row.values()) for row in rows] == [
        (*(("" if v is None else str(v)) for v in row[:4]), f"0x{row[4].hex()}", str(row[5]))
        for row in stored
    ]
    minted = sum(int(row["amount_wei"]) for row in rows if row["type"] == "0")
    assert minted == sum(mint for _, mint in rollup.deposits.values()) > 0


@pytest.mark.long
def test_bulk_and_forks_have_the_same_credits(rollup, postgres, template, tmp_path, capsys):
    node, head = rollup.node, rollup.node.head()
    assert auditing.run(indexing.settings_for(rollup.url, node.url), node=True) == 0
    assert "of type" not in capsys.readouterr().out
    with postgres.cloned(template) as url:
        settings = indexing.settings_for(url, node.url)
        assert backfill(settings, tmp_path / "files", last_block=head - 3)
        follow(settings, head)
        assert table_digest.digest(url) == table_digest.digest(rollup.url)
        node.reorganise(4)
        node.mine()
        follow(settings, head + 1)
        assert table_digest.digest(url) == table_digest.fresh_digest(postgres, template, node)
