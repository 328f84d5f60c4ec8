"""Names of addresses that mean one thing on every chain."""

from tests.support.database import insert
from tests.support.indexing import Indexing

ECRECOVER, PERMIT2 = f"0x{1:040x}", "0x000000000022d473030f116ddee9f6b43ac78ba3"


def test_they_stand_beside_the_address_unless_the_operator_has_one(anvil, database_url):
    create_x = "0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed"
    multicall = "0xca11bde05977b3631167028862be2a173976ca11"
    entry_point = "0x433709009b8330fda32311df1c2afa402ed8d009"
    for to in (ECRECOVER, PERMIT2, create_x, multicall, entry_point):
        anvil.send(anvil.accounts[0], to, value=5)
    anvil.mine()
    client = Indexing(database_url, anvil.url).run_until(anvil.head()).client()
    page = client.get("/txs").text
    assert "Precompile: ecrecover" in page and ">Permit2<" in page
    assert all(f">{name}<" in page for name in ("CreateX", "Multicall3", "EntryPoint 0.9"))
    insert(database_url, "labels", address=bytes.fromhex(PERMIT2[2:]), label="Ours")
    client = Indexing(database_url, anvil.url).client()
    page = client.get("/txs").text
    assert "Ours" in page and ">Permit2<" not in page
