"""Of a block with one transaction that the node does not trace, the transfers of the others are
known, in whatever way the block is indexed; sums over it say that they are not complete."""

from types import SimpleNamespace

import pytest

from scan.extensions.backfill.tests.backfilling import fill
from tests.extensions.world import World
from tests.support.auditing import EXACT, run
from tests.support.faulty_node import altering
from tests.support.indexing import Indexing
from tests.support.scenario.stage import STRANGERS

pytestmark = pytest.mark.thorough


def test_others_transfers_are_known_in_every_door_and_way(anvil, node, places):
    """Of a block with a payment by a contract in each but the last transaction, of which the node
    does not trace the second: geth has an error for it in the block's trace."""

    def alter(call, answer):
        if "race" in call["method"] and call["params"][0] == hidden:
            answer.pop("result", None)
            answer["error"] = {"code": -32000, "message": "execution timeout"}
        elif call["method"] == "debug_traceBlockByHash":
            for entry in answer["result"]:
                if entry["txHash"] == hidden:
                    entry.pop("result")
                    entry["error"] = "execution timeout"

    paid = STRANGERS[2]
    with World(anvil, places, node.url) as world:
        pay = f"5f5f5f5f600173{paid[2:]}5af15000"
        payer = world.deploy(f"60{len(pay) // 2:02x}8060095f395ff3{pay}")
        first, hidden, last = (anvil.send(world.me, payer, value=2, gas=200_000) for _ in range(3))
        plain = anvil.send(world.me, paid, value=7)
        anvil.mine(2)
        node.fault = altering(alter)
        world.read()
        action = "/api?module=account&action=txlistinternal&txhash="
        for hash_, rows in ((first, 1), (last, 1), (plain, 0)):
            body = world.get(f"/api/v1/transactions/{hash_}/internal")
            assert len(body["internalTransfers"]) == rows
            assert len(world.get(action + hash_)["result"] or []) == rows
        answer = world.client.get(f"/api/v1/transactions/{hidden}/internal")
        assert answer.status_code == 404 and "without traces" in answer.get_json()["error"]
        assert "node gave no traces" in world.get(action + hidden)["result"]
        body = world.get("/api/v1/internal-transfers")
        assert [row["transactionHash"] for row in body["internalTransfers"]] == [last, first]
        assert body["untracedBlocks"] == 1
        assert "internalTransferCount" not in world.get("/api/v1/blocks/2")
        history = world.get(f"/api/v1/addresses/{paid}/history")
        assert (history["complete"], history["reason"]) == (False, "untraced_blocks")
    assert world.audit() == world.audit(node=True) == EXACT
    served = SimpleNamespace(url=node.url, call=anvil.call, head=anvil.head)
    world.is_the_same_in_whatever_way(served)
    assert run(Indexing(world.url, anvil.url).settings, node=True) == EXACT
    fill(world.url, anvil.url)
    Indexing(world.url, anvil.url).run_until(3)
    world.is_as_fresh()
