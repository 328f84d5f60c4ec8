"""Plans of the statements that sum holders, over a chain of 50,000 transactions."""

import psycopg2
import pytest

from scan.database.statements import read_statement
from scan.extensions.past_holders import queries
from scan.http.services import SESSION
from tests.support.database import execute

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("is_from_end", [False, True])
def test_the_transfers_of_the_token_alone_are_read(seeded_service, has_ids, is_from_end):
    """Also of one that every tenth row is of, where the planner would read those in between."""
    [[token, head]] = execute(
        seeded_service.url,
        "SELECT (SELECT address FROM tokens ORDER BY transfer_count DESC LIMIT 1),"
        " (SELECT max(number) FROM blocks)",
    )
    given = {"address": bytes(token), "block_number": head // 2}
    with psycopg2.connect(seeded_service.url) as connection, connection.cursor() as cursor:
        for name, value in SESSION.items():
            cursor.execute(f"SET {name} = {value}")
        cursor.execute(read_statement(queries.STATEMENT).text, given)
        way = queries.way_of(cursor.fetchone()[1:], 0)
        first, past = (way.bound, way.past) if is_from_end else (way.first, way.bound)
        params = {**way.params(head // 2), **given, "after": 0, "skipped": 0}
        params |= {"first": first, "past": past, "sign": -1 if is_from_end else 1}
        params["has_ids"] = has_ids
        text = read_statement("queries/past_holders_open").text
        cursor.execute(
            f"EXPLAIN (COSTS off) {text.partition('DECLARE')[2].join(('DECLARE', ''))}", params
        )
        plan = "\n".join(line for [line] in cursor.fetchall())
    assert "Seq Scan" not in plan
    [read] = [line for line in plan.splitlines() if " on token_transfers_0 x" in line]
    assert "token_address_ordinal_idx" in read
    assert ("token_holders_by_balance" in plan or "balance_holder_idx" in plan) is (
        is_from_end and not has_ids
    )
