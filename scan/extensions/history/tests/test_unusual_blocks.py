"""Histories of blocks that tests make: what no total counts, what burns, what is not complete."""

import contextlib

import pytest

from scan.database import lists
from scan.ethereum.blocks import Withdrawal
from scan.ethereum.sparse_tables import InternalTransfer, TransferType
from scan.extensions.history.queries import HistoryBounds
from scan.extensions.history.tests.rows import NUMBERS, balances, get, history
from tests.support.database import execute
from tests.support.indexing import client_over, sources
from tests.support.made_blocks import Move, address

ME, YOU = address("me"), address("you")
MINE = "0x" + ME.hex()


@pytest.fixture
def client(database_url, chain):
    chain.append()
    return client_over(database_url)


def mine(client, **arguments):
    return get(client, MINE, **{"": next(NUMBERS)}, **arguments)


@pytest.mark.parametrize(
    "indexes", [(0, 1, 2, 3, 4), pytest.param((2, 3, 4, 0, 1), marks=pytest.mark.thorough)]
)
def test_withdrawals_and_untraced_blocks(chain, client, indexes):
    """Several withdrawals of a block, on pages of one row: by blocks, however they are numbered."""
    paid = [Withdrawal(index, 1, ME, 10**9 * (index + 1)) for index in indexes]
    chain.append(withdrawals=paid[:3])
    chain.append(withdrawals=paid[3:])
    chain.store_balances({ME: 15 * 10**9})
    page = mine(client)
    assert [row["withdrawalIndex"] for row in page["history"]] == [*indexes[::-1]]
    assert {row["type"] for row in page["history"]} == {"withdrawal"}
    assert (page["total"], page["complete"], page["unexplained"]) == (5, True, "0")
    rows = history(client, MINE, 1)
    assert rows == page["history"]
    assert history(client, MINE, 1, orderBy="asc") == rows[::-1]
    assert len(history(client, MINE, 2, blockFrom=2)) == 2
    chain.append([Move(YOU, address("contract"))], is_traced=False)
    assert mine(client)["reason"] == "untraced_blocks"


BURNT = [("out", "10", 0)]
CREATED = InternalTransfer(0, 0, TransferType.CREATE, YOU, ME, 10)
DESTROYED = InternalTransfer(0, 1, TransferType.SELFDESTRUCT, ME, ME, 10)
BEFORE, AT_ONCE = [[CREATED], [DESTROYED]], [[CREATED, DESTROYED]]  # by transaction


@pytest.mark.parametrize(
    ("transactions", "fork", "expected"),
    [
        (BEFORE, "shanghai", BURNT),
        (BEFORE, "cancun", []),
        (BEFORE, "amsterdam", []),
        (AT_ONCE, "shanghai", BURNT),
        (AT_ONCE, "cancun", BURNT),
        (AT_ONCE, "amsterdam", []),
    ],
)
def test_what_a_contract_burns_by_destroying_itself_goes_out(
    chain, client, transactions, fork, expected
):
    """It keeps its coin where an older transaction created it, since Cancun (EIP-6780), and always
    since Amsterdam (EIP-8246)."""
    for internal_transfers in transactions:
        chain.append(
            [Move(YOU, YOU)],
            internal_transfers=internal_transfers,
            is_traced=True,
            keeps_destroyed=fork != "shanghai",
            block_access_list_hash=bytes(32) if fork == "amsterdam" else None,
        )
    chain.store_balances({ME: 10 - 10 * len(expected)})
    page = mine(client)
    burns = [
        (row["direction"], row["amount"], row["transactionIndex"])
        for row in page["history"]
        if row["type"] == "burn"
    ]
    assert burns == expected
    assert (page["complete"], page["unexplained"]) == (True, "0")
    assert page["total"] == len(page["history"])
    assert mine(client, direction="out")["total"] == len(burns)
    assert balances(client, MINE)[-1]["balance"] == str(10 - 10 * len(burns))
    chain.unwind(0)
    chain.append()
    assert mine(client)["history"] == []


@pytest.mark.thorough
def test_no_total_counts_more_rows_than_may_be(chain, client):
    """Of those that have no checkpoints: four are one too many."""
    sources(client).get(HistoryBounds).counted = 3
    credits = [type_.name for type_ in lists.all_credit_types() if type_.flow == "in"]
    for index in range(4):
        chain.append(
            [Move(ME, ME, 5)],
            miner=ME,
            withdrawals=[Withdrawal(index, 1, ME, 10)],
            credits=[(None, type_, ME, 1) for type_ in range(len(credits))],
        )
    chain.append(miner=ME)  # a block without fees is no reward
    incoming = (*credits, "block_reward", "withdrawal")
    for type_, way in (*((type_, "in") for type_ in incoming), ("transaction", "self")):
        for first, rows, total in ((1, 4, None), (2, 3, 3)):
            page = mine(client, types=type_, direction=way, blockFrom=first)
            assert (len(page["history"]), page["total"]) == (rows, total), (type_, way)
    for first, total in ((1, None), (2, 0)):
        page = mine(client, types="transaction", direction="out", blockFrom=first)
        assert (page["history"], page["total"]) == ([], total)
    for type_ in incoming:
        for blocks in ({}, {"blockFrom": 1}):
            assert mine(client, types=type_, direction="out", **blocks)["total"] == 0
    for type_ in ("block_reward", "withdrawal"):  # which have counters
        assert mine(client, types=type_)["total"] == 4


def test_a_history_that_begins_late_is_not_complete(client, database_url):
    execute(
        database_url,
        "INSERT INTO chain (chain_id, genesis_hash, start_block) VALUES (1, '\\x00', 5)",
    )
    assert mine(client)["reason"] == "start_block"


@pytest.mark.parametrize("direction", ["out", "self"])
def test_a_direction_takes_a_place_where_an_address_often_paid_itself(chain, client, direction):
    """Otherwise rows to itself without end would be read past in any number of threads."""

    def status_of(key, way):
        path = f"/api/v1/addresses/0x{key.hex()}/history?direction={way}"
        return client.get(path).status_code

    sources(client).get(HistoryBounds).to_self = 3
    for _ in range(4):
        chain.append([Move(ME, ME, 5), Move(YOU, ME, 1)])
    places = sources(client).unbounded_statements
    with contextlib.ExitStack() as held:
        for number in range(3):
            held.enter_context(places.place(number))
        refused = status_of(ME, direction)
        expected = (503, 200, 200)
        assert (refused, status_of(ME, "in"), status_of(YOU, direction)) == expected
    assert status_of(ME, direction) == 200
