"""Names and symbols of any length that a call can return are cut, not left out."""

from tests.support.indexing import Indexing
from tests.support.scenario.stage import Stage


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
