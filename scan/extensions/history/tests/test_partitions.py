"""Histories over several partitions."""

from dataclasses import replace

import pytest

from bench.cases import HOT
from tests.api.test_partitions import partitioned, plain, received_by_another, sides

__all__ = ["partitioned", "plain", "sides"]


@pytest.mark.parametrize(
    ("type_", "table", "counter"),
    [
        ("fee", "transactions", "coin_received_count"),
        ("internal_transfer", "internal_transfers", "internal_received_count"),
        ("token_transfer", "token_transfers", "transfer_received_count"),
    ],
)
def test_a_page_of_history_reaches_the_checkpoint_that_bounds_it(
    sides, tmp_path, monkeypatch, type_, table, counter
):
    """Pages of a file, the second of which ends two entries before a checkpoint of its one list."""
    monkeypatch.setattr("scan.extensions.exports.list_files.PAGE_ROWS", 127)
    monkeypatch.setattr("scan.extensions.exports.list_files.MAX_FILE_ROWS", 254)
    path = f"/api/v1/addresses/{HOT}/history?orderBy=asc&types={type_}&format=ndjson"
    files = []
    for side in sides:
        services = side.client.application.extensions["scan"]
        kept_here = replace(services, settings=replace(services.settings, data_dir=tmp_path))
        monkeypatch.setitem(side.client.application.extensions, "scan", kept_here)
        with received_by_another(side.url, table, counter):
            files.append(side.client.get(path, buffered=True).data.splitlines())
    assert files[0] == files[1] and len(files[0]) == 254
