"""The run's own PostgreSQL, with the settings of `make run`, and databases that it keeps."""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg2
from psycopg2 import sql

from bench.seed import seed
from scan.database import migrations
from scan.database.embedded import EmbeddedPostgres
from scan.settings import ROOT, Settings

log = logging.getLogger(__name__)

SEEDED_FROM = (
    "bench/seed.sql",
    "bench/seed.py",
    "schema.sql",
    "sql/schema/*.sql*",
    "scan/extensions/*/sql/schema/*.sql*",
    "scan/indexer/derivation.py",
    "sql/indexer/*_derive.sql*",
    "sql/indexer/lists_insert_checkpoints.sql*",
)


class Databases:
    """One server under `folder`; seeded databases are kept for the next run."""

    def __init__(self, folder: Path) -> None:
        self._postgres = EmbeddedPostgres(folder)
        self._postgres.start()

    def stop(self) -> None:
        self._postgres.stop()

    def seeded(self, transactions: int, hot_share: float) -> str:
        """The address of a chain of this size; made where no earlier run has left it."""
        size = f"scan_bench_{transactions}_{round(hot_share * 1000)}"
        name = f"{size}_{_digest()}"
        if name in self._names():
            log.info("using the chain of %s transactions of an earlier run", f"{transactions:,}")
            return self.url(name)
        for old in self._names():
            if old.startswith(f"{size}_"):
                log.info("dropping %s, which another schema or seed has made", old)
                self.drop(old)
        log.info("seeding a chain of %s transactions", f"{transactions:,}")
        seed(self.url(f"{size}_new"), transactions, hot_share)
        self._administer("ALTER DATABASE {old} RENAME TO {new}", old=f"{size}_new", new=name)
        return self.url(name)

    @contextmanager
    def empty(self, name: str) -> Iterator[str]:
        """A database with the schema and nothing in it, dropped at the end."""
        self.drop(name)
        url = self.url(name)
        migrations.run(Settings(database_url=url))
        try:
            yield url
        finally:
            self.drop(name)

    def url(self, name: str) -> str:
        return self._postgres.database_url(name)

    def drop(self, name: str) -> None:
        self._administer("DROP DATABASE IF EXISTS {name} WITH (FORCE)", name=name)

    def _names(self) -> list[str]:
        with connected(self.url("postgres")) as cursor:
            cursor.execute("SELECT datname FROM pg_database")
            return [row[0] for row in cursor.fetchall()]

    def _administer(self, statement: str, **names: str) -> None:
        identifiers = {key: sql.Identifier(name) for key, name in names.items()}
        with connected(self.url("postgres")) as cursor:
            cursor.execute(sql.SQL(statement).format(**identifiers))


@contextmanager
def connected(url: str) -> Iterator[Any]:
    """A cursor in autocommit."""
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


def _digest() -> str:
    """A digest of everything that decides what a seeded database holds."""
    paths = sorted(path for pattern in SEEDED_FROM for path in ROOT.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:10]
