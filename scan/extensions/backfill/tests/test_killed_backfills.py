"""`scan backfill chain` continued after SIGKILL at each stage."""

import pytest

from scan.extensions.backfill.tests.backfilling import BackfillProcess
from tests.support import database, indexing, table_digest


@pytest.mark.long
def test_a_killed_backfill_is_continued_at_every_stage(database_url, scenario, indexed, tmp_path):
    head = scenario.anvil.head()

    def state(condition):
        statement = f"SELECT count(*) FROM bulk_backfill WHERE {condition}"  # noqa: S608
        return database.execute(database_url, statement) == [(1,)]

    moments = [
        lambda: any((tmp_path / "files" / "blocks").glob("0*")),
        lambda: state("stage = 'inspect'") or state("stage = 'load'"),
        lambda: (tmp_path / "files" / "derived.duckdb").exists(),
        lambda: state("cardinality(loaded) > 0"),
        lambda: state("'transactions_60' = ANY (loaded) AND cardinality(loaded) > 4"),
        lambda: state("cardinality(loaded) > 20"),
    ]
    with BackfillProcess(database_url, scenario.anvil.url, tmp_path, head - 3) as process:
        for moment in moments:
            process.wait_until(moment)
            process.kill()
            assert database.execute(database_url, "SELECT count(*) FROM blocks") == [(0,)]
            process.start()
        assert process.wait() == 0, process.tail()
    assert database.execute(database_url, "SELECT count(*) FROM bulk_backfill") == [(0,)]
    indexing.Indexing(database_url, scenario.anvil.url).run_until(head)
    assert table_digest.digest(database_url) == table_digest.digest(indexed.settings.database_url)
