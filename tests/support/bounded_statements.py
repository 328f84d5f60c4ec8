"""Statements over the seeded database that read little of indexes alone."""

import pytest

from tests.support.explain import SMALL

LARGEST = {
    "direction": "desc",
    "limit": 1,
    "offset": 0,
    "has_text": False,
    **dict.fromkeys(
        ("after_holders", "after_address", "first_address", "last_address", "text", "type")
    ),
}


@pytest.fixture(scope="module")
def service(seeded_service):
    return seeded_service


@pytest.fixture(scope="module")
def database(service):
    return service.database


@pytest.fixture(scope="module")
def token(database):
    row = database.row("queries/tokens_list", **LARGEST)
    return bytes.fromhex(row[1].split('"address":"0x')[1][:40])


def bounded_row(database, most_buffers, statement, small=SMALL, **params):
    """Run a statement that reads indexes alone, and little of them."""
    database.plans.clear()
    row = database.row(statement, **params)
    [plan] = database.plans
    plan.require_indexes(small=small)
    assert plan.buffers <= most_buffers, (statement, plan.buffers)
    return row
