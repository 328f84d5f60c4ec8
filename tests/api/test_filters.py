"""Filters of every list in pairs, compared with a look at every record."""

from contextlib import nullcontext

import pytest

from tests.support import brute_force, database, lists
from tests.support.indexing import Indexing
from tests.support.truth import comparable


@pytest.fixture(scope="module")
def chain(scenario):
    return lists.chain_of(scenario.truth)


@pytest.fixture(scope="module")
def client_of_stored_logs(shared_database_url, scenario):
    """Its index has all logs, and checkpoints in lists of a few entries."""
    database.use_short_checkpoints(shared_database_url)
    indexing = Indexing(shared_database_url, scenario.anvil.url, logs="all")
    return indexing.run_until(scenario.truth.head).client()


@pytest.mark.parametrize("entity", brute_force.KEYS)
def test_combinations_of_filters(client_of_stored_logs, chain, entity):
    require_combinations(client_of_stored_logs, chain, entity, 2)


@pytest.mark.thorough
def test_combinations_of_filters_of_the_nodes_logs(client, chain):
    require_combinations(client, chain, "logs", 1)


def require_combinations(client, chain, entity, most):
    """Of up to `most` keys the first page; and of some filters that tell something the other order,
    the pages that follow, and ranges of blocks and times."""
    combinations = brute_force.combinations_of_keys(entity, most)
    filters = (f for keys in combinations for f in brute_force.telling_filters(chain, entity, keys))
    for number, chosen in enumerate(filters):
        body = {"entity": entity, "filter": chosen, "limit": 100}
        whole = chain.find(body)
        brute_force.require_same(client, chain, whole, body)
        if number % 24:
            continue
        later = {**body, "orderBy": "asc", "limit": 3, "offset": 1}
        brute_force.require_same(client, chain, whole[::-1], later)
        require_next_page(client, body, whole)
        for index, filters_in_range in enumerate(brute_force.in_ranges(entity, chosen, whole)):
            in_range = {**body, "filter": filters_in_range}
            with brute_force.without_bounds() if index < 2 else nullcontext():
                brute_force.require_same(client, chain, chain.find(in_range), in_range)


def require_next_page(client, body, whole):
    """The page behind a cursor, in both directions; there is a cursor where rows follow."""
    for direction, rows in (("desc", whole), ("asc", whole[::-1])):
        page = {**body, "orderBy": direction, "limit": 2}
        first = client.post("/api/v1/query", json=page).json
        if len(rows) > 2:
            assert first["next"] is not None, f"rows follow, and there is no cursor: {page}"
        if first["next"] is not None:
            second = client.post("/api/v1/query", json={**page, "cursor": first["next"]}).json
            records = [comparable(row) for row in second["data"]]
            assert records == rows[2:4], f"behind the cursor of {page}"
