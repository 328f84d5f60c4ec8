"""A role of `scan sql-role` on the PostgreSQL of `scan run`, and on one that lets it not in."""

import os
import re
import sys
from pathlib import Path

import psycopg2
import pytest

from scan.database import migrations
from scan.settings import Settings
from tests.support import WAIT_S, database, forked_python
from tests.support.embedded import data_folder, running_in

pytestmark = pytest.mark.thorough

COMMAND = (sys.executable, "-m", "scan", "sql-role", "reader")


def made(url):
    env = {"PATH": os.environ["PATH"], "DATABASE_URL": url}
    return forked_python.run([*COMMAND], env=env, timeout=WAIT_S)


def test_a_role_logs_in_with_the_printed_url_and_reads_the_views_alone():
    with data_folder() as folder, running_in(folder) as server:
        url = server.database_url("scan_1_00000000")
        migrations.run(Settings(database_url=url))
        done = made(url)
        assert done.returncode == 0, done
        [as_role] = re.findall(r"^URL +(\S+)$", done.stdout, re.M)
        assert database.execute(as_role, "SELECT current_user::text") == [("reader",)]
        assert database.execute(as_role, "SELECT count(*) FROM v1.blocks") == [(0,)]
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            database.execute(as_role, "SELECT * FROM api_keys")
        with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
            database.execute(re.sub(r":\w+@", ":wrong@", as_role), "SELECT 1")


def test_a_role_that_cannot_log_in_is_named_with_what_is_missing(own_postgres):
    url = own_postgres.url("postgres")
    migrations.run(Settings(database_url=url))
    rule = "local all reader reject\n"
    [(path,)] = database.execute(url, "SHOW hba_file")
    path = Path(str(path))
    rules = path.read_text()
    try:
        path.write_text(rule + rules)
        database.execute(url, "SELECT pg_reload_conf()")
        done = made(url)
    finally:
        path.write_text(rules)
        database.execute(url, "SELECT pg_reload_conf()")
    assert done.returncode == 1
    assert "warning: it cannot log in from here: " in done.stdout
    assert "pg_hba.conf needs a line: host all reader ADDRESS scram-sha-256" in done.stdout
