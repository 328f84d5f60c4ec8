"""A service whose database shows a test each statement that it has run: to note it, to change the
index before the next one, or to answer something else."""

from contextlib import contextmanager

from app import create_app, renew
from scan.database.connection import Database


class WatchedDatabase(Database):
    def __init__(self, url, seen):
        super().__init__(url, statement_timeout_ms=60_000)
        self._seen = seen

    def rows(self, statement, *preceding, **params):
        rows = super().rows(statement, *preceding, **params)
        instead = self._seen(statement, params, rows)
        return rows if instead is None else instead


@contextmanager
def reading(database, settings):
    """A client of a service that reads by this Database."""
    app = create_app(settings)
    app.extensions["scan.permanent"] = app.extensions["scan.permanent"]._replace(reads=database)
    renew(app)
    yield app.test_client()
    database.close()


def watched(settings, seen):
    """A client of a service that reads so: `seen(statement, params, rows)` may return rows instead
    of those."""
    return reading(WatchedDatabase(settings.database_url, seen), settings)
