"""Blocks of proof of work, with uncles."""

from collections import namedtuple

import pytest

from tests.support import faulty_node, indexing, mined_chain
from tests.support.anvil import Anvil
from tests.support.kept_answers import kept_answers

TRAP = f"0x{0xDEAD:040x}"  # fails whoever calls it
PAYER = f"0x{0xFA:040x}"  # sends all that it gets on
POOR = f"0x{0xAA:040x}"
MINERS = [f"0x{n:02x}" + "11" * 19 for n in (1, 2)]
UNCLE_MINERS = [f"0x{n:02x}" + "22" * 19 for n in (1, 2)]
UNCLES = {4: [(1, UNCLE_MINERS[0])], 6: [(2, UNCLE_MINERS[0]), (1, UNCLE_MINERS[1])]}
BLOCKS = 8


# `failed` are hashes of transactions.
Mined = namedtuple("Mined", "node chain url client failed")


@pytest.fixture(scope="module")
def mined(shared_database_url, tmp_path_factory):
    url = shared_database_url
    with (
        Anvil("--chain-id", "1", hardfork="homestead") as anvil,
        faulty_node.FaultyNode(anvil.url, faulty_node.no_development) as of_mainnet,
        faulty_node.FaultyNode(of_mainnet.url) as node,
        kept_answers(node.url, tmp_path_factory.mktemp("answers")),
    ):
        anvil.call("anvil_setCode", TRAP, "0xfe")
        anvil.call("anvil_setCode", PAYER, f"0x60006000600060003473{POOR[2:]}61c350f100")
        one, two, three, four, *_ = anvil.accounts
        failed = []
        for number in range(1, BLOCKS):
            anvil.call("anvil_setCoinbase", MINERS[number % 2])
            failed.append(anvil.send(one, TRAP, value=number, gasPrice=10**10))
            anvil.send(two, PAYER, value=number, gasPrice=10**10)
            anvil.send(three, POOR, value=number, gasPrice=10**10)
            failed.append(anvil.send(four, None, data="0xfe", value=7, gasPrice=10**10))
            anvil.mine()
        anvil.mine()
        node.fault = chain = mined_chain.MinedChain(anvil, UNCLES, BLOCKS)
        client = indexing.Indexing(url, node.url).run_until(BLOCKS).client()
        yield Mined(node, chain, url, client, failed)
