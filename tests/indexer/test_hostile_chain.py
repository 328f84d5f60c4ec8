"""Blocks made to take the indexer's memory: it stays below 400 MiB, and goes on."""

import pytest

from tests.support.anvil import Anvil
from tests.support.database import execute
from tests.support.indexer_process import IndexerProcess
from tests.support.memory import PeakMemory

pytestmark = pytest.mark.long


# Of contracts, what is called with which arguments; without calls, large input.
@pytest.mark.parametrize(
    ("attack", "calls"),
    [
        # The first needs more gas than a call is given.
        ("huge answers", [("Factory", "makeHugeAnswers", 80, n) for n in (1_200_000, 650_000)]),
        # Each is small enough to be read, all of them are not.
        ("large answers", [("Factory", "makeHugeAnswers", 300, 60_000)]),
        ("many calls", [("ManyCalls", "callItself", 20_000, 0)]),
        ("large calls", [("ManyCalls", "callItself", 300, 100_000)]),  # a trace of 120 MB
        ("deep calls", [("ManyCalls", "nest", 1_000)]),
        ("many logs", [("ManyLogs", "emitEmpty", 40_000)]),
        ("large logs", [("ManyLogs", "emitData", 12, 1_000_000)]),
        ("many transfers", [("ManyLogs", "emitTransfers", 40_000)]),
        ("large input", []),
    ],
)
def test_a_hostile_block_is_indexed_in_little_memory(database_url, attack, calls):
    gas = 500_000_000  # blocks as large as any chain's, several times over
    with Anvil("--gas-limit", str(gas), "--no-request-size-limit") as anvil:
        sender, recipient, *_ = anvil.accounts
        # Each is of a new contract, in a block of its own.
        for name, function, *arguments in calls:
            contract = anvil.deploy(sender, name)
            sent = anvil.transact(sender, contract, function, *arguments, gas=gas - 1)
            assert anvil.receipt_of(sent)["status"] == "0x1"
        for _ in range(16 if attack == "large input" else 0):  # anvil takes 2 MB in a request
            anvil.send(sender, recipient, data="0x" + "00" * 900_000, gas=gas // 32)
        anvil.mine()
        anvil.send(sender, recipient, value=1)
        anvil.mine()
        with IndexerProcess(database_url, anvil.url) as indexer, PeakMemory(indexer.pid) as memory:
            newest = anvil.call("eth_getBlockByNumber", "latest", False)
            try:
                indexer.wait_for(int(newest["number"], 16), newest["hash"])
            finally:
                print(attack, memory.mebibytes, "MiB")
    most_mebibytes = 400
    assert memory.mebibytes < most_mebibytes
    assert execute(database_url, "SELECT max(length(name)) FROM tokens") in ([(0,)], [(None,)])
