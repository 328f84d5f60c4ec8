"""Backups of a chain's database of the embedded server, as one file of pg_dump.

The programs of backups are those of the server's own package, since pg_dump of an older version
refuses it. A file names no owner and no other role, so that it can be restored by any role into any
PostgreSQL of the same or a newer version.
"""

import os
import re
import subprocess
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from scan.database.connection import Database
from scan.database.embedded import EmbeddedPostgres
from scan.errors import ScanError
from scan.files import PRIVATE, whole_file

DUMP = b"PGDMP"  # with which files of pg_dump begin
DIGEST_BYTES = 32  # SHA-256, at the end of a backup
WITHOUT_ROLES = ("--no-owner", "--no-privileges")
_NAME = re.compile(r"^; +dbname: (scan_[0-9]\w*)$", re.M | re.ASCII)


class BackupFailed(ScanError):
    """A database was not backed up or restored; the message has the reason."""


def back_up(postgres: EmbeddedPostgres, url: str, path: Path) -> None:
    """Write a database to a file, as it is at this moment, while others read and write it. Raises
    BackupFailed, and then leaves an older file as it was."""
    try:
        with whole_file(path, PRIVATE) as file:
            # pg_dump opens the file again: into its standard output it writes another form.
            options = ("--format=custom", "--lock-wait-timeout=60s", *WITHOUT_ROLES)
            _run(postgres, "pg_dump", *options, f"--file={file.name}", f"--dbname={url}")
            size = file.seek(0, os.SEEK_END)
            with Path(file.name).open("rb") as dump:
                file.write(_digest(dump, size))  # which pg_restore does not read
    except OSError as error:
        raise BackupFailed(f"cannot write {path}: {error.strerror}") from None


def restore(postgres: EmbeddedPostgres, path: Path) -> str:
    """Restore a file of back_up(), whole or not at all; return the name of the database.

    Raises BackupFailed where the file is not whole, or the server has the chain already. pg_restore
    alone takes half of all single wrong bits for a schema, of other functions.
    """
    try:
        with path.open("rb") as file:
            is_whole = _digest(file, path.stat().st_size - DIGEST_BYTES) == file.read()
            file.seek(0)
            is_dump = file.read(len(DUMP)) == DUMP
    except OSError as error:
        raise BackupFailed(f"cannot read {path}: {error.strerror}") from None
    if is_dump and not is_whole:
        raise BackupFailed(
            f"{path} has no checksum at its end: an older version of Scan, or pg_dump, wrote it"
            " without one, or it was cut or changed since. Restore what an older version wrote with"
            " that version, and let this one save what cannot be indexed again from its database:"
            " `scan backup --owners owners.jsonl`"
        )
    match = is_whole and _NAME.search(_run(postgres, "pg_restore", "--list", str(path)))
    if not match:
        raise BackupFailed(f"{path} was not written by `scan backup`")
    name = match[1]
    url = postgres.database_url(name)
    with closing(Database(url, statement_timeout_ms=60_000)) as database:
        [(has_tables, _)] = database.rows("database/migrations_find_tables")
    if has_tables:
        raise BackupFailed(f"the database {name} is there already; set another SCAN_DATA_DIR")
    arguments = ("--single-transaction", *WITHOUT_ROLES, f"--dbname={url}", str(path))
    _run(postgres, "pg_restore", *arguments)
    _run(postgres, "vacuumdb", "--analyze", "--quiet", f"--dbname={url}")
    return name


def _digest(file: BinaryIO, size: int) -> bytes:
    """Return the SHA-256 of the next bytes of a file."""
    hashed = sha256()
    while size > 0 and (piece := file.read(min(size, 1024 * 1024))):
        hashed.update(piece)
        size -= len(piece)
    return hashed.digest()


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
