"""What lists of tokens cost the database, of many tokens: indexes alone at any depth."""

import pytest

from scan.queries import tokens
from tests.support.database import execute
from tests.support.explain import explained

pytestmark = pytest.mark.thorough

TOKENS = 50_000
# Names as wide as they can be, hostile and equal ones; holders and transfers of few are many.
FILL = """
INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply, holder_count,
    transfer_count)
SELECT substring(sha256(n::text::bytea) FROM 1 FOR 20), 0,
    (ARRAY['BEP20', 'BEP20', 'BEP20', 'BEP721', 'BEP1155', 'BEP6909'])[1 + n %% 6],
    CASE n %% 20 WHEN 0 THEN '' WHEN 1 THEN '!!! visit ' || n WHEN 2 THEN 'Tether USD'
        WHEN 3 THEN repeat(chr(128512), 40) ELSE md5(n::text) || ' Token' END,
    CASE n %% 20 WHEN 0 THEN '' WHEN 1 THEN '$' WHEN 2 THEN 'USDT' ELSE left(md5(n::text), 6) END,
    18, 10 ^ 24, (1e6 / n)::bigint, (3e7 / n)::bigint
FROM generate_series(1, %s) AS n
"""


@pytest.fixture(scope="module")
def many(postgres, seeded_template):
    with postgres.cloned(seeded_template) as url:
        execute(url, "DELETE FROM tokens")
        execute(url, FILL, TOKENS)
        execute(url, "UPDATE chain SET token_count = %s", TOKENS)
        execute(url, "VACUUM ANALYZE tokens, token_ranks")
        with explained(url) as service:
            yield service


def plan_of(service, **arguments):
    query = "&".join(f"{key}={value}" for key, value in arguments.items())
    plans, answer = service.plans(f"/api/v1/tokens?{query}")
    [plan] = [plan for plan in plans if plan.statement.startswith("queries/tokens_list")]
    return plan, answer


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("order", tokens.ORDERS)
def test_pages_of_many_tokens_are_read_by_indexes_at_any_depth(many, order, direction):
    parameters = {"sort": order, "orderBy": direction, "limit": 100}
    first, answer = plan_of(many, **parameters)
    assert answer["total"] == TOKENS
    last, _ = plan_of(many, **parameters, page=TOKENS // 100)
    middle, of_middle = plan_of(many, **parameters, page=TOKENS // 200)
    of_tokens = [n for n in middle.nodes if n.get("Table") in ("tokens", "token_ranks")]
    passed = max(of_tokens, key=lambda node: node["Actual Rows"])
    assert passed["Node Type"] == "Index Only Scan"  # rows before the page
    following = [plan_of(many, **parameters, cursor=a["next"])[0] for a in (answer, of_middle)]
    of_type, _ = plan_of(many, **parameters, tokenType="ERC-1155")
    for plan in (first, last, middle, of_type, *following):
        plan.require_indexes(100)
    # A page of tokens without a symbol or name looks for fewer namesakes.
    assert max(plan.buffers for plan in (last, *following)) <= 2 * first.buffers


@pytest.mark.parametrize("order", tokens.ORDERS)
@pytest.mark.parametrize("text", ["a", "USDT", "0xab", "no such"])
def test_texts_are_looked_for_in_indexes_whatever_they_match(many, order, text):
    plan, answer = plan_of(many, sort=order, q=text, limit=100)
    plan.require_indexes()
    assert answer["total"] <= 4_000
    assert plan.buffers <= 12_000, plan.buffers
