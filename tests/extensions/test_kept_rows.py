"""Exports, streams and transfers of items where older rows are removed."""

from contextlib import closing

import pytest

from scan.database.connection import Database
from scan.errors import PositionLost
from scan.extensions.exports.table_export import ExportOptions, export
from scan.extensions.retention.tests.forty_days import followed, forty_days
from scan.extensions.retention.tests.removal import pruned, remove, whole_settings
from scan.extensions.streams.block_events import TYPES, OrphanedEvents, Position, read_next
from tests.support import indexing

pytestmark = pytest.mark.thorough

__all__ = ["followed", "forty_days", "pruned", "whole_settings"]


def test_exports_begin_at_the_first_kept_block(pruned, tmp_path):
    options = ExportOptions(("blocks", "transactions"), "csv", tmp_path, 10**6, None, None)
    with closing(Database(pruned.settings.database_url, statement_timeout_ms=0)) as database:
        [only] = export(database, options).ranges
    assert only.block_from == pruned.first


def test_streams_begin_at_the_first_kept_block(followed):
    with closing(Database(followed.settings.database_url, statement_timeout_ms=0)) as database:
        orphaned = OrphanedEvents(database)
        positions = [
            Position(number, database.value("indexer/blocks_get_hash", number=number), 0)
            for number in (followed.first - 1, followed.first)
        ]
        with pytest.raises(PositionLost):
            read_next(database, positions[0], TYPES, orphaned)
        events = read_next(database, positions[1], TYPES, orphaned).events
        assert [event.type for event in events][:3] == ["heads", "transactions", "transactions"]


def test_the_transfers_of_an_item_begin_with_the_first_kept(postgres, indexed_template, scenario):
    transfers = scenario.truth.token_transfers[::-1]
    blocks = [transfer["blockNumber"] for transfer in transfers]
    kept = next(
        transfer
        for number, transfer in enumerate(transfers)
        if transfer["tokenId"] is not None and blocks.index(transfer["blockNumber"]) == number
    )
    with postgres.cloned(indexed_template) as url:
        remove(url, kept["blockNumber"])
        client = indexing.client_over(url)
        path = f"/api/v1/tokens/{kept['tokenAddress']}/items/{kept['tokenId']}/transfers"
        oldest = client.get(path).json["transfers"][-1]
    expected = (kept["transactionHash"], kept["logIndex"])
    assert (oldest["transactionHash"], oldest["logIndex"]) == expected
