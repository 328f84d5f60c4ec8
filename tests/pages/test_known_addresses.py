"""Names of addresses that mean one thing on every chain."""

from tests.support.database import insert
from tests.support.indexing import Indexing


def test_they_stand_beside_the_address_unless_the_operator_has_one(anvil, database_url):
    ecrecover, permit2 = f"0x{1:040x}", "0x000000000022d473030f116ddee9f6b43ac78ba3"
    create_x = "0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed"
    for to in (ecrecover, permit2, create_x):
        anvil.send(anvil.accounts[0], to, value=5)
    anvil.mine()
    client = Indexing(database_url, anvil.url).run_until(anvil.head()).client()
    page = client.get("/txs").text
    assert "Precompile: ecrecover" in page and ">Permit2<" in page and ">CreateX<" in page
    insert(database_url, "labels", address=bytes.fromhex(permit2[2:]), label="Ours")
    client = Indexing(database_url, anvil.url).client()
    page = client.get("/txs").text
    assert "Ours" in page and ">Permit2<" not in page
