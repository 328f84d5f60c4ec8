"""`scan backup` and `scan restore`, with the embedded PostgreSQL and the chain of the first release
in it."""

import os
import re
import resource
import shutil
import signal
import stat
import sys
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace

import pytest

from scan.commands import database_commands, startup
from scan.database import migrations
from scan.settings import Settings
from tests.support import backups, database, first_release, folders, indexing, serving, table_digest
from tests.support.embedded import running_in
from tests.support.owners_rows import rows
from tests.support.scan_command import scan

NAME = "scan_1337_00000000"


Original = namedtuple("Original", "folder backup head digest owned")


@pytest.fixture(scope="module")
def original():
    """A data folder with a chain and its owner's rows; its backup; and what its database has."""
    with folders.temporary_folder("scan backup ") as top:
        folder, file = top / "data", top / "chain.backup"
        with running_in(folder) as server:
            url = server.database_url(NAME)
            first_release.load(url)
            migrations.run(Settings(database_url=url))
            database.execute(url, "INSERT INTO signatures VALUES ('abcd', 'f()')")
            database.execute(url, "INSERT INTO labels VALUES ('\\x01', 'Bank')")
            [(head,)] = database.execute(url, "SELECT max(number) FROM blocks")
            stored = table_digest.digest(url), rows(url, with_left_out=True)
        done = scan("backup", file, SCAN_DATA_DIR=str(folder))
        assert (done.returncode, done.stdout) == (0, f"wrote {file}\n"), done.stderr
        assert stat.S_IMODE(file.stat().st_mode) == 0o600  # it holds secrets
        yield Original(folder, file, head, *stored)


@contextmanager
def in_use(folder):
    """As while `scan run` runs there."""
    settings = Settings(data_dir=folder)
    with database_commands.locked_data_dir(settings), running_in(folder) as server:
        startup.publish_database(replace(settings, database_url=server.database_url(NAME)))
        try:
            yield server
        finally:
            (folder / startup.DATABASE_FILE).unlink()


def test_a_restored_database_is_the_one_that_was_backed_up_and_serves(original):
    folder = original.folder.with_name("restored")
    done = scan("restore", original.backup, SCAN_DATA_DIR=str(folder))
    assert done.returncode == 0, done.stderr
    with running_in(folder) as server:
        url = server.database_url(NAME)
        assert table_digest.digest(url) == original.digest
        assert rows(url, with_left_out=True) == original.owned
        assert original.owned["labels"] and original.owned["signatures"]
        assert migrations.run(Settings(database_url=url)) == []
        client = indexing.client_over(url)
        newest = client.get("/api/v1/blocks?limit=1").json
        assert newest["blocks"][0]["number"] == original.head
        assert client.get("/readyz").status_code == 200


@pytest.mark.thorough
def test_a_backup_restores_into_a_server_of_another_role(original, own_postgres):
    """As docs/operation.md has it: the role owns its empty database, and nothing else."""
    database.execute(own_postgres.url("postgres"), "CREATE ROLE keeper LOGIN")
    database.execute(own_postgres.url("postgres"), "CREATE DATABASE kept OWNER keeper")
    url = own_postgres.url("kept").replace("postgres:@", "keeper@")
    [commands] = re.findall(r"^pg_restore .*\nvacuumdb .*$", backups.DOCUMENT.read_text(), re.M)
    with folders.temporary_folder("scan-given-") as folder:
        copy = shutil.copy(original.backup, folder)
        own_postgres.give(folder)
        for line in commands.replace('"$DATABASE_URL"', url).splitlines():
            own_postgres.run_program(*line.replace("scan.dump", str(copy)).split())
    owned = "SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"
    assert database.execute(url, owned) == [("keeper",)]
    assert migrations.run(Settings(database_url=url)) == []


@pytest.mark.thorough
# Cut in its data; in its table of contents, or just before its end.
@pytest.mark.parametrize(
    "parts", [(0.5,), pytest.param((0.0, 0.05, 0.999), marks=pytest.mark.long)]
)
def test_a_file_that_is_not_whole_restores_nothing(original, parts):
    whole, cut = original.backup.read_bytes(), original.folder.with_name("cut.backup")
    folder = original.folder.with_name(f"cut-{len(parts)}")
    other_function = whole.replace(b"WHEN l = ", b"WHEN l!= ", 1)
    assert other_function != whole
    for content in (*(whole[: int(len(whole) * part)] for part in parts), other_function):
        cut.write_bytes(content)
        done = scan("restore", cut, SCAN_DATA_DIR=str(folder))
        assert (done.returncode, done.stdout) == (1, ""), len(content)
        reason = "has no checksum at its end: an older" if content else "was not written by"
        assert f"{cut} {reason}" in done.stderr
    assert scan("restore", original.backup, SCAN_DATA_DIR=str(folder)).returncode == 0
    with running_in(folder) as server:
        assert table_digest.digest(server.database_url(NAME)) == original.digest


@pytest.mark.thorough
def test_a_database_that_is_there_is_never_overwritten(original):
    done = scan("restore", original.backup, SCAN_DATA_DIR=str(original.folder))
    assert done.returncode == 1
    assert f"{NAME} is there already; set another SCAN_DATA_DIR" in done.stderr
    with in_use(original.folder) as server:
        done = scan("restore", original.backup, SCAN_DATA_DIR=str(original.folder))
        assert done.returncode == 2
        assert "already in use by another" in done.stderr
        assert table_digest.digest(server.database_url(NAME)) == original.digest


@pytest.mark.thorough
def test_a_backup_that_fails_leaves_the_older_file(original):
    folder, backup = original.folder, original.backup
    before = backup.read_bytes()
    # As on a full disk, the largest file that the command may write is a small one. Not bytecode,
    # which Python would cut: other processes would read it.
    least_bytes = 4096  # for what fills up in the middle of a dump
    environment = {"PATH": os.environ["PATH"], "SCAN_DATA_DIR": str(folder)}
    with in_use(folder):
        done = serving.completed(
            [sys.executable, "-m", "scan", "backup", backup],
            env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (least_bytes,) * 2),
        )
        assert done.returncode == 1, done.stdout
        assert f"pg_dump ended with -{signal.SIGXFSZ:d}" in done.stderr
    assert backup.read_bytes() == before
    assert [path.name for path in backup.parent.glob("*.new")] == []
    done = scan("backup", backup.parent / "no" / "file", SCAN_DATA_DIR=str(folder))
    assert done.returncode == 1
    assert "cannot write" in done.stderr and "No such file or directory" in done.stderr


@pytest.mark.thorough
def test_what_is_not_the_embedded_server_is_refused(original):
    file, mistyped = original.folder.with_name("file"), original.folder.with_name("mistyped")
    url = "postgresql://scan:secret@db/scan"
    for command in ("backup", "restore"):
        done = scan(command, file, SCAN_DATA_DIR=str(original.folder), DATABASE_URL=url)
        assert done.returncode == 2
        assert "DATABASE_URL='postgresql://scan:***@db/scan': must not be set" in done.stderr
    done = scan("backup", file, SCAN_DATA_DIR=str(mistyped))
    assert done.returncode == 2
    assert "there is no PostgreSQL in it" in done.stderr
    assert not mistyped.exists()
