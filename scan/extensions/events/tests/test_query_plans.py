"""What following reads every second, with 500 contracts followed and 100,000 with the code of
builds."""

from hashlib import sha256
from pathlib import Path

import pytest

from scan.extensions.events.following import MOST_AUTOMATIC
from tests.support.explain import ExplainingDatabase

FOLLOWED, BUILDS = 500, 1000
NUMBERS = {"followed": FOLLOWED, "builds": BUILDS, "of_a_build": 100_000, "many": 20_000}
NUMBERS["most_automatic"] = MOST_AUTOMATIC


@pytest.fixture(scope="module")
def database(postgres, template):
    with postgres.cloned(template) as url:
        explaining = ExplainingDatabase(url)
        rows = Path(__file__).with_name("followed.sql").read_text(encoding="utf-8")
        explaining.execute_script(rows.format(**NUMBERS))
        yield explaining
        explaining.close()


def plan_of(database, statement, **params):
    database.plans.clear()
    database.rows(statement, **params)
    return database.plans[0]


def test_contracts_of_builds_are_found_by_their_code(database):
    plan = plan_of(database, "events/built_contracts_list", most=MOST_AUTOMATIC)
    plan.require_indexes(small={"built_abis", "followed_contracts", "unfollowed_contracts"})
    assert plan.buffers <= 12 * BUILDS


def test_what_views_follow_from_is_read_by_indexes(database):
    plan = plan_of(database, "events/contracts_list_due", others=[])
    plan.require_indexes(small={"followed_contracts"})
    assert plan.buffers <= 40 * FOLLOWED


def test_newest_logs_are_read_by_indexes(database):
    plan = plan_of(database, "events/newest_logs_list")
    plan.require_indexes(small={"followed_contracts"})
    assert plan.buffers <= 10 * FOLLOWED


def test_a_request_counts_some_children_and_no_topics_but_those_of_events(database):
    factory, most = sha256(b"other1").digest()[:20], 50
    plan = plan_of(database, "queries/event_views_list", address=factory, most=most)
    plan.require_indexes(small={"followed_contracts"})
    assert plan.buffers <= 2 * most


def test_a_step_of_a_removal_reads_as_much_as_it_removes(database):
    rule, most = sha256(b"rule").digest(), 100
    plan = plan_of(database, "events/removal_continue", address=rule, most=most, is_last=False)
    plan.require_indexes()
    assert plan.buffers <= 20 * most
