"""Who owns which id, through forks and lies: as the contracts themselves say, and a fresh index."""

from app import create_app
from tests.support.indexing import Indexing
from tests.support.items import require_same_items
from tests.support.table_digest import digest, fresh_digest
from tests.support.truth import read_truth


def test_long_lists_of_an_item_and_of_items_through_forks(postgres, template, database_url, anvil):
    """Longer than the distance of checkpoints, and back below it."""
    sender = anvil.accounts[0]
    forge = anvil.deploy(sender, "Items", "Forge and Field", "FORGE")
    with Indexing(database_url, anvil.url) as indexing:
        for first in (0, 90, 180, 270):
            ids = list(range(first, first + 90))
            anvil.transact(sender, forge, "mintBatch", sender, ids, [1] * 90, gas=12_000_000)
            anvil.transact(sender, forge, "mintBatch", sender, [5] * 90, [2] * 90, gas=12_000_000)
            anvil.mine()
        indexing.wait_for(anvil.head())
        for depth in (1, 2):
            anvil.reorganise(depth)
            anvil.transact(sender, forge, "mint", sender, 5, 1)
            anvil.mine(2)
            indexing.wait_for(anvil.head())
            client = create_app(indexing.settings).test_client()
            truth = read_truth(anvil)
            require_same_items(client, truth.token_transfers, (), deep=False)
            five = f"/api/v1/tokens/{forge.address}/items/5"
            assert client.get(f"{five}/transfers?page=2&limit=100").json["transfers"]
            assert digest(database_url) == fresh_digest(postgres, template, anvil)


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
        client = create_app(indexing.settings).test_client()
        for owners in ([third, first, first], [second, first]):
            indexing.wait_for(anvil.head())
            items = client.get(f"/api/v1/tokens/{keepers.address}/items").json["items"]
            by_id = {item["tokenId"]: item["owner"] for item in items}
            assert by_id == {str(i): owner.lower() for i, owner in enumerate(owners, 1)}
            anvil.reorganise(1)
            anvil.mine()
