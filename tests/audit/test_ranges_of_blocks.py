"""Derived tables of a range of blocks, of none, and of what is left once blocks are taken back;
and the derived rows that a token's change touches."""

import json
from contextlib import closing

from scan.database.connection import Database
from scan.indexer.writer import Writer
from tests.support.auditing import EXACT, run, stored
from tests.support.database import execute


def test_addresses_are_seen_in_the_range_where_blocks_have_them(copied):
    """Also in the last place of a block, and where nothing but emitters, credits or withdrawals
    have them; a withdrawal of another unit than the coin moves none."""
    url, paid, emitter = copied.database_url, b"\x59" * 20, b"\x58" * 20
    execute(
        url,
        "INSERT INTO credits (ordinal, block_number, type, address, amount_wei) VALUES"
        " (first_ordinal_in(3), 3, 0, %s, 5), (last_ordinal_in(8), 8, 0, %s, 7),"
        " (first_ordinal_in(9), 9, 0, %s, 11)",
        *[paid] * 3,
    )
    execute(url, "INSERT INTO withdrawals VALUES (9, 0, 0, %s, 1000, 'mGNO')", paid)
    execute(url, "INSERT INTO log_emitters VALUES (%s, 2), (%s, 9)", *[emitter] * 2)
    execute(
        url, "INSERT INTO withdrawals VALUES (3, 0, 0, %s, 5), (8, 1, 0, %s, 7)", *[emitter] * 2
    )
    # Of blocks: first and last seen, wei and withdrawals of who was paid; and of an emitter.
    bigint_max = 2**63 - 1
    seen = {
        (0, bigint_max): ((3, 9, 23, None), (2, 9, 12, 2)),
        (3, 8): ((3, 8, 12, None), (3, 8, 12, 2)),
        (4, 8): ((8, 8, 7, None), (8, 8, 7, 1)),
        (9, 9): ((9, 9, 11, None), (9, 9, None, None)),
        (2, 3): ((3, 3, 5, None), (2, 3, 5, 1)),
    }
    for blocks, expected in seen.items():
        nothing = (0, -1) * 5  # of the other tables
        rows = execute(
            url,
            "SELECT first_seen, last_seen, net_wei, withdrawal_count"
            " FROM addresses_changes(%s::block_range) WHERE address IN (%s, %s)"
            " ORDER BY address DESC",
            (*blocks, *nothing),
            paid,
            emitter,
        )
        assert rows == [*expected], blocks


def test_an_index_without_blocks_lacks_no_traces(database_url):
    assert execute(database_url, "SELECT untraced_blocks(), newest_untraced_block()") == [(0, -1)]


def test_what_is_left_after_a_fork_is_exact(copied, scenario):
    """Before blocks are indexed again: what is set wrong then may be set right by the same ones."""
    head = scenario.truth.head
    with closing(Database(copied.database_url, statement_timeout_ms=0)) as database:
        for last_kept in (head - 9, head // 2, head // 3):
            Writer(database).unwind(last_kept)
            assert run(copied) == EXACT


def test_pools_are_listed_whose_second_token_is_unknown(copied):
    execute(copied.database_url, "DELETE FROM tokens k USING pools p WHERE k.address = p.token1")
    with closing(Database(copied.database_url, statement_timeout_ms=0)) as database:
        pools = database.row(
            "queries/pools_list",
            **{"dex": None, "token": None, "direction": "desc", "limit": 100, "offset": 0},
            **{"after_count": None, "after_address": None},
        )
    stored_pools = stored(copied, "pools", ("address",), [])
    assert {pool["address"] for pool in json.loads(pools[1])} == stored_pools.keys()
