"""What PostgreSQL really did for a statement: the service's own, on its own connections."""

import itertools
from collections import namedtuple
from contextlib import contextmanager

from scan.database.connection import Database
from scan.database.statements import read_statement
from scan.http.services import SESSION
from tests.support import indexing, serving
from tests.support.watched_database import reading

SORTS = ("Sort", "Incremental Sort")
# Everything else grows with the chain, and is not read from one end to the other.
SMALL = {"bodies_from", "chain", "dexes", "label_state"}
DEEPER = 1.5  # times the pages of PostgreSQL of a list's first page that any other may touch
_NUMBERS = itertools.count()
# Of small tables, read by a process at its start or every few seconds, and by no request.
OF_A_PROCESS = {
    *("http/index_get_newest", "indexer/chain_get_first_block", "queries/filled_tables_list"),
    *("queries/partitioned_tables_list", "queries/retention_get"),
    "queries/unproven_blocks_list",
}
NAMES = (("Table", "Relation Name"), ("Index", "Index Name"))
PARENTS = """
    SELECT part.relname, whole.relname
    FROM pg_inherits i
    JOIN pg_class part ON part.oid = i.inhrelid
    JOIN pg_class whole ON whole.oid = i.inhparent
"""


class Plan(namedtuple("Plan", "statement nodes buffers")):
    """One statement's plan, executed. Nodes that read a partition have its table's name as "Table",
    and the name of that table's index as "Index". `buffers`: pages touched, of tables and indexes,
    in memory or not."""

    def sequential_scans(self):
        """Tables read from one end to the other."""
        return {n["Relation Name"] for n in self._executed() if n["Node Type"] == "Seq Scan"}

    def require_indexes(self, most_sorted=None, small=SMALL):
        """Tables but small ones are read by indexes; no sort has more rows."""
        scanned = self.sequential_scans() - small
        assert not scanned, (self.statement, scanned)
        if most_sorted is not None:
            sorts = [n for n in self._executed() if n["Node Type"] in SORTS]
            given = [child["Actual Rows"] for n in sorts for child in n["Plans"]]
            assert max(given, default=0) <= most_sorted, (self.statement, given)

    def _executed(self):
        return [n for n in self.nodes if n["Actual Loops"] > 0]


class ExplainingDatabase(Database):
    """A Database that keeps the plan of each statement it runs: same text, same session."""

    def __init__(self, url):
        super().__init__(url, statement_timeout_ms=60_000, session=SESSION)
        self.plans = []
        self._parents = None  # of partitions; no test adds one

    def rows(self, statement, **params):
        rows = super().rows(statement, **params)
        used = read_statement(statement)
        if used.literals is None:
            self._explain(statement, used.text, params)
            return rows
        with self._work as connection, connection.cursor() as cursor:
            prepared = self._prepare(cursor, used, params)  # the one that was just run
        self._explain(statement, prepared.execute, [params[name] for name in prepared.positional])
        return rows

    def _explain(self, statement, text, values):
        if statement in OF_A_PROCESS:
            return
        with self._work as connection, connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {text}", values)
            root = cursor.fetchone()[0][0]["Plan"]
            if self._parents is None:
                cursor.execute(PARENTS)
                self._parents = dict(cursor.fetchall())
            parents = self._parents
        nodes = [
            node | {of: parents.get(node.get(key), node.get(key)) for of, key in NAMES}
            for node in _walk(root)
        ]
        buffers = int(root["Shared Hit Blocks"] + root["Shared Read Blocks"])
        self.plans.append(Plan(statement, nodes, buffers))


class Explained(namedtuple("Explained", "client database url")):
    """A service and the plans of what it asked its database."""

    def plans(self, path, body=None):
        """The plans that a request needs, and its answer."""
        self.database.plans.clear()
        # A name that is ignored: each request is a new one to the response cache.
        path += f"{'&' if '?' in path else '?'}={next(_NUMBERS)}"
        answer = self.client.get(path) if body is None else self.client.post(path, json=body)
        assert answer.status_code == 200, (path, answer.text)
        return [*self.database.plans], answer.json if answer.is_json else answer.text


@contextmanager
def explained(url, node=serving.NOWHERE):
    database = ExplainingDatabase(url)
    with reading(database, indexing.settings_for(url, node)) as client:
        yield Explained(client, database, url)


def _walk(node):
    yield node
    for child in node.get("Plans", ()):
        yield from _walk(child)
