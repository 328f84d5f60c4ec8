"""The PostgreSQL that `scan run` brings, started on whatever an earlier run has left."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scan.database.connection import Database
from scan.database.embedded import EmbeddedPostgres, StillStarting


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """With a space in its name, and too long for a socket."""
    top = Path(tempfile.mkdtemp(prefix="scan embedded "))
    top.chmod(0o755)
    try:
        yield top / f"data {80 * 'x'}"
    finally:
        shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def started(folder: Path) -> Iterator[EmbeddedPostgres]:
    server = EmbeddedPostgres(folder)
    start(server)
    try:
        yield server
    finally:
        server.stop()


def start(server: EmbeddedPostgres) -> None:
    """As the supervisor does: for as long as it is only late."""
    while True:
        try:
            return server.start()
        except StillStarting:
            continue


def require_answer(server: EmbeddedPostgres) -> None:
    database = Database(server.database_url("scan_test"), statement_timeout_ms=5_000)
    assert database.value("database/databases_find", name="scan_test") is True
    database.close()


def postmaster(folder: Path) -> int:
    return int((folder / "postgres" / "postmaster.pid").read_text().split("\n")[0])


def test_data_that_initdb_did_not_finish_are_set_aside(folder: Path) -> None:
    unfinished = folder / "postgres"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    server = EmbeddedPostgres(folder)
    start(server)
    require_answer(server)
    server.stop()
    assert [found.name for found in folder.glob("postgres-unfinished-*/*")] == ["PG_VERSION"]


def test_a_start_may_be_repeated(started: EmbeddedPostgres, folder: Path) -> None:
    running = postmaster(folder)
    start(started)
    start(EmbeddedPostgres(folder))
    require_answer(started)
    assert postmaster(folder) == running


def test_a_killed_server_starts_again(started: EmbeddedPostgres, folder: Path) -> None:
    require_answer(started)
    os.kill(postmaster(folder), signal.SIGKILL)
    start(started)
    require_answer(started)


@pytest.mark.parametrize("left", [f"{os.getpid()}\n", "", "not a number\n"])
def test_a_pid_file_that_is_not_the_servers_is_no_obstacle(folder: Path, left: str) -> None:
    (folder / "postgres" / "postmaster.pid").write_text(left)
    server = EmbeddedPostgres(folder)
    start(server)
    require_answer(server)
    server.stop()


def test_a_stop_after_a_kill_is_quiet(folder: Path) -> None:
    server = EmbeddedPostgres(folder)
    start(server)
    os.kill(postmaster(folder), signal.SIGKILL)
    server.stop()


def test_a_chain_is_remembered_by_its_node(started: EmbeddedPostgres, folder: Path) -> None:
    started.remember_chain("http://a", "scan_1_aa")
    started.remember_chain("http://b", "scan_2_bb")
    assert EmbeddedPostgres(folder).chain_of("http://a") == "scan_1_aa"
    assert started.chain_of("http://c") is None
    (folder / "chains.json").write_text('{"cut')
    assert started.chain_of("http://a") is None
