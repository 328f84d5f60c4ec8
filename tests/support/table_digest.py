"""Whether two databases say the same of a chain, however each came to it: `scan audit` says which
rows differ where they do not."""

from contextlib import closing

from psycopg2 import sql

from scan.database.connection import Database
from tests.support.database import execute
from tests.support.indexing import Indexing

# Columns that may differ between databases of one chain; see audit/tables_digest.sql.j2 of audit.
WITHOUT_MEANING = {
    *("dex_id", "topic_id", "balance", "balance_block", "balance_stale", "supply_block"),
    *("read_block", "inconsistent_since", "contradicted", "body"),
    *("asked_holders", "drawn_holders", "dated"),
    *("delegation", "is_proxy", "version", "unwound", "is_reported"),
}


class Digest(dict[str, tuple[int, str]]):
    """Number of rows and a digest of every table, by its name."""

    def __init__(self, tables, url):
        super().__init__({name: (count, digest) for name, count, digest in tables})
        self.url = url

    def rows(self, table):
        """All of a table by their keys, without what has no meaning."""
        statement = (
            "SELECT a.attname FROM pg_index i"
            " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
            " WHERE i.indrelid = %s::regclass AND i.indisprimary ORDER BY a.attnum"
        )
        keys = [str(name) for (name,) in execute(self.url, statement, table)]
        of_table = sql.SQL("SELECT to_jsonb(t) FROM {} t").format(sql.Identifier(table))
        left_out = WITHOUT_MEANING - {*keys}
        kept = [
            {name: value for name, value in row.items() if name not in left_out}
            for (row,) in execute(self.url, of_table)
        ]
        return {tuple(row[key] for key in keys or row): row for row in kept}


_fresh = {}  # of a chain that many tests index, once


def digest(database_url):
    with closing(Database(database_url, statement_timeout_ms=0)) as database:
        return Digest(database.rows("audit/tables_digest"), database_url)


def fresh_digest(postgres, template, node, **settings):
    """The digest of a database that has seen nothing but the chain that won, in one go."""
    head = node.call("eth_getBlockByNumber", "latest", False)["hash"]
    key = (node.url, head, *sorted(settings.items()))
    if key not in _fresh:
        with postgres.cloned(template) as url:
            Indexing(url, node.url, **settings).run_until(node.head())
            _fresh[key] = digest(url)
    return _fresh[key]
