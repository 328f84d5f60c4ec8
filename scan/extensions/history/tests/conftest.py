"""Histories that tests compare."""

import pytest

from scan.extensions.history.tests.rows import history
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
