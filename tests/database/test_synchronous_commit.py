"""A primary that commits to two machines, while the second one is away."""

from contextlib import closing

import pytest

from scan.database import connection, errors
from scan.errors import Unavailable
from tests.support.database import Postgres, execute

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def primary():
    """Waits for a standby that never comes; a server of its own, since others share theirs."""
    with Postgres() as server:
        server.make_template()
        for setting in ("synchronous_commit = on", "synchronous_standby_names = nobody"):
            execute(server.url("postgres"), f"ALTER SYSTEM SET {setting}")
        server.halt()  # a reload would reach the processes of the server at any time
        server.resume()
        execute(server.url("postgres"), "CHECKPOINT")  # by the process that lets commits wait
        yield server


@pytest.fixture
def database(primary):
    url = primary.url("template_scan")
    with closing(connection.Database(url, statement_timeout_ms=300)) as database:
        yield database


def test_a_commit_that_no_standby_has_confirmed_is_no_success(database):
    """PostgreSQL ends no such wait at the statement time-out: it would then report success."""
    with pytest.raises(errors.NoResponse), database.transaction() as tx:
        tx.script("CREATE TABLE made (id int)")
    with pytest.raises(Unavailable):  # at once, where a connection took as long to open
        database.execute_script("CREATE TABLE also_made (id int)")


def test_reading_goes_on_meanwhile(database):
    assert database.value("database/databases_find", name="postgres")
    with database.transaction(snapshot=True) as tx:
        assert tx.value("database/databases_find", name="postgres")
