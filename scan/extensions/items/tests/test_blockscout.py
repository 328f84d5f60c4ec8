"""Items in Blockscout's form."""


def test_items_of_a_token_are_listed_by_their_first_transfers(ask, truth):
    most_pages = 0
    for token in truth.tokens:
        if token["type"] != "BEP20":
            moved = [
                transfer["tokenId"]
                for transfer in reversed(truth.token_transfers)
                if transfer["tokenAddress"] == token["address"] and transfer["tokenId"] is not None
            ]
            pages = list(ask.pages(f"/tokens/{token['address']}/instances", items_count=2))
            assert [row["id"] for page in pages for row in page] == list(dict.fromkeys(moved))[::-1]
            is_unique = True if token["type"] == "BEP721" else None
            assert {row["is_unique"] for page in pages for row in page} == {is_unique}
            most_pages = max(most_pages, len(pages))
    assert most_pages > 2


def test_the_items_that_an_address_holds(ask, truth):
    holder = max(truth.addresses, key=lambda address: len(truth.tokens_held_by(address)))
    items = ask.rows(f"/addresses/{holder}/nft")
    assert len(items) == len({(i["token"]["address_hash"], i["id"]) for i in items})
    collections = ask.rows(f"/addresses/{holder}/nft/collections")
    held = truth.tokens_held_by(holder)
    nfts = {token["tokenAddress"] for token in held if token["type"] != "BEP20"}
    assert {c["token"]["address_hash"].lower() for c in collections} == nfts
