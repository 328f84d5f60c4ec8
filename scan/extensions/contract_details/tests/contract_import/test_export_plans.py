"""What a step beside serving and a look at a contract read, of 200,000 exported contracts."""

import hashlib
from datetime import UTC, datetime

import pytest

from scan.extensions.contract_details.contract_import import exported_sources
from tests.support.database import execute
from tests.support.explain import ExplainingDatabase

pytestmark = pytest.mark.thorough

EXPORTED = 200_000
ROWS = f"""
    CREATE FUNCTION of(text) RETURNS bytea LANGUAGE sql RETURN sha256($1::bytea);
    CREATE FUNCTION id_of(text) RETURNS uuid LANGUAGE sql RETURN md5($1)::uuid;
    INSERT INTO exported_contracts (address, code_hash, compilation_id, match, received_at)
    SELECT substr(of('a' || n), 1, 20), of('c' || n), id_of((n / 10)::text), 'full', now()
    FROM generate_series(1, {EXPORTED}) AS n;
    INSERT INTO exported_compilations
    SELECT id_of(n::text), 'C', 'C.sol', '0.8.28', '{{}}'
    FROM generate_series(0, {EXPORTED} / 10) AS n;
    INSERT INTO contracts SELECT substr(of('a' || n), 1, 20), 1, of('c' || n)
    FROM generate_series(1, 1000) AS n;
    INSERT INTO exported_files SELECT id_of((n / 5)::text), 'f' || n, of('s' || n / 3)
    FROM generate_series(0, {EXPORTED} / 2) AS n;
    INSERT INTO exported_sources SELECT of('s' || n), repeat('x', 100)
    FROM generate_series(0, {EXPORTED} / 6) AS n;
    ANALYZE contracts, exported_contracts, exported_compilations, exported_files, exported_sources;
"""  # noqa: S608
NOW = datetime(2026, 11, 29, tzinfo=UTC)
ADDRESS = hashlib.sha256(b"a1").digest()[:20]
READ = {  # the most pages
    "queries/contract_claims_list": ({"address": ADDRESS}, 100),
    "contract_import/exported_contracts_claim": ({"address": ADDRESS, "now": NOW}, 60),
    "contract_import/exported_contracts_find_used": (
        {"before": 2**63 - 1, "limit": exported_sources.WINDOW, "now": NOW},
        30 * exported_sources.WINDOW,
    ),
    "contract_import/exported_contracts_find_next": (
        {"after": b"", "limit": exported_sources.WINDOW, "now": NOW},
        30 * exported_sources.WINDOW,
    ),
    "contract_import/exported_compilations_list_missing": (
        {"keys": ["00000000-0000-0000-0000-000000000000"] * 1000},
        10_000,
    ),
    "contract_import/exported_sources_list_missing": ({"keys": [bytes(32)] * 1000}, 10_000),
}


@pytest.fixture(scope="module")
def database(postgres, indexed_template):
    with postgres.cloned(indexed_template) as url:
        execute(url, ROWS)
        explaining = ExplainingDatabase(url)
        yield explaining
        explaining.close()


@pytest.mark.parametrize("statement", READ)
def test_what_is_read_does_not_grow_with_the_export(database, statement):
    params, most = READ[statement]
    database.plans.clear()
    database.rows(statement, **params)
    [plan] = database.plans
    plan.require_indexes()
    assert plan.buffers <= most
