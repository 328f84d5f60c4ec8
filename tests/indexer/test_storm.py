"""Whatever happens on the way, the tables equal a fresh index of the chain that won."""

import os

import pytest

from tests.support import faulty_node, table_digest
from tests.support.indexer_process import IndexerProcess
from tests.support.storm import Storm

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("faults", "logs"),
    [(0.0, "none"), (0.02, "all")],
    ids=["an honest node", "a failing node and all logs"],
)
def test_forks_and_kills_leave_what_a_fresh_index_has(
    postgres, template, database_url, anvil, faults, logs
):
    seed = int(os.environ.get("STORM_SEED", "1"))
    storm = Storm(anvil, seed)
    steps = 120
    with (
        faulty_node.FaultyNode(anvil.url, seed=seed, rate=faults) as node,
        IndexerProcess(database_url, node.url if faults else anvil.url, SCAN_LOGS=logs) as indexer,
    ):
        try:
            storm.blow(indexer, steps)
        finally:  # pytest shows it where the test fails
            print(f"STORM_SEED={seed}", storm.steps, indexer.tail(), sep="\n")
    expected = table_digest.fresh_digest(postgres, template, anvil, logs=logs)
    assert table_digest.digest(database_url) == expected, f"STORM_SEED={seed}: {storm.steps}"
