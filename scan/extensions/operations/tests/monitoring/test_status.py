"""`scan status` and the disk."""

import json
import re
import shutil
from pathlib import Path

import pytest

from scan.database.connection import Database
from scan.extensions.operations.monitoring.interface import DAY_S, forecast
from tests.commands.test_command import OWNERS, scan
from tests.support import database, made_blocks, serving


def test_status_says_when_the_disk_is_full(database_url):
    """Half of ten transactions are of the newest day, so half of the database is."""
    chain = made_blocks.Chain(Database(database_url, statement_timeout_ms=10_000))
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


def test_a_disk_in_a_closed_folder_is_not_forecast(database_url, monkeypatch):
    def closed(_path):  # as the kernel refuses another user than root
        raise PermissionError

    monkeypatch.setattr(Path, "is_dir", closed)
    assert forecast(Database(database_url, statement_timeout_ms=10_000)) is None
