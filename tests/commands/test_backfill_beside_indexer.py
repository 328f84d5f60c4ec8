"""`scan backfill fields` beside an indexer that follows forks fills in the chain that won."""

import subprocess
import sys
from random import Random

import pytest

from scan.settings import Settings, child_environment
from tests.support import forked_python
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.forked_python import Forked
from tests.support.indexer_process import IndexerProcess
from tests.support.table_digest import digest, fresh_digest

COMMAND = [sys.executable, "-m", "tests.support.later_columns", "backfill", "fields"]
BLOCKS, PER_BLOCK = 24, 120  # more transactions than a write of the backfill takes
DEEPEST = 20
# Columns that nothing is derived from; the indexer writes them meanwhile.
EMPTY = (
    "UPDATE blocks SET size = NULL",
    "UPDATE transactions SET nonce = NULL, method = NULL, blob_versioned_hashes = NULL",
)
UNFILLED = (
    "SELECT (SELECT count(*) FROM transactions WHERE nonce IS NULL)"
    " + (SELECT count(*) FROM blocks WHERE size IS NULL)"
)


def make_chain(anvil: Anvil) -> None:
    for _ in range(BLOCKS):
        payments = [
            {"from": anvil.accounts[n % 10], "to": anvil.accounts[(n + 1) % 10], "value": hex(n)}
            for n in range(PER_BLOCK)
        ]
        anvil.batch([("eth_sendTransaction", [payment]) for payment in payments])
        anvil.mine()


def wait_for_head(indexer: IndexerProcess, anvil: Anvil) -> None:
    block = anvil.call("eth_getBlockByNumber", "latest", False)
    indexer.wait_for(int(block["number"], 16), block["hash"])


def fork(anvil: Anvil, random: Random) -> None:
    """The newest blocks replaced by as many others, in which some transactions are, some not."""
    depth = random.randint(1, DEEPEST)
    payment = {"from": anvil.accounts[0], "to": anvil.accounts[1], "value": hex(depth)}
    anvil.reorganise(depth, [(payment, random.randrange(depth))])
    for number in range(random.randint(0, 5)):
        anvil.send(anvil.accounts[2], anvil.accounts[3], value=number)
    anvil.mine()


@pytest.mark.long
def test_rows_filled_during_forks_equal_those_indexed_anew(
    postgres: Postgres, template: str, database_url: str, anvil: Anvil
) -> None:
    random = Random(1)
    make_chain(anvil)
    environment = child_environment(Settings(database_url=database_url, rpc_urls=(anvil.url,)))
    forks = 0
    with IndexerProcess(database_url, anvil.url) as indexer:
        for _ in range(3):
            wait_for_head(indexer, anvil)
            for statement in EMPTY:
                execute(database_url, statement)
            filling = Forked(COMMAND, env=environment, stderr=subprocess.PIPE, text=True)
            while filling.poll() is None:
                fork(anvil, random)
                forks += 1
            assert filling.returncode in (0, 1), filling.communicate()[1]
            filling.communicate()
        wait_for_head(indexer, anvil)
        assert forked_python.run(COMMAND, env=environment).returncode == 0
        assert execute(database_url, UNFILLED) == [(0,)]
    assert forks > 3
    assert digest(database_url) == fresh_digest(postgres, template, anvil)
