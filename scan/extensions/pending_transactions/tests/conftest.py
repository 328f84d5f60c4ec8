"""A node whose blocks are mined when a test says so."""

import pytest


@pytest.fixture
def sending(explorer):
    """What is sent to it waits in its pool; at the end it is mined and indexed."""
    explorer.anvil.call("evm_setAutomine", False)
    yield explorer.anvil
    explorer.anvil.call("evm_setAutomine", True)
    explorer.anvil.mine()
    explorer.wait_for_block(explorer.head)
