"""A chain of `anvil --celo`: the precompile by which Celo's token moves the coin."""

import random

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


def test_every_history_adds_up_to_the_balance(database_url):
    with Anvil("--celo") as node:
        play(node)
        client = Indexing(database_url, node.url).run_until(node.head()).client()
        for (key,) in execute(database_url, "SELECT address FROM addresses"):
            address = f"0x{bytes(key).hex()}"
            page = client.get(f"/api/v1/addresses/{address}/history?limit=100").json
            assert page["total"] == len(page["history"]) and page["next"] is None
            total = sum(SIGNS[row["direction"]] * int(row["amount"]) for row in page["history"])
            assert total == balance_of(node, address), address
            assert (page["complete"], page["unexplained"]) == (True, "0"), page["reason"]
    transfers = client.get("/api/v1/internal-transfers?limit=100").json["internalTransfers"]
    assert {row["value"] for row in transfers} == {"1", str(10**18)}
    assert len({row["fromAddress"] for row in transfers}) > 2


def test_a_chain_without_the_precompile_moves_nothing(database_url, anvil):
    play(anvil)
    client = Indexing(database_url, anvil.url).run_until(anvil.head()).client()
    assert client.get("/api/v1/internal-transfers").json["total"] == 0
