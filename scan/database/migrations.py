"""Updates of the database's schema: new objects by schema.sql, other changes by migrations/.

schema.sql has the whole schema and is safe to repeat, so a new table, index or function needs no
more than its lines there. A change that "IF NOT EXISTS" skips (another column, another condition of
an index) needs a numbered file, which runs first: migrations/README.md says how to write one.

Readers go on meanwhile. Each migration is a short transaction that waits for a lock only a moment
and is tried again, since readers wait behind a lock that waits behind a long statement. Indexes of
existing tables are built CONCURRENTLY.
"""

import functools
import hashlib
import itertools
import logging
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib import metadata
from typing import NamedTuple, TypeVar

from scan.database.connection import Database
from scan.database.errors import ConnectionLost, LockNotGranted, SchemaMismatch
from scan.database.statements import SCHEMA as SCHEMA_FOLDER
from scan.database.statements import all_folders, render
from scan.database.transaction import Row, Transaction
from scan.settings import ROOT, Settings

log = logging.getLogger(__name__)

SCHEMA = "schema.sql"
RENDERED = ("block_events", "list_checkpoints", "list_records")
LOCK_WAIT_MS = 200  # for each lock of a migration; readers wait behind it as long
SCHEMA_LOCK_WAIT_MS = 5000
PATIENCE_S = 60.0
PAUSE_S = 0.5
GIT_TIMEOUT_S = 10.0
SAVE = (
    "Save what cannot be indexed again with `scan backup --owners owners.jsonl{of}`, {new}put it"
    " into new tables with `scan restore --owners owners.jsonl`, and start again, which indexes"
    " anew: docs/operation.md, Upgrade. Or go back to the version that the tables are of{checkout}."
)
# The name of a database of `scan run`.
EMBEDDED = re.compile(r"scan_[0-9]+_[0-9a-f]{8}\w*")
_COMMIT = re.compile(r"commit ([0-9a-f]{7,40})\b")
_REBUILDS = re.compile(r"^-- rebuilds: (.+)$", re.M)
UNFINISHED = b""  # the digest after migrations, until schema.sql is applied
_INCLUDE = re.compile(r"^\\ir (\S+)$", re.M)  # psql's include, by a path relative to schema.sql
_INDEX = re.compile(r"^CREATE (?:UNIQUE )?INDEX IF NOT EXISTS (\w+)\s+ON (\w+)[^;]*;", re.M)
_T = TypeVar("_T")
_R = TypeVar("_R")


class Migration(NamedTuple):
    number: int
    name: str
    text: str

    @property
    def rebuilds(self) -> list[str]:
        """The tables whose rule it changes, which are derived again from stored blocks."""
        line = _REBUILDS.search(self.text)
        return line[1].split(", ") if line else []


class ExpectedSchema(NamedTuple):
    """The schema and the migrations that this version of Scan expects in its database."""

    schema: str
    migrations: tuple[Migration, ...]

    @property
    def digest(self) -> bytes:
        return hashlib.sha256(self.schema.encode()).digest()

    @property
    def newest(self) -> int:
        """The number of the newest migration, 0 without one."""
        return max((migration.number for migration in self.migrations), default=0)


@functools.cache
def expected_schema() -> ExpectedSchema:
    files = sorted((ROOT / "migrations").glob("[0-9][0-9][0-9][0-9]_*.sql"))
    migrations = tuple(
        Migration(int(path.name[:4]), path.name, path.read_text(encoding="utf-8")) for path in files
    )
    return ExpectedSchema(read_schema(), migrations)


def read_schema() -> str:
    """Return the text of schema.sql, of the files that it includes, each followed by those of the
    same name of extensions, of the extensions' other files, and of RENDERED."""
    folders = (folder / SCHEMA_FOLDER for folder in all_folders()[1:])
    of_extensions = [path for folder in folders for path in sorted(folder.glob("*.sql"))]

    def include(line: re.Match[str]) -> str:
        core = ROOT / line[1]
        included = [core, *(path for path in of_extensions if path.name == core.name)]
        of_extensions[:] = [path for path in of_extensions if path.name != core.name]
        return "\n".join(path.read_text(encoding="utf-8") for path in included)

    whole = _INCLUDE.sub(include, (ROOT / SCHEMA).read_text(encoding="utf-8"))
    others = [path.read_text(encoding="utf-8") for path in of_extensions]
    return "\n".join([whole, *others, *(render(f"schema/{name}.sql.j2") for name in RENDERED)])


def run(settings: Settings) -> list[str]:
    """Update the schema, and return the names of the applied files. It is safe to repeat, and to
    run in several processes at once."""
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-schema")
    with closing(database):
        return bring_up(database, expected_schema())


def bring_up(database: Database, expected: ExpectedSchema) -> list[str]:
    """Apply the files that the database lacks, and return their names.

    A fault leaves each migration either applied or not, and the next start goes on from there.
    Raises Unavailable where others have held a lock for PATIENCE_S, and SchemaMismatch where the
    tables are of a commit from which no migration leads here.
    """
    state = _read_state(database)
    if not state.has_tables:
        with database.transaction() as tx:
            tx.execute("database/migrations_lock")
            if _read_state(tx).has_tables:  # another process has made them
                return []
            tx.script(expected.schema)
            for migration in expected.migrations:
                _record(tx, migration)
            _record_schema(tx, expected)
        return [SCHEMA]
    if state.is_newer(expected):
        log.info("the schema is of a newer version, %s; not changing it", state.version)
        return []
    if not state.lacks(expected) and state.digest == expected.digest:
        return []
    if not state.lacks(expected):
        _retry_while_locked(_try_schema, database, expected)  # a refusal changes nothing
    try:
        applied = [
            m.name for m in state.lacks(expected) if _retry_while_locked(_migrate, database, m)
        ]
        _retry_while_locked(_build_indexes, database, expected.schema)
        _retry_while_locked(_apply_schema, database, expected)
    except SchemaMismatch as error:
        raise _of_another_commit(database, state, error.reason) from error
    return [*applied, SCHEMA]


@functools.cache
def own_version() -> str:
    """Return this version of Scan, in a checkout with its commit."""
    commit = ""
    if (ROOT / ".git").exists():
        command = ("git", "-C", ROOT, "log", "-1", "--format=, commit %h of %cs")
        with suppress(OSError, subprocess.SubprocessError):
            commit = subprocess.check_output(
                command, stderr=subprocess.DEVNULL, text=True, timeout=GIT_TIMEOUT_S
            )
    return f"{metadata.version('scan')}{commit.rstrip()}"


def _of_another_commit(database: Database, state: "_SchemaState", reason: str) -> SchemaMismatch:
    log.debug("the schema cannot be applied: %s", reason)
    schema = f" (schema {state.digest.hex()[:12]})" if state.digest else ""
    theirs = f"Scan {state.version}" if state.version else f"an earlier commit of Scan{schema}"
    commit = _COMMIT.search(state.version or "")
    checkout = f": `git checkout {commit[1]}`" if commit else ""
    name = str(database.value("database/databases_get_name"))
    of, new = f" --database {name}", ""
    if not EMBEDDED.fullmatch(name):
        of, new = "", "name an empty database in DATABASE_URL, "
    return SchemaMismatch(
        f"The database's tables are of {theirs}, and no migration leads from them to those of this"
        f" version, {own_version()}. ",
        reason=reason,
        way_out=SAVE.format(of=of, new=new, checkout=checkout),
    )


class PlannedFile(NamedTuple):
    """A file that the next start will apply, with the comment at its head."""

    name: str
    summary: str


def plan(database: Database) -> list[PlannedFile] | None:
    """Return the files that the next start will apply; None where the schema is of a
    newer version. Raises SchemaMismatch where schema.sql cannot be applied."""
    expected, state = expected_schema(), _read_state(database)
    if state.is_newer(expected):
        return None
    pending = state.lacks(expected) if state.has_tables else []
    if state.has_tables and not pending and state.digest != expected.digest:
        _try_schema(database, expected)
    files = []
    for migration in pending:
        lines = itertools.takewhile(lambda t: t.startswith("--"), migration.text.splitlines())
        summary = " ".join(line.removeprefix("--").strip() for line in lines)
        files.append(PlannedFile(migration.name, summary))
    if pending or state.digest != expected.digest:
        files.append(PlannedFile(SCHEMA, "tables, indexes and functions that are new"))
    return files


def _try_schema(database: Database, expected: ExpectedSchema) -> None:
    """Apply schema.sql, but for indexes that take long to build, and roll back. Raises
    SchemaMismatch."""
    missing = {name for name, _, _ in _missing_indexes(database, expected.schema)}

    def without_missing(match: re.Match[str]) -> str:
        return "" if match[1] in missing else match[0]

    try:
        with suppress(_RolledBack), _locked(database, SCHEMA_LOCK_WAIT_MS) as tx:
            tx.script(_INDEX.sub(without_missing, expected.schema))
            raise _RolledBack
    except SchemaMismatch as error:
        raise _of_another_commit(database, _read_state(database), error.reason) from error


class _RolledBack(Exception):
    """Ends a transaction whose changes are not kept."""


class _SchemaState(NamedTuple):
    """The state of the schema, as the database records it."""

    has_tables: bool
    applied: frozenset[int]
    digest: bytes | None
    version: str | None

    def lacks(self, expected: ExpectedSchema) -> list[Migration]:
        return [m for m in expected.migrations if m.number not in self.applied]

    def is_newer(self, expected: ExpectedSchema) -> bool:
        return max(self.applied, default=0) > expected.newest


def _read_state(source: Database | Transaction) -> _SchemaState:
    [(has_tables, knows_migrations)] = source.rows("database/migrations_find_tables")
    if not knows_migrations:
        return _SchemaState(has_tables, frozenset(), None, None)
    applied = frozenset(number for (number,) in source.rows("database/migrations_list"))
    digest = source.value("database/schema_state_get")
    version = source.value("database/schema_version_get")
    return _SchemaState(has_tables, applied, None if digest is None else bytes(digest), version)


def _retry_while_locked(step: Callable[[Database, _T], _R], database: Database, argument: _T) -> _R:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return step(database, argument)
        except (LockNotGranted, ConnectionLost) as error:  # a deadlock is a ConnectionLost, too
            if time.monotonic() > deadline:
                raise
            log.info("the schema update is waiting for other statements: %s", error.message)
            time.sleep(PAUSE_S)


def _migrate(database: Database, migration: Migration) -> bool:
    """Apply a migration. Return False if another process had applied it before."""
    with _locked(database, LOCK_WAIT_MS) as tx:
        if migration.number in _read_state(tx).applied:
            return False
        log.info("applying %s", migration.name)
        tx.script(migration.text)
        _record(tx, migration)
        if migration.rebuilds:
            tx.execute("database/rebuilds_request", tables=migration.rebuilds)
        tx.execute("database/schema_state_put", digest=UNFINISHED)
    return True


def _build_indexes(database: Database, schema: str) -> None:
    """Build the indexes that tables lack, and anew those whose build was interrupted, except those
    of functions that only schema.sql brings: it makes these indexes, too."""
    statements = {match[1]: match[0] for match in _INDEX.finditer(schema)}
    tables = {match[1]: match[2] for match in _INDEX.finditer(schema)}
    if not database.value("database/index_builds_lock"):
        raise LockNotGranted("Another process is building indexes.")
    try:
        for name, is_interrupted, is_partitioned in _missing_indexes(database, schema):
            log.info("building index %s", name)
            with suppress(SchemaMismatch):
                if is_partitioned:
                    _build_in_partitions(database, name, tables[name], statements[name])
                else:
                    _build_index(database, name, statements[name], is_interrupted=is_interrupted)
    finally:
        database.rows("database/index_builds_unlock")


def _missing_indexes(database: Database, schema: str) -> list[Row]:
    """Return rows of database/indexes_list_missing for the indexes of a schema."""
    tables = {match[1]: match[2] for match in _INDEX.finditer(schema)}
    return database.rows(
        "database/indexes_list_missing", names=list(tables), tables=list(tables.values())
    )


def _build_index(database: Database, name: str, statement: str, *, is_interrupted: bool) -> None:
    if is_interrupted:
        database.execute_script(f"DROP INDEX CONCURRENTLY {name}")
    database.execute_script(statement.replace("INDEX IF NOT EXISTS", "INDEX CONCURRENTLY", 1))


def _build_in_partitions(database: Database, name: str, table: str, statement: str) -> None:
    """Build an index of a partitioned table, which PostgreSQL cannot do CONCURRENTLY. First it is
    made without the partitions' indexes; it becomes valid once all of them are attached."""
    with _locked(database, LOCK_WAIT_MS) as tx:
        tx.script(statement.replace(f" ON {table}", f" ON ONLY {table}", 1))
    for partition, part_name, is_interrupted in database.rows(
        "database/partitions_list_without_index", index=name, table=table
    ):
        part_statement = statement.replace(name, part_name, 1)
        part_statement = part_statement.replace(f" ON {table}", f" ON {partition}", 1)
        if is_interrupted is not False:
            _build_index(database, part_name, part_statement, is_interrupted=is_interrupted is True)
        with _locked(database, LOCK_WAIT_MS) as tx:
            tx.execute("database/indexes_attach", index=name, part=part_name)


def _apply_schema(database: Database, expected: ExpectedSchema) -> None:
    """Apply schema.sql. It may wait longer for locks, as none of them makes readers wait."""
    with _locked(database, SCHEMA_LOCK_WAIT_MS) as tx:
        if not _read_state(tx).is_newer(expected):
            tx.script(expected.schema)
            _record_schema(tx, expected)


@contextmanager
def _locked(database: Database, wait_ms: int) -> Iterator[Transaction]:
    """Begin the only transaction that changes the schema now. Raises LockNotGranted."""
    with database.transaction() as tx:
        tx.execute("database/lock_timeout_set", milliseconds=str(wait_ms))
        tx.execute("database/migrations_lock")
        yield tx


def _record(tx: Transaction, migration: Migration) -> None:
    tx.execute("database/migrations_insert", number=migration.number, name=migration.name)


def _record_schema(tx: Transaction, expected: ExpectedSchema) -> None:
    tx.execute("database/schema_state_put", digest=expected.digest)
    tx.execute("database/schema_version_put", version=own_version())
