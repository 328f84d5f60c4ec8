"""What following reads every second, with 500 contracts followed and 100,000 with the code of
builds."""

from hashlib import sha256

import pytest

from scan.extensions.events.following import MOST_AUTOMATIC
from tests.support.explain import ExplainingDatabase

FOLLOWED, BUILDS = 500, 1000
NUMBERS = {"followed": FOLLOWED, "builds": BUILDS, "of_a_build": 100_000, "many": 20_000}
NUMBERS["most_automatic"] = MOST_AUTOMATIC
ROWS = r"""
-- Of a build each, but for the first, of which there are many; the followed ones are proxies, too.
CREATE FUNCTION of(text) RETURNS bytea LANGUAGE sql RETURN substr(sha256($1::bytea), 1, 20);
INSERT INTO contracts SELECT of('many' || n), n, sha256('code1')
FROM generate_series(1, {of_a_build}) AS n;
INSERT INTO contracts SELECT of('one' || n), n, sha256(('code' || n)::bytea)
FROM generate_series(2, {builds}) AS n;
INSERT INTO contracts SELECT of('other' || n), n, sha256(('other' || n % 3000)::bytea)
FROM generate_series(1, 100000) AS n;
INSERT INTO contract_changes SELECT of('other' || n), n, NULL, true
FROM generate_series(1, 100000) AS n;
INSERT INTO built_abis SELECT sha256(('code' || n)::bytea), 'Build' || n, '[]', now()
FROM generate_series(1, {builds}) AS n;
INSERT INTO followed_contracts (address, name, complete_from, is_automatic, implementations)
SELECT of('other' || n), 'c' || n, 0, n < {most_automatic},
    ARRAY[of('many' || n), of('many' || n + 500)]
FROM generate_series(1, {followed}) AS n;
INSERT INTO followed_contracts (address, name, is_automatic, factory)
VALUES (sha256('rule'), 'rule', false, of('other1'));
INSERT INTO followed_children SELECT of('child' || n), sha256('rule'), n
FROM generate_series(1, {many}) AS n;
INSERT INTO contract_event_counts SELECT of('other1'), sha256(n::text::bytea), 1
FROM generate_series(1, {many}) AS n;
INSERT INTO log_emitters SELECT of('other' || n % 1000), n
FROM generate_series(1, 100000) AS n;
ANALYZE contracts, built_abis, followed_contracts, contract_changes, verified_contracts,
    log_emitters, followed_children, contract_event_counts;
"""


@pytest.fixture(scope="module")
def database(postgres, template):
    with postgres.cloned(template) as url:
        explaining = ExplainingDatabase(url)
        explaining.execute_script(ROWS.format(**NUMBERS))
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
