"""`scan backup` and `scan restore` write a database of the embedded PostgreSQL to a file, and make
one from it, or with --owners do so with what people gave, in any database; `scan migrate` updates
the schema of any database, or says what it would do; `scan psql` opens one. The embedded PostgreSQL
of `scan run` lies in a data directory, which one process holds at a time.
"""

import argparse
import fcntl
import logging
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from scan.commands.service_client import LOCK_FILE
from scan.commands.startup import connected, settings_with_database
from scan.database import migrations, owners_file
from scan.database.connection import Database, split_password
from scan.database.embedded import FORMER, EmbeddedPostgres, StillStarting
from scan.database.embedded_backups import back_up
from scan.database.embedded_backups import restore as restore_database
from scan.database.errors import SchemaMismatch
from scan.database.outages import is_due
from scan.errors import ScanError, SettingError
from scan.observability.logs import print_lines
from scan.setting_kinds import without_password
from scan.settings import Settings, child_environment

log = logging.getLogger(__name__)

COMMANDS_FILE = "commands"  # of SCAN_DATA_DIR: commands that use the server hold it together
OUTSIDE = "must not be set: this is for the PostgreSQL of `scan run`; see docs/operation.md"


class DataDirInUse(SettingError):
    """Another `scan run` has the data directory."""


@contextmanager
def locked_data_dir(settings: Settings, stop: threading.Event | None = None) -> Iterator[None]:
    """Hold the data directory for this process alone. `scan run`, which has a `stop`, writes its
    URL there, and waits for commands, which write none. Raises DataDirInUse, SettingError."""
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        lock = (settings.data_dir / LOCK_FILE).open("a")  # not "w": another's URL may be in it
    except OSError as error:
        reason = f"not a writable directory: {error.strerror}"
        raise SettingError("SCAN_DATA_DIR", str(settings.data_dir), reason) from None
    with lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if stop is None or stop.is_set() or Path(lock.name).read_text("utf-8"):
                    reason = "already in use by another `scan run`; set another directory"
                    raise DataDirInUse("SCAN_DATA_DIR", str(settings.data_dir), reason) from None
            if is_due("data directory"):
                log.info("waiting for a command that works on %s", settings.data_dir)
            stop.wait(0.2)
        lock.truncate(0)
        if stop is not None:
            lock.write(settings.base_url)
            lock.flush()
        yield


def start_database(postgres: EmbeddedPostgres, stop: threading.Event) -> None:
    """Start the server, and wait while it recovers from a crash. Raises StartFailed."""
    while not stop.is_set():
        try:
            return postgres.start()
        except StillStarting as error:
            if is_due("PostgreSQL starts"):
                log.info("waiting: %s", error)
            stop.wait(1.0)


def add_backup(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=backup)
    text = "an older file is replaced once the new one is whole"
    command.add_argument("file", type=Path, metavar="FILE", help=text)
    _add_owners(command, "only keys, webhooks, verified sources, labels and imports, of any server")


def _add_owners(command: argparse.ArgumentParser, text: str) -> None:
    command.add_argument("--owners", action="store_true", help=text)
    text = "with --owners: which database of SCAN_DATA_DIR, where it has several"
    command.add_argument("--database", metavar="NAME", help=text)


def backup(settings: Settings, options: argparse.Namespace) -> int:
    if options.owners:
        if not settings.database_url:
            _require_data(settings)
        with _database_url(settings, options.database) as url, _opened(url) as database:
            rows, unknown = owners_file.write(database, options.file)
        print_lines(f"wrote {options.file}: {rows} rows")
        if unknown:
            tables = ", ".join(unknown)
            print_lines(f"not in it, as this version does not know these tables: {tables}")
        return 0
    _require_embedded(settings)
    _require_data(settings)
    try:
        with _started(settings) as postgres:
            back_up(postgres, postgres.database_url(_chosen(settings, postgres)), options.file)
    except DataDirInUse:
        url = settings_with_database(settings).database_url
        back_up(EmbeddedPostgres(settings.data_dir), url, options.file)
    print_lines(f"wrote {options.file}")
    return 0


def _require_data(settings: Settings) -> None:
    if not (settings.data_dir / "postgres").is_dir():
        raise SettingError("SCAN_DATA_DIR", str(settings.data_dir), "there is no PostgreSQL in it")


@contextmanager
def _database_url(settings: Settings, name: str | None, new_name: str = "") -> Iterator[str]:
    """Yield the URL of DATABASE_URL, of the running `scan run`, or of the database `name` of the
    embedded PostgreSQL, by default as _chosen() does. Where that has none, `new_name` is made."""
    if settings.database_url:
        if name:
            _require_embedded(settings)
        yield settings_with_database(settings).database_url
        return
    try:
        with _started(settings) as postgres:
            yield postgres.database_url(_chosen(settings, postgres, name, new_name))
    except DataDirInUse:
        url = settings_with_database(settings).database_url
        yield url if name is None else EmbeddedPostgres.sibling_url(url, name)


@contextmanager
def _opened(url: str) -> Iterator[Database]:
    with closing(Database(url, statement_timeout_ms=0, name="scan-owners")) as database:
        yield database


def _require_embedded(settings: Settings) -> None:
    """Raise SettingError where the database is on another server."""
    if settings.database_url:
        raise SettingError("DATABASE_URL", without_password(settings.database_url), OUTSIDE)


@contextmanager
def _started(settings: Settings, *, alone: bool = False) -> Iterator[EmbeddedPostgres]:
    """Run the embedded PostgreSQL during the `with` block. Unless the command is to be `alone`,
    others and `scan run` may begin meanwhile: the last one stops the server. Raises DataDirInUse
    while `scan run` has it."""
    with ExitStack() as held, ExitStack() as used:
        held.enter_context(locked_data_dir(settings))
        users = used.enter_context((settings.data_dir / COMMANDS_FILE).open("a"))
        fcntl.flock(users, fcntl.LOCK_SH)
        postgres = EmbeddedPostgres(settings.data_dir)
        try:
            start_database(postgres, threading.Event())
            if not alone:
                held.close()
            yield postgres
        finally:
            held.close()
            with suppress(DataDirInUse, BlockingIOError), locked_data_dir(settings):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                postgres.stop()


def _chosen(
    settings: Settings, postgres: EmbeddedPostgres, name: str | None = None, new_name: str = ""
) -> str:
    """Return the database `name`; by default that of the chain at RPC_URL, `new_name`, which may be
    new where there is none, or the only one. Raises SettingError."""
    names = postgres.databases()
    remembered = postgres.chain_of(settings.rpc_urls[0]) if settings.rpc_urls else None
    for chosen in (remembered, new_name) if name is None else (name,):
        if chosen in names:
            return str(chosen)
    present = [other for other in names if not other.startswith(FORMER)]
    if name is None and len(present) == 1:
        return present[0]
    if name is None and not present and new_name:
        return new_name
    reason = f"which chain of {settings.data_dir}? There are: {', '.join(names) or 'none'}"
    raise SettingError("--database" if name else "RPC_URL", name or "", reason)


def add_restore(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=restore)
    command.add_argument("file", type=Path, metavar="FILE", help="what `scan backup` wrote")
    _add_owners(command, "a file of `scan backup --owners`, into any database of the same chain")
    text = "with --owners: leave out tables and columns that this version does not know"
    command.add_argument("--without-unknown", action="store_true", help=text)
    text = "with --owners: send no events of blocks that are indexed already; webhooks go on with"
    command.add_argument("--without-past-events", action="store_true", help=f"{text} the next one")


def restore(settings: Settings, options: argparse.Namespace) -> int:
    if options.owners:
        return _restore_owners(settings, options)
    _require_embedded(settings)
    with _started(settings, alone=True) as postgres:
        name = restore_database(postgres, options.file)
    goes_on = "`scan run` with a node of this chain goes on from its newest block"
    print_lines(f"restored {name}; {goes_on}")
    return 0


def _restore_owners(settings: Settings, options: argparse.Namespace) -> int:
    file = owners_file.read(options.file)
    name = str(file.header.get("database"))
    new_name = name if migrations.EMBEDDED.fullmatch(name) else ""
    with _database_url(settings, options.database, new_name) as url:
        try:
            migrations.run(replace(settings, database_url=url))
        except SchemaMismatch:
            if settings.database_url:
                raise
            former = EmbeddedPostgres.replace(url)
            drop = f"`scan psql -c 'DROP DATABASE {former}'`"
            print_lines(f"the tables of another commit are kept in {former}: {drop} removes them")
            migrations.run(replace(settings, database_url=url))
        from scan.commands import missed_events  # it imports what `scan run` does not need

        events = missed_events.skip if options.without_past_events else missed_events.insert
        unknown = options.without_unknown
        with _opened(url) as database:
            tables = owners_file.restore(database, file, leaves_out_unknown=unknown, then=events)
    for table in tables:
        if table.inserted is None:
            continue
        there = table.rows - table.inserted
        more = f", {there} were there already" if there else ""
        print_lines(f"{table.name}: {table.inserted} of {table.rows} rows restored{more}")
    left_out = sorted(table.name for table in tables if table.inserted is None)
    if left_out:
        reason = "not known to this version, or of another chain's blocks"
        print_lines(f"left out, as {reason}: {', '.join(left_out)}")
    return 0


def add_migrate(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=migrate)
    command.add_argument("--plan", action="store_true", help="only print what would be applied")


def migrate(settings: Settings, options: argparse.Namespace) -> int:
    """Update the schema of DATABASE_URL, of the running `scan run`, or of the embedded PostgreSQL,
    which is started for that."""
    if not settings.database_url and (settings.data_dir / "postgres").is_dir():
        with _database_url(settings, None) as url:
            return migrate(replace(settings, database_url=url, read_database_url=url), options)
    names = [] if options.plan else migrations.run(settings_with_database(settings))
    print_lines(*(f"applied {name}" for name in names))
    with connected(settings, "scan-schema") as database:
        planned = migrations.plan(database)
        if planned is None:
            print_lines("the schema is of a newer version; this version would not change it")
        elif not planned and not names:
            print_lines("the schema is current")
        for file in planned or ():
            print_lines(f"{file.name}: {file.summary}" if file.summary else file.name)
            names.append(file.name)
        files = migrations.expected_schema().migrations
        tables = [table for file in files if file.name in names for table in file.rebuilds]
        if tables:
            from scan.audit import rebuild  # which imports what `scan run` does not need

            took_s = rebuild.estimated_s(database)
            print_lines(
                f"{', '.join(tables)}: the indexer derives them again from stored blocks, in about"
                f" {took_s:,.0f} s; `scan rebuild --missing` does so at once"
            )
    return 0


def add_psql(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=psql)
    command.add_argument("-c", "--command", metavar="SQL", help="run this, and end")
    text = "which database of SCAN_DATA_DIR, where it has several"
    command.add_argument("--database", metavar="NAME", help=text)


def psql(settings: Settings, options: argparse.Namespace) -> int:
    """Run psql, which the embedded server's package has, and return its exit code."""
    program = shutil.which("psql", path=settings.path)
    if not settings.database_url:
        _require_data(settings)
        program = EmbeddedPostgres(settings.data_dir).program("psql")
    if program is None:
        raise ScanError("psql is not installed here: it is in PostgreSQL's client programs")
    command = [] if options.command is None else ["--command", options.command]
    with _database_url(settings, options.database) as url:
        signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C ends a statement of psql's
        parameters, password = split_password(url)  # other users see a command line
        environment = child_environment(settings) | ({"PGPASSWORD": password} if password else {})
        return subprocess.call([program, *command, parameters], env=environment)
