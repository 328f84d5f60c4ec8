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


# Each statement with its parameters, small tables, and the most pages that it reads.
@pytest.mark.parametrize(
    ("statement", "params", "small", "buffers"),
    [
        # Contracts of builds are found by their code.
        ("events/built_contracts_list", {"most": MOST_AUTOMATIC}, "built_abis unfollowed_contracts",
         12 * BUILDS),
        ("events/contracts_list_due", {"others": []}, "", 40 * FOLLOWED),
        ("events/newest_logs_list", {}, "", 10 * FOLLOWED),
        # A request counts some children, and no topics but those of events.
        ("queries/event_views_list", {"address": sha256(b"other1").digest()[:20], "most": 50}, "",
         100),
        # A step of a removal reads as much as it removes.
        ("events/removal_continue", {"address": sha256(b"rule").digest(), "most": 100,
         "is_last": False}, "", 2000),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_read_is_bounded_and_by_indexes(database, statement, params, small, buffers):
    database.plans.clear()
    database.rows(statement, **params)
    database.plans[0].require_indexes(small={"followed_contracts", *small.split()})
    assert database.plans[0].buffers <= buffers
