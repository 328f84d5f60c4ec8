"""What a database may do: it dies, restarts, fills up, turns read-only; the tables stay exact."""

import threading
import time
from pathlib import Path

import pytest

from scan.database import errors
from tests.support import database, postgres_wires
from tests.support.indexing import Indexing, status
from tests.support.serving import wait_until
from tests.support.table_digest import digest

pytestmark = pytest.mark.long


def kill_backends(database_url):
    database.execute(
        database_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        " AND datname = current_database()",
    )


def test_a_commit_whose_answer_was_lost_counts_once(scenario, indexed, database_url):
    with postgres_wires.CommitCutter(database_url) as cutter:
        cutter.cuts = 2
        Indexing(cutter.url, scenario.anvil.url).run_until(scenario.anvil.head())
        assert cutter.cuts == 0
    assert digest(database_url) == digest(indexed.url)


def test_a_read_only_database_is_told_and_waited_for(anvil, database_url, caplog):
    with Indexing(database_url, anvil.url, until=0) as indexing:
        with database.read_only(database_url):
            kill_backends(database_url)
            anvil.mine()
            wait_until(lambda: "DATABASE_URL must be the primary" in caplog.text)
        kill_backends(database_url)
        indexing.wait_for(1)


def test_a_full_disk_is_told_and_waited_for(anvil, database_url):
    """The server's answer is what a full disk gives; to fill one for real needs a mount."""
    fill = Path(__file__).with_name("fill.sql").read_text()
    with Indexing(database_url, anvil.url, until=0) as indexing:
        database.execute(database_url, fill)
        anvil.mine()
        wait_until(lambda: "disk is full" in (status(database_url)["problem"] or ""))
        database.execute(database_url, "DROP TRIGGER fill ON blocks")
        indexing.wait_for(1)
        wait_until(lambda: status(database_url)["problem"] is None)


def test_two_indexers_at_once_write_every_block_once(scenario, indexed, database_url):
    """Also when connections die, so that the one which had the lock may lose it."""
    over = threading.Event()

    def disturb():
        while not over.wait(0.15):
            kill_backends(database_url)

    with (
        Indexing(database_url, scenario.anvil.url) as one,
        Indexing(database_url, scenario.anvil.url),
    ):
        disturber = threading.Thread(target=disturb)
        disturber.start()
        time.sleep(3.0)
        over.set()
        disturber.join()
        one.wait_for(scenario.anvil.head())
    assert digest(database_url) == digest(indexed.url)


@pytest.mark.check
def test_a_connection_refused_on_a_full_disk_says_so_to_clients_and_operators():
    """As PostgreSQL refuses one where it cannot write the files that a session begins with."""
    reason = 'FATAL:  could not write lock file "postmaster.pid": No space left on device'
    error = errors.Unreachable(reason)
    assert error.message == "The database's disk is full; writing resumes when there is space."
    assert error.for_operators == f"the database cannot be reached: {reason}; add space to its disk"
