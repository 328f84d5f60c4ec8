"""One chain of signed transactions for all files of this room."""

import pytest

from scan.extensions.backfill.tests.history_files import signed_chain
from tests.support.anvil import Anvil
from tests.support.faulty_node import FaultyNode


@pytest.fixture(scope="package")
def signed():
    with Anvil() as anvil:
        signed_chain.play(anvil)
        yield anvil


@pytest.fixture(scope="module")
def node(signed):
    with FaultyNode(signed.url, signed_chain.sized()) as proxy:
        yield proxy
