"""The first seconds of a service: a schema, and nothing in it."""

from collections.abc import Iterator

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.support.database import Postgres
from tests.support.indexing import settings_for

ENTITIES = (
    "transactions",
    "blocks",
    "tokens",
    "token_transfers",
    "dex_trades",
    "internal_transfers",
)
ADDRESS = "0x" + 40 * "a"


@pytest.fixture(scope="module")
def empty(postgres: Postgres, template: str) -> Iterator[FlaskClient]:
    """Nothing is written by what is asked here."""
    with postgres.cloned(template) as url:
        yield create_app(settings_for(url, "http://127.0.0.1:1")).test_client()


@pytest.mark.parametrize(
    "path", ["blocks", "transactions", "tokens", f"transactions?address={ADDRESS}", "blocks?page=9"]
)
def test_lists_are_empty(empty, path) -> None:
    answer = empty.get(f"/api/v1/{path}")
    assert answer.status_code == 200
    assert [*answer.json.values()] == [[], 0, None]


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize("entity", ENTITIES)
def test_queries_find_nothing(empty, entity, order) -> None:
    for body in ({}, {"offset": 10}):
        asked = {"entity": entity, "orderBy": order, **body}
        found = empty.post("/api/v1/query", json=asked).json
        assert (found["entity"], found["count"], found["data"]) == (entity, 0, [])
        assert (found["total"], found["next"]) == (0, None)


def test_nothing_is_known(empty) -> None:
    paths = ("blocks/0", f"tokens/{ADDRESS}", f"transactions/0x{64 * '0'}")
    assert {empty.get(f"/api/v1/{path}").status_code for path in paths} == {404}


def test_statistics_and_pages_tell_of_nothing(empty) -> None:
    stats = empty.get("/api/v1/stats").json
    del stats["version"]
    assert stats == {
        **dict.fromkeys(("latestBlock", "totalTransactions", "totalTokens"), 0),
        **dict.fromkeys(("chainId", "chainName", "firstBlock")),
        "avgGasPrice": "0",
    }
    assert empty.get("/readyz").json["indexedBlock"] is None
    assert empty.get("/").status_code == 200
    assert empty.get("/metrics").status_code == 200
