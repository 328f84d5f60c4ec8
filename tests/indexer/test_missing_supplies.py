"""An NFT without totalSupply() has as many as its holders hold, after burns and forks as well."""

from tests.support.auditing import EXACT, run
from tests.support.database import execute
from tests.support.indexing import Indexing
from tests.support.scenario.stage import Stage
from tests.support.table_digest import digest, fresh_digest


def supplies(indexing):
    """By token, in each of the places that show it."""
    client = indexing.client()
    shown = {t["address"]: t["totalSupply"] for t in client.get("/api/v1/tokens").json["tokens"]}
    for token, supply in shown.items():
        assert client.get(f"/api/v1/tokens/{token}").json["totalSupply"] == supply
        form = f"/api?module=token&action=tokeninfo&contractaddress={token}"
        assert client.get(form).json["result"][0]["totalSupply"] == supply
        form = f"/api?module=stats&action=tokensupply&contractaddress={token}"
        assert client.get(form).json["result"] == supply
    return shown


def test_a_missing_supply_is_what_holders_hold(postgres, template, database_url, anvil):
    stage = Stage(anvil)
    one, two = stage.people[1], stage.people[2]
    keepers = stage.deploy("keepers", "Collectible", "Lantern Keepers", "LAMP").address
    forge = stage.deploy("forge", "Items", "Forge and Field", "FORGE").address
    kitties = stage.deploy("Kitties", "Kitties").address
    for token_id in range(4):
        stage.do(0, "keepers", "mint", one, token_id)
    stage.do(0, "forge", "mintBatch", two, [7, 8], [50, 5])
    stage.do(1, "Kitties", "mint", one, 5)
    stage.mine()
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        assert supplies(indexing) == {keepers: "4", forge: "55", kitties: "1"}
        stage.do(1, "keepers", "transferFrom", one, two, 1)
        stage.mine()
        stage.do(1, "keepers", "burn", 3)
        stage.do(2, "forge", "burn", two, 7, 30)
        stage.mine()
        indexing.wait_for(anvil.head())
        assert supplies(indexing) == {keepers: "3", forge: "25", kitties: "1"}
        assert run(indexing.settings) == EXACT
        anvil.call("anvil_setCoinbase", stage.people[5])
        anvil.reorganise(1)
        anvil.mine()
        indexing.wait_for(anvil.head())
        assert supplies(indexing) == {keepers: "4", forge: "55", kitties: "1"}
        assert run(indexing.settings) == EXACT
        assert digest(database_url) == fresh_digest(postgres, template, anvil)
        execute(database_url, "UPDATE tokens SET held_supply = 9")
        assert run(indexing.settings) != EXACT
