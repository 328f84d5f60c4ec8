"""Internal transfers in the forms of other explorers."""

from scan.ethereum.blocks import Withdrawal
from scan.extensions.blockscout.tests.published import faults
from scan.hex import to_hex
from tests.support import indexing, serving, table_digest
from tests.support.auditing import EXACT, run
from tests.support.made_blocks import Move, address


def a_withdrawal(index, who, gwei):
    return Withdrawal(index, 7, address(who), gwei * 10**9)


def require_withdrawals(client):
    """Those above in the forms of Etherscan and Blockscout."""
    staker = to_hex(address("staker"))
    query = f"module=account&action=txsBeaconWithdrawal&address={staker}"
    rows = (client.get(f"/api?{query}&sort=desc").json or {})["result"]
    assert [(row["withdrawalIndex"], row["amount"]) for row in rows] == [("2", "6"), ("1", "5")]
    assert (client.get(f"/api?{query}&page=2&offset=1").json or {})["result"] == rows[:1]
    for path, indexes in {
        "/withdrawals": [3, 2, 1],
        "/withdrawals?index=3": [2, 1],
        "/withdrawals?index=3&block_number=1": [2, 1],
        "/blocks/1/withdrawals": [2, 1],
        f"/addresses/{staker}/withdrawals": [2, 1],
        f"/addresses/{staker}/withdrawals?index=2": [1],
    }.items():
        body = client.get(f"/api/v2{path}").json
        route = path.partition("?")[0].replace(staker, "{}").replace("/1/", "/{}/")
        assert body is not None and not faults(f"/api/v2{route}", body)
        assert [item["index"] for item in body["items"]] == indexes, path


def test_withdrawals_are_seen_shown_and_unwound(database, database_url, chain):
    chain.append(withdrawals=[])
    chain.append(withdrawals=[a_withdrawal(1, "staker", 5), a_withdrawal(2, "staker", 6)])
    paid = Move(address("person"), address("purse"))
    chain.append([paid], withdrawals=[a_withdrawal(3, "other", 7)], is_traced=True)
    client = indexing.client_over(database_url)
    chain.store_balances({address(name): 5 for name in ("staker", "other", "person")})
    seen = client.get(f"/api/v1/addresses/{to_hex(address('staker'))}").get_json()
    assert (seen["firstSeen"], seen["txCount"]) == ("2023-11-14T22:13:32Z", 0)
    assert client.get("/api/v1/blocks/1").get_json()["withdrawals"][1] == {
        "index": 2,
        "validatorIndex": 7,
        "address": to_hex(address("staker")),
        "amount": "6000000000",
    }
    assert to_hex(address("staker")) in client.get("/block/1").text
    require_withdrawals(client)
    before = table_digest.digest(database_url)
    chain.append(withdrawals=[a_withdrawal(4, "staker", 1), a_withdrawal(5, "new", 1)])
    # What it withdrew is not in the balance that was stored.
    stale = database.rows("indexer/addresses_list_stale", limit=100)
    assert {bytes(row[0]) for row in stale} >= {address("staker"), address("new")}
    chain.unwind(2)
    assert table_digest.digest(database_url) == before
    page = client.get(f"/address/{to_hex(address('new'))}").text
    assert 'First seen</dt><dd><span class="quiet">never' in page
    assert run(indexing.settings_for(database_url, serving.NOWHERE)) == EXACT
