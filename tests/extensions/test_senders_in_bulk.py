"""False senders of a recorded chain in bulk."""

import pytest

from scan.ethereum import client, transaction_checks
from scan.extensions.backfill.tests.backfilling import backfill
from scan.extensions.demo.tests.test_computed_senders import BOTH, chain
from scan.indexer.block_source import BlockSource
from tests.support import database, faulty_node, indexing

pytestmark = pytest.mark.thorough

__all__ = ["chain"]


def test_bulk_refuses_a_false_sender_and_says_where_it_believes_one(chain, database_url, tmp_path):
    with faulty_node.FaultyNode(chain.url, BOTH) as node:
        settings = indexing.settings_for(database_url, node.url)
        backfill(settings, tmp_path / "files", last_block=3, computes_senders=False)
    blocks = database.execute(database_url, "SELECT number, unproven FROM blocks ORDER BY number")
    assert blocks == [(0, None), *((number, transaction_checks.SENDERS) for number in (1, 2, 3))]
    source = BlockSource(client.Node([chain.url]))
    believing = BlockSource(client.Node([chain.url]), computes_senders=False)
    for true, believed in zip(source.blocks(1, 3), believing.blocks(1, 3), strict=True):
        assert believed.block == true.block._replace(unproven=transaction_checks.SENDERS)
