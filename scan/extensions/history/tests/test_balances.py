"""Balances over time: those of the node at each block, of one address and one unit."""

import pytest

from scan.database.lists import all_credit_types
from scan.ethereum import blocks, sparse_tables
from scan.extensions.history.balance_history import BalanceBounds
from scan.extensions.history.tests.rows import balances, is_coin, sums
from tests.support import database, indexing, serving
from tests.support.anvil import ZERO
from tests.support.indexing import sources
from tests.support.lists import get
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.scenario.stage import MINERS, STRANGERS
from tests.support.watched_database import watched

ME, YOU = address("me"), address("you")


@pytest.mark.parametrize("most", [10_000, pytest.param(9, marks=pytest.mark.thorough)])
def test_balances_over_time_are_the_node_s(scenario, client, histories, most):
    """Of the coin as the node has it at each block, of tokens as transfers say, where these add up;
    also in parts, and after a block or at a time."""
    sources(client).get(BalanceBounds).rows_read = most
    times = {block["number"]: block["timestamp"] for block in scenario.truth.blocks}
    head = scenario.anvil.head()

    def balance_at(key, **when):
        path = f"/addresses/{key}/balances"
        return get(client, path, **when, **{"": most})["at"]

    def require(point, key, number, moved=None):
        """The right point of a block: of the coin, or of a token that moved so."""
        if moved is None:
            right = int(scenario.anvil.call("eth_getBalance", key, hex(number)), 16)
        else:
            right = sums([row for row in moved if row["blockNumber"] <= number], is_coin)[False]
        assert point == {"blockNumber": number, "timestamp": times[number], "balance": str(right)}

    by_length = sorted(histories, key=lambda key: len(histories[key]))
    keys = (*by_length[-1:], STRANGERS[0], MINERS[0])
    for key in keys:
        rows = histories[key]
        points = balances(client, key, points=13, **{"": most})
        assert points[-1]["blockNumber"] == head
        oldest = min(
            row["blockNumber"] for row in rows if row["type"] != "genesis" and is_coin(row)
        )
        assert points[0]["blockNumber"] == oldest
        for point in points:
            require(point, key, point["blockNumber"])
        for number in (1, head // 3, head - 1, head, head + 5):
            last = min(number, head)
            at = balance_at(key, blockTo=number)
            require(at, key, last)
            newest = max(n for n in times if times[n] <= times[last])
            by_time = balance_at(key, timeTo=times[last])
            assert by_time["blockNumber"] == newest and (newest > last or by_time == at)
        points = balances(client, key, points=5, blockTo=head // 3, **{"": most})
        assert all(point["blockNumber"] <= head // 3 for point in points)
    standing = scenario.truth.holders.keys() - scenario.truth.read.keys()
    for key in {*keys} - {ZERO}:
        for token in standing & {row["tokenAddress"] for row in histories[key]}:
            moved = [row for row in histories[key] if row["tokenAddress"] == token]
            points = balances(client, key, points=5, token=token, **{"": most})
            assert points
            for point in points:
                require(point, key, point["blockNumber"], moved)
            require(balance_at(key, blockTo=head // 3, token=token), key, head // 3, moved)
    minted = standing & {row["tokenAddress"] for row in histories[ZERO]}
    assert minted
    for token in minted:
        assert balances(client, ZERO, points=5, token=token, **{"": most}) == []
    nobody = f"0x{'ab' * 20}"
    require(balance_at(nobody, blockTo=head), nobody, head)


@pytest.mark.thorough
def test_a_transfer_that_comes_meanwhile_is_in_no_older_balance(chain, database_url):
    """What a token's holder has at the head is read once."""
    chain.append()
    chain.append([Move(YOU, ME, tokens=7)])
    chain.append()

    def append(statement, *_):
        if statement == "queries/balances_list":
            chain.append([Move(YOU, ME, tokens=100)])

    path = f"/api/v1/addresses/0x{ME.hex()}/balances?token=0x{TOKEN.hex()}&blockTo=2"
    with watched(indexing.settings_for(database_url, serving.NOWHERE), append) as client:
        held = client.get(path).json
    assert held["at"]["balance"] == held["balances"][-1]["balance"] == "7"


@pytest.mark.thorough
def test_balances_are_of_one_address_and_one_unit(chain, database_url):
    """Another has withdrawals and credits of the same blocks; both have a token, and one a unit
    that is not the coin. Who produces a block has its fees, if it has any."""
    client = indexing.client_over(database_url)
    types = [type_.number for type_ in all_credit_types() if type_.flow == "in"]
    chain.append()
    chain.append(miner=ME)
    for _ in range(4):
        chain.append(
            [Move(YOU, ME, 30_000, tokens=3), Move(ME, YOU, 1, tokens=1)],  # for 21,000
            internal_transfers=[
                sparse_tables.InternalTransfer(0, 0, sparse_tables.TransferType.CALL, YOU, ME, 40),
                sparse_tables.InternalTransfer(0, 1, sparse_tables.TransferType.CALL, ME, YOU, 5),
            ],
            is_traced=True,
            withdrawals=[
                blocks.Withdrawal(0, 1, ME, 100),
                blocks.Withdrawal(1, 1, YOU, 10_000),
                blocks.Withdrawal(2, 1, ME, 10**6, "GNO"),
            ],
            credits=[(None, type_, holder, 1) for type_ in types for holder in (ME, YOU)],
            miner=ME,
        )
    in_block = 30_000 - 21_001 + 2 * 21_000 + 35 + 100 + len(types)
    chain.store_balances({ME: 4 * in_block})
    for unit, change in (({}, in_block), ({"token": "0x" + TOKEN.hex()}, 2)):
        for last in (2, 3, 5):
            points = balances(client, "0x" + ME.hex(), blockTo=last, **unit)
            after = {point["blockNumber"]: int(point["balance"]) for point in points}
            assert after == {number: (number - 1) * change for number in range(2, last + 1)}
    # Rows before the first block that is kept may be there still.
    database.execute(database_url, "INSERT INTO retention VALUES (true, 4, 5, now(), 0)")
    client = indexing.client_over(database_url)
    sources(client).get(BalanceBounds).rows_read = 3
    for unit in ({}, {"token": "0x" + TOKEN.hex()}):
        page = client.get(f"/api/v1/addresses/0x{ME.hex()}/balances", query_string=unit).json
        assert [point["blockNumber"] for point in page["balances"]] == [4, 5]
        assert page["next"] is None


@pytest.mark.thorough
def test_coin_balances_that_changes_contradict_are_not_given(database_url, anvil):
    me, you = anvil.accounts[0], STRANGERS[0]

    def pay(times):
        for _ in range(times):
            anvil.receipt_of(anvil.send(me, you, value=10))

    pay(3)
    with indexing.Indexing(database_url, anvil.url) as index:
        path = f"/api/v2/addresses/{you}/coin-balance-history"

        def read(**filters):
            items = index.client().get(path, query_string=filters).json["items"]
            return [row["value"] for row in items]

        index.wait_for(anvil.head())
        assert read() == ["30", "20", "10"]
        anvil.call("anvil_setBalance", you, hex(500))
        pay(3)
        index.wait_for(anvil.head())
        assert read() == ["530", None, None, None, None, None]
        assert read(items_count=3) == ["530", "520", "510"]
        assert read(block_number=anvil.head() - 2) == ["500", None, None]
        days = index.client().get(f"{path}-by-day").json["items"]
        assert [day["value"] for day in days] == ["530"]
