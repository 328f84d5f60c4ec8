"""How PostgreSQL serves every list at 50,000 transactions: by index, and at any depth alike.

Asked over HTTP, so that the statements are those that the service runs, with its parameters.
"""

import math

import pytest

from scan.database.lists import all_entities
from scan.queries.filter_values import QUERIED
from scan.queries.filtered_pages import MAX_UNLISTED_ENTRIES
from tests.support import database, explain
from tests.support.seeded_lists import LISTED, Seeded, query, seeded

__all__ = ["seeded"]

pytestmark = pytest.mark.thorough

# A few probes, before each list of logs, and before each by several keys; and what decodes logs.
BESIDE_A_LIST = {
    "queries/logs_get_scope",
    "contracts/contracts_find",
    "contracts/codes_list_delegations",
    "contracts/signatures_find",
    *(f"queries/{n}_get_bounds" for n, e in all_entities().items() if e.counted or e.by_param),
}


def plan_of(seeded, path, body=None):
    """The plan of the one statement that a request needs, and its answer."""
    plans, answer = seeded.service.plans(f"/api/v1{path}", body)
    [plan] = [plan for plan in plans if plan.statement not in BESIDE_A_LIST]
    return plan, answer


@pytest.mark.parametrize("heat", ["hot", "rare"])
def test_holders_of_a_token(seeded, heat):
    """Its statement is no entity's, whose are those of /query."""
    token, limit = seeded.value("token_transfers", "tokenAddress", heat), 100
    path = f"/tokens/{token}/holders?limit={limit}"
    first, answer = plan_of(seeded, path)
    pages = -(-answer["total"] // limit)
    middle, _ = plan_of(seeded, f"{path}&page={(pages + 1) // 2}")
    last, _ = plan_of(seeded, f"{path}&page={pages}")
    for plan in (first, middle, last):
        plan.require_indexes(limit)
    assert last.buffers <= explain.DEEPER * first.buffers


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("entity", QUERIED)
def test_lists_by_no_filter_and_by_each(seeded, entity, direction):
    """Of what most records match in every range of blocks, and of what few match: at the ends, in
    the middle and beyond the last page, by offset and by cursor."""
    ranges = ({"blockFrom": 100}, {"blockTo": 600}, {"blockFrom": 200, "blockTo": 400})
    every = [{}, *ranges] if entity != "tokens" else [{}]
    for key in (key for of_entity, key in LISTED if of_entity == entity):
        hot = {key: seeded.value(entity, key, "hot")}
        every += [hot, {**hot, **ranges[2]}, {key: seeded.value(entity, key, "rare")}]
    for filters in every:
        body = {"entity": entity, "filter": filters, "orderBy": direction}
        first, newest = plan_of(seeded, "/query", body)
        total = newest["total"]
        plans, following = [], [newest["next"]]
        for offset in {total // 2, (total - 1) // 25 * 25}:
            plan, answer = plan_of(seeded, "/query", {**body, "offset": offset})
            assert answer["count"] > 0
            plans.append(plan)
            following.append(answer["next"])
        for cursor in filter(None, following):
            plans.append(plan_of(seeded, "/query", {**body, "cursor": cursor})[0])
        beyond, nothing = plan_of(seeded, "/query", {**body, "offset": total})
        assert nothing["count"] == 0
        for plan in (first, beyond, *plans):
            plan.require_indexes(25)
            assert plan.buffers <= explain.DEEPER * first.buffers


# The longer of two lists takes three times as many buffers as 600.
@pytest.mark.parametrize(
    ("entity", "filters", "most"),
    [
        ("dex_trades", {"pool": "hot", "dex": "hot"}, math.inf),
        ("transactions", {"address": "hot", "to": "rare"}, 600),
        ("transactions", {"from": "rare", "nonce": 2**63 - 1}, 600),
        ("token_transfers", {"from": "hot", "tokenAddress": "rare"}, 600),
        ("logs", {"topic0": "rare", "address": "hot", "blockTo": 300}, 600),
        ("user_operations", {"sender": "rare", "entryPoint": "hot"}, 600),
    ],
    ids=str,
)
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_combined_filters_use_an_index(seeded, entity, filters, most, direction):
    values = {
        key: value if isinstance(value, int) else seeded.value(entity, key, value)
        for key, value in filters.items()
    }
    plan, _ = plan_of(seeded, "/query", {"entity": entity, "orderBy": direction, "filter": values})
    plan.require_indexes()
    assert plan.buffers < most


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize(
    ("entity", "filters"),
    [("token_transfers", {"tokenType": "BEP1155"}), ("transactions", {"method": "0x01020304"})],
    ids=str,
)
def test_a_filter_without_a_list_reads_a_bounded_part(seeded, entity, filters, direction):
    """A page of nothing ends there, and the next one goes on to the end of the list."""
    body = {"entity": entity, "filter": filters, "orderBy": direction}
    pages = [plan_of(seeded, "/query", body)]
    while (cursor := pages[-1][1]["next"]) is not None:
        pages.append(plan_of(seeded, "/query", {**body, "cursor": cursor}))
    assert [page["data"] for _, page in pages] == [[]] * len(pages)
    removed = [
        node["Rows Removed by Filter"]
        for plan, _ in pages
        for node in plan.nodes
        if node["Table"] == entity
    ]
    assert len(removed) == len(pages) and max(removed) <= MAX_UNLISTED_ENTRIES + 1
    total = query(seeded.service.client, entity, {}, 1)["total"]
    assert sum(removed) == total > MAX_UNLISTED_ENTRIES


@pytest.mark.parametrize("entity", ["transactions", "token_transfers", "internal_transfers"])
def test_what_an_address_sent_to_itself_has_an_index(seeded, entity):
    """Neither what it sent nor what it received is read for that."""
    hot = seeded.value(entity, "from", "hot")
    filters = {"from": hot, "to": hot, "blockTo": 300}
    plan, response = plan_of(seeded, "/query", {"entity": entity, "filter": filters})
    assert response["count"] > 0
    assert plan.buffers < 600
    filters = {"address": hot, "counterparty": hot, "blockTo": 300}
    plan, same = plan_of(seeded, "/query", {"entity": entity, "filter": filters})
    assert (same["data"], plan.buffers < 600) == (response["data"], True)


# The counter of an address's rows, by entity.
COUNTERS = {
    "transactions": "transaction_count",
    "token_transfers": "transfer_count",
    "internal_transfers": "internal_count",
}
PAIRS = {
    "that share the most": """SELECT from_address, to_address FROM {entity}
        WHERE from_address <> to_address GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT 1""",
    "that share nothing": """WITH busy AS (
            SELECT address, {counter} AS entries FROM addresses ORDER BY 2 DESC LIMIT 40)
        SELECT a.address, b.address FROM busy a JOIN busy b ON a.address < b.address
        WHERE NOT EXISTS (SELECT FROM {entity} e WHERE (e.from_address, e.to_address)
            IN ((a.address, b.address), (b.address, a.address)))
        ORDER BY least(a.entries, b.entries) DESC LIMIT 1""",
    "of a busy and a brief one": """SELECT
            (SELECT address FROM addresses ORDER BY {counter} DESC LIMIT 1),
            (SELECT address FROM addresses WHERE {counter} BETWEEN 1 AND 3 LIMIT 1)""",
}

SHORTER = "SELECT min({counter}) FROM addresses WHERE address = ANY(%s)"


def pages_of_pair(seeded, entity, pair, direction):
    """The request for what a pair shares, its plan and its answer, from the side of either; the
    plan read no more than the shorter list has."""
    counter = COUNTERS[entity]
    [row] = database.execute(seeded.url, PAIRS[pair].format(entity=entity, counter=counter))
    both = [bytes(address) for address in row]
    [(shorter,)] = database.execute(seeded.url, SHORTER.format(counter=counter), both)
    for address, counterparty in (both, both[::-1]):
        filters = {"address": "0x" + address.hex(), "counterparty": "0x" + counterparty.hex()}
        body = {"entity": entity, "filter": filters, "orderBy": direction}
        plan, answer = plan_of(seeded, "/query", body)
        plan.require_indexes(25)
        # Rows are fetched one by one; those of the busiest are a part of either's list.
        assert plan.buffers <= min(2 * shorter + 100, 1_500)
        yield body, answer


@pytest.mark.parametrize("direction", ["asc", "desc"])
@pytest.mark.parametrize("entity", COUNTERS)
def test_what_two_addresses_share_is_read_from_the_shorter_list(seeded, entity, direction):
    for pair in ("that share nothing", "of a busy and a brief one"):
        for _, answer in pages_of_pair(seeded, entity, pair, direction):
            assert (answer["count"] <= 3, answer["next"]) == (True, None)
    for body, answer in pages_of_pair(seeded, entity, "that share the most", direction):
        assert answer["count"] == 25
        following, _ = plan_of(seeded, "/query", {**body, "cursor": answer["next"]})
        following.require_indexes(25)
        assert following.buffers <= 1_500


@pytest.mark.parametrize("heat", ["hot", "rare"])
def test_adjacent_transactions_are_read_from_an_index(seeded, heat):
    """Of the newest, the oldest and one between them of a busy sender, and of a brief one."""
    filters = {"from": seeded.value("transactions", "from", heat)}
    total = query(seeded.service.client, "transactions", filters, 1)["total"]
    for offset in {0, total // 2, total - 1}:
        [transaction] = query(seeded.service.client, "transactions", filters, 1, offset)["data"]
        plan, adjacent = plan_of(seeded, f"/transactions/{transaction['hash']}/adjacent")
        plan.require_indexes(1)
        assert plan.buffers < 50
        expected = (offset == 0, offset == total - 1)
        assert (adjacent["next"] is None, adjacent["previous"] is None) == expected


def test_addresses_by_balance_are_read_from_their_index(own_seeded_service):
    """Of so many that they are not counted; a deep page passes those before it, a cursor none."""
    seeded = Seeded(own_seeded_service, {}, {})
    database.execute(
        seeded.url,
        "INSERT INTO addresses (address, first_seen, last_seen, transaction_count, sent_count,"
        " received_count, transfer_count, transfer_sent_count, transfer_received_count,"
        " trade_count, internal_count, internal_sent_count, internal_received_count,"
        " withdrawal_count, balance, balance_block)"
        " SELECT decode(md5(n::text) || '22222222', 'hex'), 0, 600, 0,0,0,0,0,0,0,0,0,0,0,"
        " n * 1e18, 600 FROM generate_series(1, 12000) AS n",
    )
    first, answer = plan_of(seeded, "/accounts?limit=100")
    assert (answer["total"], answer["accounts"][0]["balance"]) == (None, "12000" + 18 * "0")
    last, answer = plan_of(seeded, "/accounts?limit=100&page=100")
    after, following = plan_of(seeded, f"/accounts?limit=100&cursor={answer['next']}")
    assert following["accounts"][0]["balance"] == "2000" + 18 * "0"
    for plan in (first, last, after):
        plan.require_indexes(100)
    assert first.buffers <= 2_500 and last.buffers <= 4_000
    assert after.buffers <= explain.DEEPER * first.buffers
