"""An explorer without contracts that builds would verify."""

import pytest


@pytest.fixture
def running(explorer):
    """Without the contracts of other tests, which builds of the same code would verify again."""
    explorer.execute("DELETE FROM built_abis")
    explorer.execute("DELETE FROM verified_contracts")
    explorer.execute("DELETE FROM contracts")
    yield explorer
