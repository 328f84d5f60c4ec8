"""docs/operation.md, followed to the letter: what is restored serves, and is exact."""

import pytest
import requests

from tests.support import WAIT_S, auditing, backups, table_digest
from tests.support.database import Postgres, execute, name_in
from tests.support.indexing import Indexing, settings_for
from tests.support.serving import NOWHERE, gunicorn

pytestmark = pytest.mark.long


def test_a_moment_is_restored_from_incremental_backups_and_wal(anvil, open_folder):
    # A server that keeps what it writes, and ends before the folder that it archives to.
    with Postgres() as server:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            execute(server.url("postgres"), f"ALTER SYSTEM SET {setting} = on")
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
                assert auditing.run(settings_for(copy, NOWHERE)) == auditing.EXACT
                with gunicorn(copy, RPC_URL=NOWHERE) as address:
                    blocks = requests.get(f"{address}/api/v1/blocks?limit=1", timeout=WAIT_S)
                    assert blocks.json()["blocks"][0]["number"] == 35
                    assert requests.get(f"{address}/readyz", timeout=WAIT_S).status_code == 200
