"""A bulk backfill's tables are those of the sequential indexer, by their digests."""

from pathlib import Path

from scan.audit import derived_tables
from tests.audit import auditing
from tests.bulk.backfilling import backfill, follow
from tests.conftest import Played
from tests.support.database import Postgres
from tests.support.indexing import settings_for
from tests.support.table_digest import digest, fresh_digest


def test_tables_are_those_of_the_indexer(
    postgres: Postgres, template: str, database_url: str, scenario: Played, tmp_path: Path
) -> None:
    head = scenario.anvil.head()
    settings = settings_for(database_url, scenario.anvil.url, logs="all")
    assert backfill(settings, tmp_path / "files", last_block=head - 3)
    follow(settings, head)
    assert digest(database_url) == fresh_digest(postgres, template, scenario.anvil, logs="all")
    assert auditing.run(settings) == derived_tables.EXACT
