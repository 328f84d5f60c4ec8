"""Of a block with one transaction that the node does not trace, the transfers of the others are
known, in whatever way the block is indexed; sums over it say that they are not complete."""

from types import SimpleNamespace

import pytest

from scan.extensions.backfill.tests.backfilling import fill
from tests.extensions.world import World
from tests.support.anvil import Anvil
from tests.support.auditing import EXACT, run
from tests.support.faulty_node import FaultyNode, altering
from tests.support.indexing import Indexing
from tests.support.scenario.stage import STRANGERS

pytestmark = pytest.mark.thorough

PAID = STRANGERS[2]


def one_untraced(block, sent):
    """The node does not trace a transaction: geth has an error for it in the block's trace."""

    def alter(call, answer):
        method, params = call["method"], call["params"]
        if method.endswith(("raceTransaction", "_transaction")) and params[0] == sent:
            answer.pop("result", None)
            answer["error"] = {"code": -32000, "message": "execution timeout"}
        elif method == "debug_traceBlockByHash" and params[0] == block["hash"]:
            index = block["transactions"].index(sent)
            answer["result"][index] = {"txHash": sent, "error": "execution timeout"}

    return altering(alter)


@pytest.fixture
def paying():
    """A chain, and a block of its with a payment by a contract in each but the last transaction."""
    with Anvil() as anvil:
        me = anvil.accounts[0]
        pay = f"5f5f5f5f600173{PAID[2:]}5af15000"
        payer = anvil.send(me, None, data=f"0x60{len(pay) // 2:02x}8060095f395ff3{pay}")
        anvil.mine()
        payer = anvil.receipt_of(payer)["contractAddress"]
        sent = [anvil.send(me, payer, value=2, gas=200_000) for _ in range(3)]
        sent.append(anvil.send(me, PAID, value=7))
        anvil.mine()
        anvil.mine()
        block = anvil.call("eth_getBlockByNumber", "0x2", False)
        assert block["transactions"] == sent
        yield anvil, block


def test_others_transfers_are_known_in_every_door_and_way(paying, places):
    anvil, block = paying
    first, untraced, last, plain = block["transactions"]
    with FaultyNode(anvil.url) as node:
        node.fault = one_untraced(block, untraced)
        with World(anvil, places, node.url) as world:
            world.read()
            action = "/api?module=account&action=txlistinternal&txhash="
            for hash_, rows in ((first, 1), (last, 1), (plain, 0)):
                body = world.get(f"/api/v1/transactions/{hash_}/internal")
                assert len(body["internalTransfers"]) == rows
                of_v2 = world.get(f"/api/v2/transactions/{hash_}/internal-transactions")
                assert len(of_v2["items"]) == rows
                assert len(world.get(action + hash_)["result"] or []) == rows
            answer = world.client.get(f"/api/v1/transactions/{untraced}/internal")
            assert answer.status_code == 404 and "without traces" in answer.get_json()["error"]
            assert "node gave no traces" in world.get(action + untraced)["result"]
            body = world.get("/api/v1/internal-transfers")
            assert [row["transactionHash"] for row in body["internalTransfers"]] == [last, first]
            assert body["untracedBlocks"] == 1
            assert "internalTransferCount" not in world.get("/api/v1/blocks/2")
            history = world.get(f"/api/v1/addresses/{PAID}/history")
            assert (history["complete"], history["reason"]) == (False, "untraced_blocks")
            assert 'id="internal"' in world.get(f"/tx/{first}")
            assert 'id="internal"' not in world.get(f"/tx/{untraced}")
        assert world.audit() == world.audit(node=True) == EXACT
        served = SimpleNamespace(url=node.url, call=anvil.call, head=anvil.head)
        world.is_the_same_in_whatever_way(served)
    assert run(Indexing(world.url, anvil.url).settings, node=True) == EXACT
    fill(world.url, anvil.url)
    Indexing(world.url, anvil.url).run_until(3)
    world.is_as_fresh()
