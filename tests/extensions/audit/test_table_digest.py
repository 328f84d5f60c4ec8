"""What a failing comparison of two databases shows: the audit's findings, rows and columns."""

from tests.conftest import Played
from tests.extensions.audit.auditing import spoil
from tests.support.indexing import Indexing
from tests.support.table_digest import digest, explain


def test_a_mismatch_names_rows_columns_and_what_the_audit_says(
    database_url: str, indexed: Indexing, scenario: Played
) -> None:
    indexing = Indexing(database_url, scenario.anvil.url).run_until(scenario.truth.head)
    assert digest(database_url) == digest(indexed.settings.database_url)
    spoil(indexing.settings, "UPDATE tokens SET transfer_count = transfer_count + 7")
    spoil(indexing.settings, "DELETE FROM pool_candles")
    lines = "\n".join(explain(digest(database_url), digest(indexed.settings.database_url)))
    assert lines.startswith("the databases differ in pool_candles, tokens")
    for part in ("should be", "transfer_count is ", "only in the right one"):
        assert part in lines, lines
