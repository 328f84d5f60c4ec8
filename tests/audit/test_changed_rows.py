"""Statements of derived tables change the rows that they are about, and no other; lists of pools
need no row of a token."""

import json

import pytest

from scan.database.connection import Database
from tests.audit.test_derived_truth import stored
from tests.support.database import execute


@pytest.fixture
def database(copied):
    database = Database(copied.database_url, statement_timeout_ms=0)
    yield database
    database.close()


def test_a_reading_is_that_of_its_token_alone(copied, database):
    columns = ["total_supply", "supply_block", "name", "symbol", "decimals", "read_block"]
    columns.append("inconsistent_since")
    before = stored(copied, "tokens", ("address",), columns)
    first, last = min(before), max(before)
    with database.transaction() as tx:
        tx.execute(
            "indexer/tokens_refresh",
            addresses=[bytes.fromhex(token[2:]) for token in (first, last)],
            supplies=[12345, 6],
            block_numbers=[7, 8],
            are_whole=[False, True],
            names=["", "Anew"],
            symbols=["", "NEW"],
            decimals=[0, 9],
            inconsistent=[None, 8],
        )
    after = stored(copied, "tokens", ("address",), columns)
    whole = {"name": "Anew", "symbol": "NEW", "decimals": 9, "read_block": 8}
    whole["inconsistent_since"] = before[last]["inconsistent_since"] or 8
    assert after == before | {
        first: before[first] | {"total_supply": 12345, "supply_block": 7},
        last: {"total_supply": 6, "supply_block": 8, **whole},
    }


def test_a_token_is_changed_by_what_is_held_alone(copied, database):
    columns = ["holder_count", "held_supply"]
    before = stored(copied, "tokens", ("address",), columns)
    token = min(before)
    change = {"holders": [0], "held": [1], "large": 10**9}
    with database.transaction() as tx:
        tx.rows("indexer/tokens_add_holders", tokens=[bytes.fromhex(token[2:])], **change)
    after = stored(copied, "tokens", ("address",), columns)
    held = before[token]["held_supply"] + 1
    assert after == before | {token: {**before[token], "held_supply": held}}


def test_pools_are_listed_whose_second_token_is_unknown(copied, database):
    execute(copied.database_url, "DELETE FROM tokens k USING pools p WHERE k.address = p.token1")
    pools = database.row(
        "queries/pools_list",
        **{"dex": None, "token": None, "direction": "desc", "limit": 100, "offset": 0},
        **{"after_count": None, "after_address": None},
    )
    assert pools is not None
    stored_pools = stored(copied, "pools", ("address",), [])
    assert {pool["address"] for pool in json.loads(pools[1])} == stored_pools.keys()
