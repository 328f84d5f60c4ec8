"""API v2 at 100,000 transactions: by indexes, and a deep page costs what the first one does."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import pytest
from flask.testing import FlaskClient

from app import create_app
from bench.cases import HOT, HOT_TOKEN
from scan.http.services import Services
from tests.support.database import Postgres
from tests.support.explain import ExplainingDatabase
from tests.support.indexing import settings_for
from tests.support.serving import NOWHERE

TABLES_THAT_STAY_SMALL = {"chain", "dexes", "label_state", "daily_stats", "credits", "withdrawals"}
# Pages of PostgreSQL that all statements of a request touch, of tables and indexes: each of 50 rows
# has its transaction, its parties and its tokens.
MOST_BUFFERS = 4_000
DEEPER = 2.0


class Seeded(NamedTuple):
    client: FlaskClient
    database: ExplainingDatabase


@pytest.fixture(scope="module")
def seeded(postgres: Postgres, seeded_template: str) -> Iterator[Seeded]:
    with postgres.cloned(seeded_template) as url:
        database = ExplainingDatabase(url)
        app = create_app(settings_for(url, NOWHERE))
        served: Services = app.extensions["scan"]
        app.extensions["scan"] = replace(served, sources=replace(served.sources, database=database))
        yield Seeded(app.test_client(), database)
        database.close()


def buffers(seeded: Seeded, path: str) -> int:
    seeded.database.plans.clear()
    response = seeded.client.get(f"/api/v2{path}")
    assert response.status_code == 200, (path, response.text)
    for plan in seeded.database.plans:
        scanned = plan.sequential_scans() - TABLES_THAT_STAY_SMALL
        assert not scanned, (path, plan.statement, scanned)
    return sum(plan.buffers for plan in seeded.database.plans)


LISTS = [
    *("/blocks", "/transactions", "/token-transfers", "/internal-transactions"),
    *(f"/addresses/{HOT}/{name}" for name in ("transactions", "internal-transactions", "logs")),
    f"/addresses/{HOT}/transactions?filter=from",
    f"/tokens/{HOT_TOKEN}/transfers",
]


@pytest.mark.parametrize("path", LISTS)
def test_a_deep_page_costs_what_the_first_does(seeded: Seeded, path: str) -> None:
    first = buffers(seeded, path)
    assert first < MOST_BUFFERS
    deep = buffers(seeded, f"{path}{'&' if '?' in path else '?'}block_number=100&index=3")
    assert deep <= DEEPER * first + 100


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/addresses",
            "/stats",
            "/main-page/blocks",
            "/main-page/transactions",
            "/tokens",
            "/smart-contracts",
        ),
        *(f"/addresses/{HOT}/{name}" for name in ("counters", "tabs-counters", "tokens", "nft")),
        f"/tokens/{HOT_TOKEN}/holders",
        *("/blocks/300", "/blocks/300/transactions", "/withdrawals", "/search?q=token"),
    ],
)
def test_others_are_read_by_indexes(seeded: Seeded, path: str) -> None:
    assert buffers(seeded, path) < 10 * MOST_BUFFERS
