"""A bulk backfill's tables are those of the sequential indexer, by their digests."""

from pathlib import Path

import pytest

from scan.audit import derived_tables
from scan.bulk import derivation
from tests.audit import auditing
from tests.bulk.backfilling import backfill, follow
from tests.conftest import Played
from tests.support.database import Postgres
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest


# Derived in parts of the addresses, or all at once; traced blocks are decoded one by one, others in
# columns.
@pytest.mark.parametrize(
    ("traces", "logs", "buckets"),
    [
        ("auto", "all", 4),
        pytest.param("off", "all", 1, marks=pytest.mark.long),
        pytest.param("off", "standard", 1, marks=pytest.mark.long),
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
) -> None:
    monkeypatch.setattr(derivation, "buckets_for", lambda *_: buckets)
    head = scenario.anvil.head()
    settings = settings_for(database_url, scenario.anvil.url, traces=traces, logs=logs)
    assert backfill(settings, tmp_path / "files", last_block=head - 3)
    follow(settings, head)
    fresh = fresh_digest(postgres, template, scenario.anvil, traces=traces, logs=logs)
    assert digest(database_url) == fresh
    assert auditing.run(settings) == derived_tables.EXACT
