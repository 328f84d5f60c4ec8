"""API v2 at 50,000 transactions: by indexes, and a deep page costs what the first one does."""

import pytest

from bench.cases import HOT, HOT_TOKEN
from tests.support.explain import SMALL

pytestmark = pytest.mark.thorough

TABLES_THAT_STAY_SMALL = {*SMALL, "daily_stats", "credits", "withdrawals"}
# Pages of PostgreSQL that all statements of a request touch, of tables and indexes: each of 50 rows
# has its transaction, its parties and its tokens.
MOST_BUFFERS = 4_000


def buffers(seeded_service, path):
    plans, _ = seeded_service.plans(f"/api/v2{path}")
    for plan in plans:
        plan.require_indexes(small=TABLES_THAT_STAY_SMALL)
    return sum(plan.buffers for plan in plans)


@pytest.mark.parametrize(
    "path",
    f"""
    /blocks /transactions /token-transfers /internal-transactions /tokens/{HOT_TOKEN}/transfers
    /addresses/{HOT}/transactions /addresses/{HOT}/transactions?filter=from
    /addresses/{HOT}/internal-transactions /addresses/{HOT}/logs
    """.split(),
)
def test_a_deep_page_costs_what_the_first_does(seeded_service, path):
    first = buffers(seeded_service, path)
    assert first < MOST_BUFFERS
    cursor = "block_number=100" if path == "/blocks" else "block_number=100&index=3"
    deep = buffers(seeded_service, f"{path}{'&' if '?' in path else '?'}{cursor}")
    deeper = 2.0
    assert deep <= deeper * first + 100


@pytest.mark.parametrize(
    "path",
    f"""
    /addresses /stats /main-page/blocks /main-page/transactions /tokens /smart-contracts
    /stats/hot-smart-contracts?scale=5m /smart-contracts/counters /withdrawals /search?q=token
    /addresses/{HOT}/counters /addresses/{HOT}/tabs-counters /addresses/{HOT}/tokens
    /addresses/{HOT}/nft /tokens/{HOT_TOKEN}/holders /blocks/300 /blocks/300/transactions
    /blocks/300/transactions?type=token_transfer
    /advanced-filters /advanced-filters?block_number=100&transaction_index=1
    /advanced-filters?from_address_hashes_to_include={HOT}&to_address_hashes_to_include={HOT}
    /advanced-filters?to_address_hashes_to_include={HOT}&transaction_types=ERC-20
    /addresses/{HOT}/transactions/csv?to_period=2020-01-01
    /addresses/{HOT}/internal-transactions/csv?filter_value=to
    /addresses/{HOT}/token-transfers/csv /addresses/{HOT}/logs/csv
    /tokens/{HOT_TOKEN}/transfers/csv /tokens/{HOT_TOKEN}/holders/csv
    """.split(),
)
def test_others_are_read_by_indexes(seeded_service, path):
    assert buffers(seeded_service, path) < 10 * MOST_BUFFERS


def test_a_batch_of_tokens_is_read_by_an_index(seeded_service):
    plans, body = seeded_service.plans(
        "/api/v2/tokens/batch", {"address_hashes": [HOT_TOKEN, HOT] * 25}
    )
    assert [token["address_hash"].lower() for token in body] == [HOT_TOKEN]
    for plan in plans:
        plan.require_indexes(small=TABLES_THAT_STAY_SMALL)
