"""Whether two databases say the same of a chain, however each came to it, and which rows differ.

tests/fixtures.py prints explain() where two digests are asserted to be equal and are not.
"""

import io
from contextlib import closing, redirect_stdout

import psycopg2
from psycopg2 import sql

from scan.database.connection import Database
from tests.support import auditing
from tests.support.database import execute
from tests.support.indexing import Indexing, settings_for
from tests.support.serving import NOWHERE

# Columns that may differ between databases of one chain; see audit/tables_digest.sql.j2 of audit.
WITHOUT_MEANING = {
    *("dex_id", "topic_id", "balance", "balance_block", "balance_stale", "supply_block"),
    *("read_block", "inconsistent_since", "contradicted", "body"),
    *("asked_holders", "drawn_holders", "dated"),
    *("delegation", "is_proxy", "version", "unwound", "is_reported"),
}
SHOWN_ROWS = 8


class Digest(dict[str, tuple[int, str]]):
    """Number of rows and a digest of every table, by its name."""

    def __init__(self, tables, url):
        super().__init__({name: (count, digest) for name, count, digest in tables})
        self.url = url
        self._rows = None

    def keep_rows(self):
        """Of all tables, since the database will be gone."""
        self._rows = {table: _read_rows(self.url, table) for table in self}

    def rows(self, table):
        if self._rows is not None:
            return self._rows.get(table, {})
        return _read_rows(self.url, table)


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
            _fresh[key].keep_rows()
    return _fresh[key]


def explain(left, right):
    """What the audit says of the left database, then the rows and columns that differ."""
    tables = sorted(
        name for name in left.keys() | right.keys() if left.get(name) != right.get(name)
    )
    lines = [f"the databases differ in {', '.join(tables)}", "the audit of the left one:"]
    lines += [f"  {line}" for line in _audit(left.url)]
    for table in tables:
        try:
            lines += [
                f"  {line}" for line in differing_rows(table, left.rows(table), right.rows(table))
            ]
        except psycopg2.Error as error:  # such as a database that is gone by now
            lines.append(f"  {table}: its rows cannot be read: {str(error).splitlines()[0]}")
    return lines


def differing_rows(table, left, right):
    """A line for each of the first rows that differ, with the names of their columns."""
    keys = [key for key in {**left, **right} if left.get(key) != right.get(key)]
    for key in keys[:SHOWN_ROWS]:
        row, other = left.get(key), right.get(key)
        name = f"{table} {', '.join(map(str, key))}"
        if row is None or other is None:
            yield f"{name}: only in the {'right' if row is None else 'left'} one: {row or other}"
        else:
            columns = [column for column in row if row[column] != other.get(column)]
            values = (f"{c} is {row[c]} left, {other.get(c)} right" for c in columns)
            yield f"{name}: {'; '.join(values)}"
    if len(keys) > SHOWN_ROWS:
        yield f"{table}: {len(keys) - SHOWN_ROWS} rows more"


def _audit(url):
    output = io.StringIO()
    try:
        with redirect_stdout(output):
            auditing.run(settings_for(url, NOWHERE))
    except Exception as error:  # the rows below say more than an audit that could not run
        return [f"could not run: {error}"]
    return output.getvalue().splitlines()


def _read_rows(url, table):
    keys = [
        str(name)
        for (name,) in execute(
            url,
            "SELECT a.attname FROM pg_index i"
            " JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)"
            " WHERE i.indrelid = %s::regclass AND i.indisprimary ORDER BY a.attnum",
            table,
        )
    ]
    statement = sql.SQL("SELECT to_jsonb(t) FROM {} t").format(sql.Identifier(table))
    rows = [row for (row,) in execute(url, statement)]
    kept = [{c: v for c, v in row.items() if c not in WITHOUT_MEANING or c in keys} for row in rows]
    return {tuple(row[key] for key in keys or row): row for row in kept}
