"""Who owns which id once a fork takes transfers back."""

from tests.support.indexing import Indexing


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
