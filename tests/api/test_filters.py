"""Filters of every list together, compared with a look at every record: all pairs, and every fifth
combination of three; the long tests have all of these."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.conftest import Played
from tests.support.brute_force import (
    KEYS,
    Chain,
    Record,
    combinations_of_keys,
    in_ranges,
    require_same,
    telling_filters,
    without_bounds,
)
from tests.support.database import Postgres, use_short_checkpoints
from tests.support.indexing import Indexing
from tests.support.truth import comparable


@pytest.fixture(scope="module")
def chain(scenario: Played) -> Chain:
    truth = scenario.truth
    return Chain({entity: getattr(truth, entity) for entity in KEYS}, truth.created)


@pytest.fixture(scope="module")
def client_of_stored_logs(
    postgres: Postgres, template: str, scenario: Played
) -> Iterator[FlaskClient]:
    """Its index has all logs, and checkpoints in lists of a few entries."""
    with postgres.cloned(template) as url:
        use_short_checkpoints(url)
        indexing = Indexing(url, scenario.anvil.url, logs="all").run_until(scenario.truth.head)
        yield create_app(indexing.settings).test_client()


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("entity", KEYS)
def test_combinations_of_filters(
    client_of_stored_logs: FlaskClient, chain: Chain, entity: str, every: int
) -> None:
    combinations = list(combinations_of_keys(entity, 3))
    pairs = [keys for keys in combinations if len(keys) < 3]
    threes = [keys for keys in combinations if len(keys) == 3]
    require_combinations(client_of_stored_logs, chain, entity, [*pairs, *threes[::every]])


def test_every_pair_of_filters_of_the_nodes_logs(client: FlaskClient, chain: Chain) -> None:
    require_combinations(client, chain, "logs", combinations_of_keys("logs", 2))


def require_combinations(
    client: FlaskClient, chain: Chain, entity: str, combinations: Iterable[tuple[str, ...]]
) -> None:
    for keys in combinations:
        for filters in telling_filters(chain, entity, keys):
            body = {"entity": entity, "filter": filters, "limit": 100}
            whole = chain.find(body)
            require_same(client, chain, whole, body)
            later = {**body, "orderBy": "asc", "limit": 3, "offset": 1}
            require_same(client, chain, whole[::-1], later)
            require_next_page(client, body, whole)
            for number, filters_in_range in enumerate(in_ranges(entity, filters, whole)):
                in_range = {**body, "filter": filters_in_range}
                with without_bounds() if number < 2 else nullcontext():
                    require_same(client, chain, chain.find(in_range), in_range)


def require_next_page(client: FlaskClient, body: Record, whole: list[Record]) -> None:
    """The page behind a cursor, in both directions; there is a cursor where rows follow."""
    for direction, rows in (("desc", whole), ("asc", whole[::-1])):
        page = {**body, "orderBy": direction, "limit": 2}
        first = client.post("/api/v1/query", json=page).json
        if len(rows) > 2:
            assert first["next"] is not None, f"rows follow, and there is no cursor: {page}"
        if first["next"] is not None:
            second = client.post("/api/v1/query", json={**page, "cursor": first["next"]}).json
            found = [comparable(row) for row in second["data"]]
            assert found == rows[2:4], f"behind the cursor of {page}"
