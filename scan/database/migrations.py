"""The database's schema brought up to date: schema.sql for what is new, migrations/ for the rest.

schema.sql is the whole truth and safe to repeat, so a new table, index or function needs no more
than its lines there. What "IF NOT EXISTS" passes over (another column, another condition of an
index) is changed by a numbered file first.
"""

import functools
import hashlib
import logging
from typing import NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.settings import ROOT, Settings

log = logging.getLogger(__name__)

SCHEMA = "schema.sql"


class Migration(NamedTuple):
    number: int
    name: str
    text: str


class ExpectedSchema(NamedTuple):
    """What this version of Scan expects of its database."""

    schema: str
    migrations: tuple[Migration, ...]

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.schema.encode()).digest()

    @property
    def newest(self) -> int:
        return self.migrations[-1].number


@functools.cache
def expected_schema() -> ExpectedSchema:
    files = sorted((ROOT / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql"))
    migrations = tuple(
        Migration(int(path.name[:4]), path.name, path.read_text(encoding="utf-8")) for path in files
    )
    return ExpectedSchema((ROOT / SCHEMA).read_text(encoding="utf-8"), migrations)


def run(settings: Settings) -> list[str]:
    """Names of the files applied; safe to repeat, and while other instances do the same."""
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-schema")
    try:
        return bring_up(database, expected_schema())
    finally:
        database.close()


def bring_up(database: Database, expected: ExpectedSchema) -> list[str]:
    """One transaction, so that a fault anywhere leaves the schema as it was."""
    with database.transaction() as tx:
        tx.execute("database/migrations_lock")
        [(has_tables, knows_migrations)] = tx.rows("database/migrations_find_tables")
        known = (
            {number for (number,) in tx.rows("database/migrations_list")}
            if knows_migrations
            else set()
        )
        if max(known, default=0) > expected.newest:
            log.info("the schema is of a newer version, and is left as it is")
            return []
        pending = [m for m in expected.migrations if m.number not in known]
        if knows_migrations and not pending and _digest(tx) == expected.digest:
            return []
        for migration in pending if has_tables else ():
            log.info("applying %s", migration.name)
            tx.script(migration.text)
        tx.script(expected.schema)
        _note(tx, pending, expected.digest)
    return [*(m.name for m in pending if has_tables), SCHEMA]


def _digest(tx: Transaction) -> bytes | None:
    found = tx.value("database/schema_state_get")
    return None if found is None else bytes(found)


def _note(tx: Transaction, migrations: list[Migration], digest: bytes) -> None:
    for migration in migrations:
        tx.execute("database/migrations_insert", number=migration.number, name=migration.name)
    tx.execute("database/schema_state_put", digest=digest)
