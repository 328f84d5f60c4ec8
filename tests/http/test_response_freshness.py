"""No cached response outlasts a change by more than a moment, whatever the database does.

PostgreSQL notifies of a commit after it can be seen: 0.2 ms, and up to 3 on a busy machine.
"""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import requests

from scan.http.response_cache import CACHED_FOR_S
from tests.http.spellings import uncached
from tests.support import WAIT_S, http_client
from tests.support.database import Postgres, execute
from tests.support.indexing import Indexing
from tests.support.serving import frozen, gunicorn, wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture
def server(anvil, database_url):
    with gunicorn(database_url, RPC_URL=anvil.url, **http_client.UNLIMITED) as address:
        yield address


def test_no_thread_caches_an_old_response_as_a_new_one(anvil, database_url, server):
    """Eight clients ask while blocks come; none sees the chain go back."""
    over = threading.Event()

    def watch(number):
        client, highest = http_client.Client(server), 0
        while not over.is_set():
            body = http_client.newest(
                client, uncached(http_client.NEWEST)[0] if number % 2 else http_client.NEWEST
            )
            block = int(body.partition('"number":')[2].partition(",")[0])
            assert block >= highest, "an older response came after a newer one"
            highest = block
        return highest

    with Indexing(database_url, anvil.url) as indexing, ThreadPoolExecutor(8) as pool:
        anvil.mine()
        indexing.wait_for(1)
        watching = [pool.submit(watch, number) for number in range(8)]
        for number in range(2, 15):
            anvil.mine()
            indexing.wait_for(number)
        time.sleep(0.2)
        over.set()
        assert [one.result() for one in watching] == [14] * 8


def test_who_has_seen_a_change_sees_nothing_older(anvil, database_url, server):
    """The backend that would notify of it stands still, as the slowest there is."""
    paths = {  # with the seconds that pass before
        "/readyz": 0.0,
        "/api/v1/blocks/{}": 0.0,
        "/api/v1/tokens?page=1{}": 0.0,
        "//readyz/": CACHED_FOR_S["/readyz"],  # what it said for the first path is cached
    }
    with Indexing(database_url, anvil.url, until=0) as indexing:
        client = http_client.Client(server)
        for number, (path, pause_s) in enumerate(paths.items(), start=1):
            time.sleep(pause_s)
            wait_until(
                lambda number=number: f'"number":{number - 1},' in http_client.cached_newest(client)
            )
            before = http_client.cached_newest(client)
            [(listening,)] = execute(
                database_url,
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'scan-api' AND query LIKE %s AND query NOT LIKE %s",
                *("%FROM label_state%", "PREPARE%"),
            )
            with frozen(listening):
                anvil.mine()
                indexing.wait_for(number)
                assert http_client.newest(client) == before  # or nobody would need what follows
                client.ask(path.format(number))
                assert f'"number":{number},' in http_client.newest(client), path


def test_a_block_taken_back_is_gone_from_responses(anvil, database_url, server):
    with Indexing(database_url, anvil.url) as indexing:
        anvil.mine(6)
        indexing.wait_for(6)
        client = http_client.Client(server)
        for depth in (1, 3, 5):
            before = http_client.cached_newest(client)
            anvil.call("anvil_setCoinbase", "0x" + bytes([depth] * 20).hex())
            anvil.reorganise(depth)
            hash_ = anvil.call("eth_getBlockByNumber", "latest", False)["hash"]
            stored = ("SELECT 1 FROM blocks WHERE hash = %s", bytes.fromhex(hash_[2:]))
            wait_until(partial(execute, database_url, *stored))
            http_client.assert_soon(client, http_client.NEWEST, hash_)
            assert hash_ not in before


def test_nothing_is_served_from_the_cache_while_the_database_is_away(anvil):
    with (
        Postgres() as server,
        server.cloned(server.make_template()) as url,
        gunicorn(url, RPC_URL=anvil.url, **http_client.UNLIMITED) as api,
    ):
        Indexing(url, anvil.url).run_until(0)
        client = http_client.Client(api)
        body = http_client.cached_newest(client)
        for stop, start in ((server.halt, server.resume), (server.kill, server.start)):
            stop()
            wait_until(lambda: requests.get(f"{api}/readyz", timeout=WAIT_S).status_code == 503)
            # After SIGKILL its backends serve until they notice.
            wait_until(
                lambda: [client.ask(http_client.NEWEST).status for _ in range(6)] == [503] * 6
            )
            start()
            wait_until(lambda: client.ask(http_client.NEWEST).status == 200)
            assert http_client.cached_newest(client) == body


def test_a_response_with_a_balance_of_another_block_is_not_cached(anvil, database_url):
    """The node is asked again each time, as it may be reachable by then."""
    sender = anvil.accounts[0]
    with Indexing(database_url, anvil.url) as indexing:
        anvil.send(sender, anvil.accounts[1], value=1)
        anvil.mine()
        indexing.wait_for(1)
        anvil.mine()
        indexing.wait_for(2)
    execute(database_url, "UPDATE blocks SET traced = false WHERE number = 2")
    path = f"/api/v1/addresses/{sender}"
    with gunicorn(database_url, RPC_URL="http://127.0.0.1:1", **http_client.UNLIMITED) as server:
        client = http_client.Client(server)
        assert [client.ask(path).body.count(b'"balanceBlock":1') for _ in range(3)] == [1] * 3
        client.socket.settimeout(0.5)
        with http_client.busy_threads(server, database_url), pytest.raises(TimeoutError):
            client.ask(path)
