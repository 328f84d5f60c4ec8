"""Responses in Blockscout's form, and what they should have; a chain whose genesis is proven."""

from contextlib import suppress

import pytest
from eth_utils import keccak

from scan.extensions.history.tests.rows import Made, history
from tests.support.chain_forms.encoding import HEADER_FIELDS
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing, client_over
from tests.support.rehashed_chain import RehashedChain
from tests.support.scenario.stage import MINERS, STRANGERS

with suppress(ModuleNotFoundError):  # where that extension is taken away
    from scan.extensions.blockscout.tests.asking import ask  # noqa: F401  # a fixture


@pytest.fixture
def opened(database_url, anvil):
    """Two payments of somebody who has coin since genesis, beside a node whose block 0 has the root
    of its state, as other nodes' have and anvil's has not."""
    person = anvil.accounts[0].lower()
    for _ in range(2):
        anvil.send(anvil.accounts[0], STRANGERS[0], value=5)
        anvil.mine()
    proof = anvil.call("eth_getProof", person, [], "0x0")["accountProof"]

    def alter(header):
        if header["number"] == "0x0":
            header["stateRoot"] = "0x" + keccak(hexstr=proof[0]).hex()

    with (
        FaultyNode(anvil.url, RehashedChain(anvil, alter, HEADER_FIELDS)) as node,
        Indexing(database_url, node.url, until=anvil.head()) as indexing,
    ):
        yield indexing, node, person


@pytest.fixture(scope="session")
def histories(client, scenario):
    """Whole ones, newest first, of everybody in the scenario and of its contracts, in pages of
    such a size that some of them end within a transaction."""
    stage = scenario.stage
    contracts = [contract.address for contract in stage.contracts.values()]
    pools = [pool.address for pool in stage.pools.values()]
    everybody = (*stage.people, *STRANGERS, *MINERS, *contracts, *pools, "0x" + 40 * "0")
    return {key: history(client, key, 23) for key in dict.fromkeys(map(str.lower, everybody))}


@pytest.fixture
def made(database_url, chain):
    """Blocks that the test makes, which no node knows."""
    chain.append()
    return Made(chain, client_over(database_url))
