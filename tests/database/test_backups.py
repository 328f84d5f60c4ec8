"""docs/operation.md, followed to the letter: what is restored serves, and is exact."""

import pytest
import requests

from tests.support import WAIT_S, auditing, backups, serving, table_digest
from tests.support.database import Postgres, execute, name_in
from tests.support.indexing import Indexing, settings_for

pytestmark = pytest.mark.long


@pytest.fixture
def server(open_folder):
    """One that keeps what it writes, and ends before the folder that it archives to."""
    with Postgres() as server:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            execute(server.url("postgres"), f"ALTER SYSTEM SET {setting} = on")
        yield server


def assert_serves(url, head):
    assert auditing.run(settings_for(url, serving.NOWHERE)) == auditing.EXACT
    with serving.gunicorn(url, RPC_URL=serving.NOWHERE) as address:
        newest = requests.get(f"{address}/api/v1/blocks?limit=1", timeout=WAIT_S).json()["blocks"]
        assert newest[0]["number"] == head
        assert requests.get(f"{address}/readyz", timeout=WAIT_S).status_code == 200


def test_a_moment_is_restored_from_incremental_backups_and_wal(server, anvil, open_folder):
    archive = backups.Archive(server, open_folder)
    with server.cloned(server.make_template()) as url, Indexing(url, anvil.url) as indexing:
        for number, since in ((10, None), (20, "10"), (30, "20")):
            anvil.mine(10)
            indexing.wait_for(number)
            archive.back_up(str(number), since=since)
        anvil.mine(5)
        indexing.wait_for(35)
        before = table_digest.digest(url)
        archive.name_moment("before_the_mistake")
        execute(url, "DELETE FROM blocks WHERE number > 5")
        archive.name_moment("after")
        with archive.restored("before_the_mistake", "10", "20", "30") as restored:
            copy = restored.url(name_in(url))
            assert table_digest.digest(copy) == before
            assert_serves(copy, 35)
