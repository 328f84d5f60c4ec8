"""The coin of a chain that no list has: it has no name, and no token imitates it."""

import json

import pytest

from tests.support.anvil import Anvil
from tests.support.scan_command import scan
from tests.support.world import World

pytestmark = pytest.mark.thorough


def test_it_has_no_unit_and_no_namesake(places):
    with Anvil("--chain-id", "4242424242") as anvil, World(anvil, places) as world:
        coin = world.deploy("Named", "ETH")
        for holder in world.accounts[:5]:
            world.do(coin, "mint", holder, 10)
        moved = world.queue(coin, "transferFrom", world.me, world.you, 1, sender=2)
        sent = world.pay(10**18)
        world.read()
        assert world.transaction(sent)["summary"]["text"].startswith("Sent 1 coin to ")
        [transfer, *_] = world.token(coin, "/transfers")["transfers"]
        assert (transfer["transactionHash"], transfer["suspicious"]) == (moved, None)
        assert world.token(coin)["namesake"] is None
        for path in (f"/tx/{sent}", f"/address/{world.you}", "/", f"/token/{coin.address}"):
            assert "same symbol as the coin" not in world.get(path)
        assert "ETH" not in world.get(f"/tx/{sent}")
        assert "SCAN_COIN_SYMBOL" in world.get("/status")
        world.serve(coin_symbol="ETH")
        assert world.token(coin)["namesake"]["symbol"] == "ETH"
        assert "SCAN_COIN_SYMBOL" not in world.get("/status")
        done = scan("doctor", "--json", DATABASE_URL=world.url, RPC_URL=world.anvil.url)
        warnings = [f for f in json.loads(done.stdout) if "no known one" in f["text"]]
        assert ["SCAN_COIN_SYMBOL" in finding["advice"] for finding in warnings] == [True]
