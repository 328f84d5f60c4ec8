"""How tables are loaded, as far as their rows do not show it."""

import pytest

from scan.database.connection import Database


@pytest.mark.parametrize(("may_set", "expected"), [(True, "off"), (False, "pglz")])
def test_indexes_are_made_without_compressed_wal_where_the_role_may_set_that(
    database_url: str, may_set: bool, expected: str
) -> None:
    database = Database(database_url, statement_timeout_ms=0)
    with database.transaction() as tx:
        tx.script("SET LOCAL wal_compression = pglz; CREATE ROLE loading")
        if not may_set:
            tx.script("SET LOCAL ROLE loading")
        tx.execute("bulk/wal_compression_off")
        tx.script(
            "RESET ROLE; DROP ROLE loading;"
            f"DO $$BEGIN ASSERT current_setting('wal_compression') = '{expected}'; END$$"
        )
    database.close()
