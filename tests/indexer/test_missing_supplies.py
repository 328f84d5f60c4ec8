"""What is stored of tokens: missing supplies, names of any length, owners of ids after forks."""

import pytest

from scan.indexer.contract_state import ContractFindings, NewToken
from scan.indexer.writer import copy_contracts
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


@pytest.mark.thorough
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


# Type, what totalSupply() returned, and the block at which the token was read, if it was.
UNREAD = [("BEP20", None, None), ("BEP721", None, None), ("BEP721", None, 1), ("BEP1155", None, 1)]
READ = [("BEP20", None, 1), ("BEP20", 7, 1), ("BEP721", 7, 1), ("BEP1155", 0, 1)]


@pytest.mark.parametrize(
    ("token_type", "supply", "read_block", "is_missing"),
    [*((*row, True) for row in UNREAD), *((*row, False) for row in READ)],
)
def test_a_supply_is_missing_that_nothing_has_returned(
    database, database_url, token_type, supply, read_block, is_missing
):
    """But of a BEP20 that was read and has none, whose supply is 0."""
    token = NewToken(
        bytes(20), 1, 0, token_type, "Token", "T", 18, supply, None, True, read_block, True
    )
    with database.transaction() as tx:
        copy_contracts(tx, ContractFindings([], [token], [], [], [], [], [], [], []))
    rows = execute(database_url, "SELECT supply_missing, total_supply FROM tokens")
    assert rows == [(is_missing, supply or 0)]


def test_an_item_taken_back_has_the_last_of_its_earlier_owners(database_url, anvil):
    first, second, third = anvil.accounts[:3]
    keepers = anvil.deploy(first, "Collectible", "Lantern Keepers", "LAMP")
    anvil.transact(first, keepers, "mint", first, 1)
    anvil.mine()
    anvil.transact(first, keepers, "transferFrom", first, second, 1)
    anvil.transact(first, keepers, "mint", first, 2)
    anvil.mine()
    anvil.transact(second, keepers, "transferFrom", second, third, 1)
    anvil.transact(first, keepers, "mint", first, 3)
    anvil.mine()
    with Indexing(database_url, anvil.url) as indexing:
        client = indexing.client()
        for owners in ([third, first, first], [second, first]):
            indexing.wait_for(anvil.head())
            items = client.get(f"/api/v1/tokens/{keepers.address}/items").json["items"]
            by_id = {item["tokenId"]: item["owner"] for item in items}
            assert by_id == {str(i): owner.lower() for i, owner in enumerate(owners, 1)}
            anvil.reorganise(1)
            anvil.mine()


def test_names_of_many_bytes_are_cut(database_url, anvil):
    stage = Stage(anvil)
    expected = {}
    for symbol_bytes, name_bytes in ((51, 4_097), (5_000, 70_000), (10, 300_000), (10, 600_000)):
        coin = stage.deploy(str(name_bytes), "LongTexts", name_bytes, symbol_bytes)
        stage.do(0, str(name_bytes), "mint", stage.people[1], 5)
        stage.mine()
        expected[coin.address] = (255 * "N", min(symbol_bytes, 50) * "S")
    coin = stage.deploy("looped", "LoopedTexts")
    stage.do(0, "looped", "mint", stage.people[1], 5)
    stage.mine()
    expected[coin.address] = (255 * "N", 50 * "S")
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        tokens = indexing.client().get("/api/v1/tokens").get_json()["tokens"]
    assert {token["address"]: (token["name"], token["symbol"]) for token in tokens} == expected
