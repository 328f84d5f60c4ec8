"""What is stored of tokens: missing supplies, names of any length, owners of ids after forks."""

import pytest

from scan.indexer.contract_state import ContractFindings, NewToken
from scan.indexer.writer import copy_contracts
from tests.support.auditing import EXACT
from tests.support.database import execute
from tests.support.scenario.stage import Stage


@pytest.mark.thorough
def test_a_missing_supply_is_what_holders_hold(world):
    def supplies():
        """By token, in each of the places that show it."""
        shown = {t["address"]: t["totalSupply"] for t in world.get("/api/v1/tokens")["tokens"]}
        form = "/api?module=stats&action=tokensupply&contractaddress="
        for token, supply in shown.items():
            assert world.get(f"/api/v1/tokens/{token}")["totalSupply"] == supply
            assert world.get(form + token)["result"] == supply
        return shown

    stage = Stage(world.anvil)
    one, two = stage.people[1], stage.people[2]
    keepers = stage.deploy("keepers", "Collectible", "Lantern Keepers", "LAMP").address
    forge = stage.deploy("forge", "Items", "Forge and Field", "FORGE").address
    kitties = stage.deploy("Kitties", "Kitties").address
    for token_id in range(4):
        stage.do(0, "keepers", "mint", one, token_id)
    stage.do(0, "forge", "mintBatch", two, [7, 8], [50, 5])
    stage.do(1, "Kitties", "mint", one, 5)
    stage.mine()
    world.read()
    assert supplies() == {keepers: "4", forge: "55", kitties: "1"}
    stage.do(1, "keepers", "transferFrom", one, two, 1)
    stage.mine()
    stage.do(1, "keepers", "burn", 3)
    stage.do(2, "forge", "burn", two, 7, 30)
    stage.mine()
    world.read()
    assert supplies() == {keepers: "3", forge: "25", kitties: "1"}
    assert world.audit() == EXACT
    world.anvil.call("anvil_setCoinbase", stage.people[5])
    world.fork(1)
    assert supplies() == {keepers: "4", forge: "55", kitties: "1"}
    assert world.audit() == EXACT
    world.sql("UPDATE tokens SET held_supply = 9")
    assert world.audit() != EXACT


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


def test_names_of_many_bytes_are_cut(world):
    expected = {}
    for symbol_bytes, name_bytes in ((51, 4_097), (5_000, 70_000), (10, 300_000), (10, 600_000)):
        coin = world.deploy("LongTexts", name_bytes, symbol_bytes)
        world.do(coin, "mint", world.you, 5)
        expected[coin.address] = (255 * "N", min(symbol_bytes, 50) * "S")
    coin = world.deploy("LoopedTexts")
    world.do(coin, "mint", world.you, 5)
    expected[coin.address] = (255 * "N", 50 * "S")
    world.read()
    tokens = world.get("/api/v1/tokens")["tokens"]
    assert {token["address"]: (token["name"], token["symbol"]) for token in tokens} == expected
