"""A bulk backfill's tables are those of the sequential indexer, by their digests."""

import os
from functools import partial

import pytest

from scan.ethereum import client
from scan.extensions.backfill import backfill_command, derivation
from scan.extensions.backfill.tests.backfilling import backfill, follow
from scan.indexer.partitions import DEFAULT_ROWS
from tests.support import auditing, database, indexing, lying_node, table_digest


# Derived in parts of the addresses, or all at once; traced blocks are decoded one by one, others in
# columns. The first case in partitions.
@pytest.mark.parametrize(
    ("traces", "logs", "buckets", "partition_rows"),
    [
        ("auto", "all", 4, 100),
        pytest.param("off", "all", 1, DEFAULT_ROWS, marks=pytest.mark.long),
        pytest.param("off", "standard", 1, DEFAULT_ROWS, marks=pytest.mark.long),
    ],
)
def test_tables_are_those_of_the_indexer(
    postgres,
    template,
    database_url,
    scenario,
    tmp_path,
    monkeypatch,
    traces,
    logs,
    buckets,
    partition_rows,
):
    monkeypatch.setattr(derivation, "buckets_for", lambda *_: buckets)
    head = scenario.anvil.head()
    settings = indexing.settings_for(
        database_url, scenario.anvil.url, traces=traces, logs=logs, partition_rows=partition_rows
    )
    assert backfill(settings, tmp_path / "files", last_block=head - 3)
    partitions = database.execute(
        database_url,
        "SELECT count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
        " WHERE inhparent IN ('transactions'::regclass, 'logs'::regclass)",
    )
    assert (partitions >= [(8,)]) == (partition_rows == 100), partitions
    follow(settings, head)
    fresh = table_digest.fresh_digest(postgres, template, scenario.anvil, traces=traces, logs=logs)
    assert table_digest.digest(database_url) == fresh
    assert auditing.run(settings) == auditing.EXACT


@pytest.mark.long
def test_blocks_beside_a_node_that_alters_a_third_of_its_answers_are_the_honest_ones(
    database_url, scenario, scenario_node, indexed, tmp_path
):
    """BULK_SEED=7 alters others."""
    seed = int(os.environ.get("BULK_SEED", "49"))
    print(f"BULK_SEED={seed}")
    head, url = scenario.anvil.head(), indexed.url
    rows = database.execute(url, "SELECT number FROM blocks WHERE unproven IS NOT NULL")
    unproven = [number for (number,) in rows]  # where nothing would show a lie
    scenario_node.fault = liar = lying_node.LyingNode(
        seed, 1 / 3, spared=unproven, methods=lying_node.OF_BLOCKS, truthful=("size",)
    )
    lying = indexing.settings_for(database_url, scenario_node.url)
    audit = partial(backfill_command._differences, client.Node([scenario_node.url]), lying, None)
    assert backfill(lying, tmp_path / "files", last_block=head - 3, audit=audit)
    assert len(liar.told) > head / 3
    follow(indexing.settings_for(database_url, scenario.anvil.url), head)
    assert table_digest.digest(database_url) == table_digest.digest(url)
