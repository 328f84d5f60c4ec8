"""Holders of large tokens are counted by range of balance, and pages in their middle use it."""

import random
from pathlib import Path

import pytest

from scan.database.connection import Database
from scan.indexer import derivation
from tests.support import auditing, explain, indexing, serving
from tests.support.database import execute
from tests.support.made_blocks import TOKEN, Move, address

pytestmark = pytest.mark.thorough

LARGE = bytes.fromhex("71" * 20)
# Many with the same balance; digits of all lengths; some below zero, who are no holders.
SEED = Path(__file__).with_name("holder_ranges_seed.sql").read_text()


def test_forks_leave_what_holders_give(chain, database_url, monkeypatch):
    monkeypatch.setattr(derivation, "LARGE_TOKEN_HOLDERS", 3)  # few are many
    people, zero = [address(f"person {number}") for number in range(12)], bytes(20)
    parties = [zero, *people]
    amounts = (1, 9, 10, 12, 100, 12_345, 10**38, 2**256 - 1, 2**200)
    counted = (
        "SELECT encode(token_address, 'hex'), sum(holder_count) FROM token_holder_ranges GROUP BY 1"
    )
    recount = Path(__file__).with_name("holder_ranges_recount.sql").read_text()
    chance = random.Random(24)
    chain.append([Move(zero, person, tokens=10) for person in people[:2]])
    assert execute(database_url, counted) == []
    for _ in range(40):
        for _ in range(chance.randrange(1, 5)):
            # Also of more than the sender has, by events that lie.
            moves = [
                Move(chance.choice(parties), chance.choice(parties), tokens=chance.choice(amounts))
                for _ in range(chance.randrange(4))
            ]
            chain.append(moves)
        depth = chance.choice((0, chance.randrange(1, 6)))
        chain.unwind(max(0, chain.number - depth))
        assert execute(database_url, recount) == [(0,)]
    [[holders]] = execute(database_url, "SELECT holder_count FROM tokens")
    assert execute(database_url, counted) == [(TOKEN.hex(), holders)] and holders > 3
    assert auditing.run(indexing.settings_for(database_url, serving.NOWHERE)) == auditing.EXACT


def page(seeded, number, limit=100):
    path = f"/api/v1/tokens/0x{LARGE.hex()}/holders?page={number}&limit={limit}"
    [plan], answer = seeded.plans(path)
    return plan, answer


@pytest.fixture(scope="module")
def seeded(shared_database_url):
    with explain.explained(shared_database_url) as service:
        service.database.execute_script(SEED.replace("%(token)s", f"'\\x{LARGE.hex()}'::bytea"))
        service.database.execute_script("VACUUM ANALYZE")
        yield service


def test_a_page_has_the_holders_that_follow(seeded):
    expected = execute(
        seeded.url,
        "SELECT h.balance::text, '0x' || encode(h.holder, 'hex') FROM token_holders h"
        " WHERE h.balance > 0 ORDER BY h.balance DESC, h.holder DESC",
    )
    assert len(expected) == 12_000
    for number in (*range(1, 121, 7), 120):
        _, answer = page(seeded, number)
        assert answer["total"] == 12_000
        read = [(record["balance"], record["address"]) for record in answer["holders"]]
        assert read == expected[100 * number - 100 : 100 * number], number


@pytest.mark.parametrize("limit", [25, 100])
def test_pages_in_the_middle_are_read_from_near_by(seeded, limit):
    """Not from an end, from which half of the 12,000 would be passed."""
    pages = 12_000 // limit
    counted, _ = page(seeded, pages // 2, limit)
    for plan in (page(seeded, n * pages // 10, limit)[0] for n in range(1, 10)):
        plan.require_indexes(limit)
    rows = sum(
        node["Actual Rows"]
        for node in counted.nodes
        if node.get("Relation Name", "").startswith("token_holders_")
    )
    assert rows < 1_500


def test_empty_balances_are_removed_by_key(seeded):
    """By a look-up of each, not by reading all balances, or those of each token."""
    database = Database(seeded.url, statement_timeout_ms=0)  # with an indexer's session
    keys = [(address(f"emptied {number}"), LARGE) for number in range(50)]
    values = ", ".join(f"('\\x{holder.hex()}', '\\x{LARGE.hex()}', 0)" for holder, _ in keys)
    database.execute_script(f"INSERT INTO token_holders VALUES {values}")  # noqa: S608
    with database.transaction() as tx:
        derivation.remove_empty_balances(tx, keys)
        tx.script(
            "DO $$ BEGIN ASSERT (SELECT (sum(seq_scan), sum(idx_scan)) = (0, 50)"
            " FROM pg_stat_xact_user_tables WHERE relname ~ '^token_holders_.$'); END $$"
        )
    database.close()
    assert execute(seeded.url, "SELECT count(*) FROM token_holders") == [(15_000,)]
