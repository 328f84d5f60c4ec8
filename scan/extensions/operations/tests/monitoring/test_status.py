"""`scan status`: the disk, services that are not there, and what scripts read."""

import json
import re
import shutil

import pytest

from scan.database.connection import Database
from scan.extensions.operations.monitoring.interface import DAY_S, forecast
from tests.support import database, indexing, made_blocks, serving
from tests.support.scan_command import OWNERS, scan


def test_status_says_when_the_disk_is_full(database_url, chain):
    """Half of ten transactions are of the newest day, so half of the database is."""
    for number in range(10):
        days = 3 if number < 5 else 5
        chain.append([made_blocks.Move(OWNERS[0], OWNERS[1])], timestamp_s=days * DAY_S + number)
    [(size, folder)] = database.execute(
        database_url,
        "SELECT pg_database_size(current_database()), current_setting('data_directory')",
    )
    with serving.gunicorn(database_url) as server:
        status = json.loads(scan("status", "--json", "--url", server).stdout)
        text = scan("status", "--url", server).stdout
    free = shutil.disk_usage(str(folder)).free
    assert status["diskFreeBytes"] == pytest.approx(free, rel=0.2)  # others write meanwhile
    days = status["diskFreeBytes"] / (int(str(size)) / 2)
    assert status["diskFullInDays"] == pytest.approx(days, rel=0.2)
    assert re.search(r"^disk of the database: \d+ GiB free, full in [\d,]+ days", text, re.M)


def test_the_disk_of_another_machine_is_not_forecast(database_url):
    """As its role may not know where the data are: the same folder here would be another disk."""
    database.execute(database_url, "CREATE ROLE without_settings LOGIN IN ROLE pg_read_all_data")
    try:
        role = database_url.replace("postgres@", "without_settings@").replace(
            "postgres:@", "without_settings@"
        )
        assert "without_settings" in role
        assert forecast(Database(role, statement_timeout_ms=10_000)) is None
        assert forecast(Database(database_url, statement_timeout_ms=10_000)) is not None
    finally:
        database.execute(database_url, "DROP ROLE without_settings")


def test_status_is_for_scripts(database_url, anvil):
    with (
        indexing.Indexing(database_url, anvil.url, until=anvil.head()),
        serving.gunicorn(database_url, RPC_URL=anvil.url) as server,
    ):
        done = scan("status", "--json", "--url", server)
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ready")
        near = scan("status", "--most-behind", "0", "--url", server)
        assert near.returncode == 0 and ", 0 blocks behind the node;" in near.stdout
        database.execute(database_url, "DROP TABLE migrations")
        # /readyz may be an answer of a second ago.
        serving.wait_until(lambda: scan("status", "--url", server).returncode == 1)
        assert "unavailable" in scan("status", "--url", server).stdout


def test_an_index_is_not_ready_and_up_to_date_without_its_node(database_url):
    """Nothing is indexed, and the node is not there: its newest block is not known."""
    with serving.gunicorn(database_url) as server:
        done = scan("status", "--most-behind", "10", "--url", server)
        state = json.loads(scan("status", "--json", "--url", server).stdout)
    assert done.returncode == 1
    assert "no block is indexed yet, how far behind is not known" in done.stdout
    assert "ready" not in done.stdout and "problem: the node cannot be reached" in done.stdout
    assert state["lagBlocks"] is state["headBlock"] is None
