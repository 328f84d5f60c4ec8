"""How PostgreSQL serves lists of items: by index, the last page as the first."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.support.database import Postgres
from tests.support.explain import ExplainingDatabase, Plan
from tests.support.indexing import settings_for
from tests.support.seeded_items import BAZAAR, COLLECTION, PERSON, address_of, seed_items

TRANSFERS = 60_000
NUMBERS = itertools.count()
NOBODY = "http://127.0.0.1:9"
DEEPER = 1.5


class Seeded(NamedTuple):
    client: FlaskClient
    database: ExplainingDatabase

    def plan(self, path: str) -> tuple[Plan, Any]:
        self.database.plans.clear()
        answer = self.client.get(f"/api/v1{path}{'&' if '?' in path else '?'}={next(NUMBERS)}")
        assert answer.status_code == 200, answer.text
        [plan] = self.database.plans
        return plan, answer.json


@pytest.fixture(scope="module")
def seeded(postgres: Postgres, template: str) -> Iterator[Seeded]:
    with postgres.cloned(template) as url:
        seed_items(url, TRANSFERS)
        database = ExplainingDatabase(url)
        app = create_app(settings_for(url, NOBODY))
        served = app.extensions["scan"]
        app.extensions["scan"] = replace(served, sources=replace(served.sources, database=database))
        yield Seeded(app.test_client(), database)
        database.close()


@pytest.mark.parametrize("limit", [25, 100])
@pytest.mark.parametrize(
    ("path", "least", "has_every_depth"),
    [
        (f"/tokens/{COLLECTION}/items", 17_000, True),
        (f"/tokens/{BAZAAR}/items", 500, True),
        (f"/tokens/{address_of('collection', 50)}/items", 10, True),
        (f"/tokens/{BAZAAR}/items/7/transfers", 6_000, True),
        (f"/tokens/{COLLECTION}/items/0/transfers", 1, True),
        (f"/addresses/{PERSON}/items", 5_000, False),
        (f"/addresses/{address_of('person', 40_000)}/items", 0, False),
    ],
    ids=lambda value: str(value)[-20:],
)
def test_lists_are_read_from_indexes_at_any_depth(
    seeded: Seeded, path: str, least: int, has_every_depth: bool, limit: int
) -> None:
    """The items of an address come from its nearer end: the middle page passes half of them."""
    first, answer = seeded.plan(f"{path}?limit={limit}")
    assert answer["total"] >= least
    pages = max(1, -(-answer["total"] // limit))
    middle, _ = seeded.plan(f"{path}?limit={limit}&page={(pages + 1) // 2}")
    last, _ = seeded.plan(f"{path}?limit={limit}&page={pages}")
    beyond, _ = seeded.plan(f"{path}?limit={limit}&page={pages + 1}")
    for plan in (first, middle, last, beyond):
        assert plan.sequential_scans() - {"chain", "label_state"} == set()
        assert plan.rows_sorted() <= limit
    for plan in (last, beyond, *([middle] if has_every_depth else [])):
        assert plan.buffers <= DEEPER * first.buffers


@pytest.mark.parametrize(
    "path", [f"/tokens/{COLLECTION}/items/0", f"/tokens/{BAZAAR}/items/7"], ids=["one", "many"]
)
def test_one_item_reads_a_bounded_part_of_indexes(seeded: Seeded, path: str) -> None:
    plan, answer = seeded.plan(path)
    assert plan.sequential_scans() - {"chain", "label_state"} == set()
    assert plan.rows_sorted() <= 25
    assert plan.buffers <= 500
    assert len(answer["owners"]) == min(100, answer["ownerCount"])
