"""Exports, streams and transfers of items where older rows are removed."""

from contextlib import closing

import pytest
import rlp

from scan.database.connection import Database
from scan.errors import PositionLost
from scan.ethereum.stored_blocks import stored_body
from scan.extensions.exports.table_export import ExportOptions, export
from scan.extensions.retention.tests.forty_days import followed, forty_days
from scan.extensions.retention.tests.removal import pruned, remove, whole_settings
from scan.extensions.streams.block_events import TYPES, OrphanedEvents, Position, read_next
from tests.support import indexing
from tests.support.database import execute, insert
from tests.support.made_blocks import address

pytestmark = pytest.mark.thorough

__all__ = ["followed", "forty_days", "pruned", "whole_settings"]


def test_exports_begin_at_the_first_kept_block(pruned, tmp_path):
    options = ExportOptions(("blocks", "transactions"), "csv", tmp_path, 10**6, None, None)
    with closing(Database(pruned.settings.database_url, statement_timeout_ms=0)) as database:
        [only] = export(database, options).ranges
    assert only.block_from == pruned.first


def test_transactions_stay_by_logs_that_have_no_rows_and_by_who_approves(database_url):
    """In the second transaction of each block: a log of a kept contract, where a block is stored,
    damaged, and not stored; an approval of a kept owner, which a relayer sent."""
    owner = address("owner")
    receipts = [rlp.encode([b"\2", b"\1", b"\1", [[owner, [], b""]] * logs]) for logs in range(2)]
    body = stored_body([rlp.encode([b"\1"] * 9)] * 2, receipts)
    insert(database_url, "chain", chain_id=1, stored_logs="standard")
    insert(database_url, "kept_addresses", address=owner)
    execute(database_url, "SELECT add_partition('block_bodies', 0, 9), add_partition('logs', 0, 9)")
    for number in range(5):
        counts = {"transaction_count": 2, "transactions_before": 2 * number}
        logs = {"log_count": 1, "logs_before": number}
        insert(database_url, "blocks", number=number, hash=bytes([number]), **counts, **logs)
    for number, digest in ((0, body.digest), (1, bytes(16))):
        stored = {"digest": digest, "body": body.body}
        insert(database_url, "block_bodies", block_number=number, **stored)
    for number in range(3):
        insert(database_url, "log_emitters", address=owner, block_number=number)
    topics = {"topic_id": -1, "topics": bytes(12) + owner + bytes(32)}
    position = {"ordinal": 3, "block_number": 3, "transaction_index": 1}
    insert(database_url, "logs", address=address("token"), **position, **topics)
    remove(database_url, 4)
    kept = "SELECT block_number::int, transaction_index FROM kept_transactions ORDER BY 1, 2"
    assert execute(database_url, kept) == [(0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1)]


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


def test_the_transfers_of_an_item_begin_with_the_first_kept(clone, indexed_template, scenario):
    transfers = scenario.truth.token_transfers[::-1]
    blocks = [transfer["blockNumber"] for transfer in transfers]
    last_of_blocks = (t for n, t in enumerate(transfers) if blocks.index(t["blockNumber"]) == n)
    kept = next(t for t in last_of_blocks if t["tokenId"] is not None)
    remove(url := clone(indexed_template), kept["blockNumber"])
    path = f"/api/v1/tokens/{kept['tokenAddress']}/items/{kept['tokenId']}/transfers"
    oldest = indexing.client_over(url).get(path).json["transfers"][-1]
    expected = (kept["transactionHash"], kept["logIndex"])
    assert (oldest["transactionHash"], oldest["logIndex"]) == expected
