"""Whether two databases say the same of a chain, however each came to it."""

from scan.database.connection import Database
from tests.support.anvil import Anvil
from tests.support.database import Postgres
from tests.support.indexing import Indexing

Digest = dict[str, tuple[int, str]]
_fresh: dict[tuple[object, ...], Digest] = {}  # of a chain that many tests index, once


def digest(database_url: str) -> Digest:
    """Rows and a digest of every table, by its name."""
    database = Database(database_url, statement_timeout_ms=0)
    try:
        return {row[0]: (row[1], row[2]) for row in database.rows("audit/tables_digest")}
    finally:
        database.close()


def fresh_digest(postgres: Postgres, template: str, node: Anvil, **settings: str) -> Digest:
    """Of a database that has seen nothing but the chain that won, in one go."""
    head = node.call("eth_getBlockByNumber", "latest", False)["hash"]
    key = (node.url, head, *sorted(settings.items()))
    if key not in _fresh:
        with postgres.cloned(template) as url:
            Indexing(url, node.url, **settings).run_until(node.head())
            _fresh[key] = digest(url)
    return _fresh[key]
