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
