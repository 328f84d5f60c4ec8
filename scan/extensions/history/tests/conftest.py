"""Histories that tests compare, and blocks that tests make."""

import pytest

from scan.extensions.history.tests.rows import Made, history
from tests.support.indexing import client_over
from tests.support.scenario.stage import MINERS, STRANGERS


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
