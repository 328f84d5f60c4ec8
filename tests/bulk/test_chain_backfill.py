"""A bulk backfill's tables are those of the sequential indexer, by their digests."""

from pathlib import Path

import pytest

from scan.audit import derived_tables
from scan.bulk import derivation
from scan.settings import PARTITION_ROWS
from tests.audit import auditing
from tests.bulk.backfilling import backfill, follow
from tests.conftest import Played
from tests.support.database import Postgres, execute
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest


# Derived in parts of the addresses, or all at once; traced blocks are decoded one by one, others in
# columns. The first case in partitions.
@pytest.mark.parametrize(
    ("traces", "logs", "buckets", "partition_rows"),
    [
        ("auto", "all", 4, 100),
        pytest.param("off", "all", 1, PARTITION_ROWS, marks=pytest.mark.long),
        pytest.param("off", "standard", 1, PARTITION_ROWS, marks=pytest.mark.long),
    ],
)
def test_tables_are_those_of_the_indexer(
    postgres: Postgres,
    template: str,
    database_url: str,
    scenario: Played,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    traces: str,
    logs: str,
    buckets: int,
    partition_rows: int,
) -> None:
    monkeypatch.setattr(derivation, "buckets_for", lambda *_: buckets)
    head = scenario.anvil.head()
    settings = settings_for(
        database_url,
        scenario.anvil.url,
        traces=traces,
        logs=logs,
        partition_rows=partition_rows,
    )
    assert backfill(settings, tmp_path / "files", last_block=head - 3)
    parts = execute(
        database_url,
        "SELECT count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid"
        " WHERE inhparent IN ('transactions'::regclass, 'logs'::regclass)",
    )
    assert (parts >= [(8,)]) == (partition_rows == 100), parts
    follow(settings, head)
    fresh = fresh_digest(postgres, template, scenario.anvil, traces=traces, logs=logs)
    assert digest(database_url) == fresh
    assert auditing.run(settings) == derived_tables.EXACT
