"""A chain of `anvil --celo`: the precompile by which Celo's token moves the coin."""

import random
from collections import namedtuple

import pytest

from scan.extensions.chains.tests.rollup import SIGNS, balance_of
from tests.support.anvil import GAS, Anvil
from tests.support.database import execute
from tests.support.indexing import Indexing

PRECOMPILE = f"0x{0xFD:040x}"
FORWARDER, REVERTING = f"0x{0xF0:040x}", f"0x{0xF1:040x}"
# They call the precompile with their own input; the second one undoes it.
FORWARD = "0x366000600037600060003660006000" + "60fd5af1"
CODES = {FORWARDER: FORWARD + "00", REVERTING: FORWARD + "60006000fd"}
SEED, BLOCKS = 11, 12


Chain = namedtuple("Chain", "node url client")


def play(node):
    """Blocks at random; everybody may call anvil's precompile for everybody."""
    choice = random.Random(SEED)
    for address, code in CODES.items():
        node.call("anvil_setCode", address, code)
    people = [*node.accounts[:4], *(f"0x{n:040x}" for n in (0xAA, 0xBB))]
    for _ in range(BLOCKS):
        for sender in choice.sample(node.accounts[4:8], 3):
            parties = [choice.choice(people) for _ in range(2)]
            amount = choice.choice((0, 1, 10**18, 10**24))  # nobody has the last
            words = "".join(f"{int(party, 16):064x}" for party in parties) + f"{amount:064x}"
            # With a byte more it fails; other addresses move nothing.
            to = choice.choice((PRECOMPILE, FORWARDER, FORWARDER, REVERTING, people[0]))
            data = "0x" + words + choice.choice(("", "", "", "00"))
            node.send(sender, to, data=data, gas=hex(GAS))
        node.send(node.accounts[8], choice.choice(people), value=choice.randrange(10**6))
        node.mine()


@pytest.fixture(scope="module")
def celo(postgres, template):
    with Anvil("--celo") as node, postgres.cloned(template) as url:
        play(node)
        yield Chain(node, url, Indexing(url, node.url).run_until(node.head()).client())


def test_every_history_adds_up_to_the_balance(celo):
    addresses = [
        f"0x{bytes(a).hex()}" for (a,) in execute(celo.url, "SELECT address FROM addresses")
    ]
    for address in addresses:
        page = celo.client.get(f"/api/v1/addresses/{address}/history?limit=100").json
        assert page["total"] == len(page["history"]) and page["next"] is None
        total = sum(SIGNS[row["direction"]] * int(row["amount"]) for row in page["history"])
        assert total == balance_of(celo.node, address), address
        assert (page["complete"], page["unexplained"]) == (True, "0"), page["reason"]
    transfers = celo.client.get("/api/v1/internal-transfers?limit=100").json["internalTransfers"]
    assert {row["value"] for row in transfers} == {"1", str(10**18)}
    assert len({row["fromAddress"] for row in transfers}) > 2


def test_a_chain_without_the_precompile_moves_nothing(postgres, template):
    with Anvil() as node, postgres.cloned(template) as url:
        play(node)
        client = Indexing(url, node.url).run_until(node.head()).client()
        assert client.get("/api/v1/internal-transfers").json["total"] == 0
