"""Statements over the seeded database that read little of indexes alone."""

import pytest

from tests.support.explain import SMALL


@pytest.fixture(scope="module")
def token(seeded_service):
    """The token with most holders."""
    [largest] = seeded_service.client.get("/api/v1/tokens?limit=1").json["tokens"]
    return bytes.fromhex(largest["address"][2:])


def bounded_row(database, most_buffers, statement, small=SMALL, **params):
    """Run a statement that reads indexes alone, and little of them."""
    database.plans.clear()
    row = database.row(statement, **params)
    [plan] = database.plans
    plan.require_indexes(small=small)
    assert plan.buffers <= most_buffers, (statement, plan.buffers)
    return row
