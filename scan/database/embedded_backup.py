"""Backups of the embedded PostgreSQL: a chain's database as one file of pg_dump.

The programs are those of the server's own package, since pg_dump of an older version refuses it. A
file names no owner and no other role, so that it can be restored by any role into any PostgreSQL of
the same or a newer version.
"""

import re
import subprocess
from contextlib import closing
from pathlib import Path

from scan.database.connection import Database
from scan.database.embedded import EmbeddedPostgres, replaced_whole
from scan.errors import ScanError

WITHOUT_ROLES = ("--no-owner", "--no-privileges")
_NAME = re.compile(r"^; +dbname: (scan_[0-9]\w*)$", re.M | re.ASCII)


class BackupFailed(ScanError):
    """A database was not backed up or restored; the message has the reason."""


def back_up(postgres: EmbeddedPostgres, url: str, path: Path) -> None:
    """Write a database to a file, as it is at this moment, while others read and write it. Raises
    BackupFailed, and then leaves an older file as it was."""
    try:
        with replaced_whole(path) as file:
            # pg_dump opens the file again: into its standard output it writes another form.
            options = ("--format=custom", "--lock-wait-timeout=60s", *WITHOUT_ROLES)
            _run(postgres, "pg_dump", *options, f"--file={file.name}", f"--dbname={url}")
    except OSError as error:
        raise BackupFailed(f"cannot write {path}: {error.strerror}") from None


def restore(postgres: EmbeddedPostgres, path: Path) -> str:
    """Restore a file of back_up(), whole or not at all; return the name of the database.

    Raises BackupFailed where the file is not whole, or the server has the chain already.
    """
    name = _database_in(postgres, path)
    url = postgres.database_url(name)
    with closing(Database(url, statement_timeout_ms=60_000)) as database:
        [(has_tables, _)] = database.rows("database/migrations_find_tables")
    if has_tables:
        raise BackupFailed(f"the database {name} is there already; set another SCAN_DATA_DIR")
    arguments = ("--single-transaction", *WITHOUT_ROLES, f"--dbname={url}", str(path))
    _run(postgres, "pg_restore", *arguments)
    _run(postgres, "vacuumdb", "--analyze", "--quiet", f"--dbname={url}")
    return name


def _database_in(postgres: EmbeddedPostgres, path: Path) -> str:
    """Return the name of the database that a file was made of."""
    match = _NAME.search(_run(postgres, "pg_restore", "--list", str(path)))
    if match is None:
        raise BackupFailed(f"{path} was not written by `scan backup`")
    return match[1]


def _run(postgres: EmbeddedPostgres, program: str, *arguments: str) -> str:
    """Run a program of PostgreSQL and return its output. Raises BackupFailed with its error."""
    done = subprocess.run(
        [postgres.program(program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip()
        raise BackupFailed(reason or f"{program} ended with {done.returncode}")
    return done.stdout.decode(errors="replace")
