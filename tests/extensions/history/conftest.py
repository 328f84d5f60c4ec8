"""Responses in Blockscout's form, and what they should have; a chain whose genesis is proven."""

from collections.abc import Iterator
from typing import Any

import pytest
from eth_utils import keccak

from tests.extensions.blockscout.test_responses import ask, truth  # noqa: F401  # fixtures
from tests.support.anvil import Anvil
from tests.support.chain_forms.encoding import HEADER_FIELDS
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing
from tests.support.rehashed_chain import RehashedChain
from tests.support.scenario.stage import STRANGERS


@pytest.fixture
def opened(database_url: str, anvil: Anvil) -> Iterator[tuple[Indexing, FaultyNode, str]]:
    """Two payments of somebody who has coin since genesis, beside a node whose block 0 has the root
    of its state, as other nodes' have and anvil's has not."""
    person = anvil.accounts[0].lower()
    for _ in range(2):
        anvil.send(anvil.accounts[0], STRANGERS[0], value=5)
        anvil.mine()
    proof = anvil.call("eth_getProof", person, [], "0x0")["accountProof"]

    def alter(header: dict[str, Any]) -> None:
        if header["number"] == "0x0":
            header["stateRoot"] = "0x" + keccak(hexstr=proof[0]).hex()

    with FaultyNode(anvil.url) as node:
        node.fault = RehashedChain(anvil, alter, HEADER_FIELDS)
        with Indexing(database_url, node.url, until=anvil.head()) as indexing:
            yield indexing, node, person
