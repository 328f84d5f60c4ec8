"""Internal transfers in the forms of other explorers."""

from eth_utils import to_checksum_address

from scan.ethereum.blocks import Withdrawal
from scan.extensions.blockscout.tests.published import faults
from scan.hex import to_hex
from tests.support import expected, indexing, serving, table_digest
from tests.support.auditing import EXACT, run
from tests.support.made_blocks import Move, address


def test_withdrawals_are_seen_shown_and_unwound(database, database_url, chain):
    first, second, third, fourth, fifth = (
        Withdrawal(index, 7, address(who), gwei * 10**9)
        for index, (who, gwei) in enumerate(
            (("staker", 5), ("staker", 6), ("other", 7), ("staker", 1), ("new", 1)), 1
        )
    )
    chain.append(withdrawals=[])
    chain.append(withdrawals=[first, second])
    paid = Move(address("person"), address("purse"))
    chain.append([paid], withdrawals=[third], is_traced=True)
    client = indexing.client_over(database_url)
    chain.store_balances({address(name): 5 for name in ("staker", "other", "person")})
    staker = to_hex(address("staker"))
    expected.compare(__file__, client, {"staker": staker, "Staker": to_checksum_address(staker)})
    for path in ("/withdrawals", "/blocks/1/withdrawals", f"/addresses/{staker}/withdrawals"):
        route = path.replace(staker, "{}").replace("/1/", "/{}/")
        assert not faults(f"/api/v2{route}", client.get(f"/api/v2{path}").json)
    before = table_digest.digest(database_url)
    chain.append(withdrawals=[fourth, fifth])
    # What it withdrew is not in the balance that was stored.
    stale = database.rows("indexer/addresses_list_stale", limit=100)
    assert {bytes(row[0]) for row in stale} >= {address("staker"), address("new")}
    chain.unwind(2)
    assert table_digest.digest(database_url) == before
    page = client.get(f"/address/{to_hex(address('new'))}").text
    assert 'First seen</dt><dd><span class="quiet">never' in page
    assert run(indexing.settings_for(database_url, serving.NOWHERE)) == EXACT
