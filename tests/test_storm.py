"""Whatever happens on the way, the tables equal a fresh index of the chain that won."""

import os

from tests.chain import Anvil
from tests.database import Postgres
from tests.digest import digest, fresh_digest
from tests.indexer_process import IndexerProcess
from tests.storm import Storm

STEPS = 200
SEED = int(os.environ.get("STORM_SEED", "1"))


def test_forks_and_kills_leave_what_a_fresh_index_has(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil
) -> None:
    storm = Storm(anvil, SEED)
    with IndexerProcess(database_url, anvil.url) as indexer:
        try:
            storm.blow(indexer, STEPS)
        except BaseException:
            print(f"STORM_SEED={SEED}", storm.steps)
            raise
    expected = fresh_digest(postgres, template, anvil)
    assert digest(database_url) == expected, f"STORM_SEED={SEED}: {storm.steps}"
