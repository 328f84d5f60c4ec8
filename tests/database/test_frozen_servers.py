"""A server that does not respond, and refuses nothing: every request ends all the same."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import pytest
import requests

from bench.seed import seed
from scan.database import errors, notifications
from scan.database.connection import Database
from scan.errors import Unavailable
from tests.support import WAIT_S
from tests.support.postgres_wires import DeadNetwork
from tests.support.serving import NOWHERE, cleared, gunicorn, wait_until

pytestmark = pytest.mark.long

STATEMENT_TIMEOUT_S = 1.0
# The time-out, what the client adds to it, and one attempt to connect; then room for the machine.
PATIENCE_S = STATEMENT_TIMEOUT_S + 2.0 + 10.0
READS = "/api/v1/blocks"
WRITES = "/api/v1/keys?owner=0x" + "00" * 20  # keys are read where they are written


@pytest.fixture(scope="module")
def url(own_postgres):
    with own_postgres.cloned(own_postgres.make_template()) as url:
        seed(url, 300)
        yield url


@pytest.fixture
def network(url):
    with DeadNetwork(url) as network:
        yield network


@pytest.fixture
def database(network):
    with closing(Database(network.url, statement_timeout_ms=200)) as database:
        yield database


def status(address):
    return requests.get(address, timeout=PATIENCE_S).status_code


@pytest.mark.parametrize("dead", [("DATABASE_URL",), ("DATABASE_URL", "READ_DATABASE_URL")])
def test_of_sixteen_requests_at_once_none_waits_after_another(url, dead):
    """By the default time-outs, 6.5 s together: of pages and the API, of what is read and where it
    is written. Twice as many as there are threads end by the time-out of the first ones."""

    def timed_status(address):
        return requests.get(address, timeout=WAIT_S).status_code, time.monotonic()

    paths = (f"{READS}?page=", "/blocks?page=", "/api/v1/transactions?page=", f"{WRITES}&_=")
    with ExitStack() as stack:
        networks = {name: stack.enter_context(DeadNetwork(url)) for name in dead}
        urls = {name: network.url for name, network in networks.items()}
        limits = {"SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute", "RPC_URL": NOWHERE}
        server = stack.enter_context(gunicorn(url, **urls, **limits))
        pool = stack.enter_context(ThreadPoolExecutor(16))
        known, others = (
            [f"{server}{path}{page}" for path in paths for page in pages]
            for pages in (range(1, 5), range(5, 9))  # of which none is cached
        )
        assert set(pool.map(status, known)) == {200}
        for network in networks.values():
            stack.enter_context(cleared(network.is_alive))
        time.sleep(0.2)  # until what the replica has told is no longer cached
        answers = [*pool.map(timed_status, others)]
    assert {code for code, _ in answers} == {503}
    ended = sorted(at for _, at in answers)
    default_timeout_s = 5.0
    assert ended[-1] - ended[0] < default_timeout_s


@pytest.mark.parametrize(("frozen", "other"), [(READS, WRITES), (WRITES, READS)])
def test_what_needs_the_other_server_goes_on(url, network, frozen, other):
    """One of the two is behind a dead network; its requests go on coming."""
    servers = {READS: "READ_DATABASE_URL", WRITES: "DATABASE_URL"}  # which serve these requests
    urls = {servers[other]: url, servers[frozen]: network.url}
    settings = {
        "RPC_URL": NOWHERE,
        "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute",
        "STATEMENT_TIMEOUT_MS": str(int(STATEMENT_TIMEOUT_S * 1000)),
    }
    over = threading.Event()

    def ask_until_over(address):
        """Each failure is a line of the server's log, and its pipe takes only so many."""
        codes = {status(address)}
        while not over.wait(0.5):
            codes.add(status(address))
        return codes

    with gunicorn(url, **urls, **settings) as server, ThreadPoolExecutor(16) as pool:
        assert status(server + frozen) == status(server + other) == 200
        with cleared(network.is_alive):
            time.sleep(0.2)  # until what the replica has told is no longer cached

            asking = [pool.submit(ask_until_over, server + frozen) for _ in range(16)]
            time.sleep(STATEMENT_TIMEOUT_S)
            for _ in range(50):
                assert status(server + other) == status(f"{server}/healthz") == 200
            over.set()
            assert {code for one in asking for code in one.result()} == {503}
        wait_until(lambda: status(server + frozen) == 200)


def test_a_statement_that_gets_no_response_is_not_asked_again(network, database):
    def answers():
        try:
            return database.value("http/chain_get_version") is not None
        except Unavailable:
            return False

    assert answers()
    with cleared(network.is_alive), pytest.raises(errors.NoResponse):
        database.value("http/chain_get_version")
    wait_until(answers)


def test_listening_ends_as_well(network, database):
    """The network dies between the connection and LISTEN."""
    connect = database.new_connection

    def connect_and_die():
        connection = connect()
        network.is_alive.clear()
        return connection

    database.new_connection = connect_and_die
    listener = notifications.Listener(database, "scan_chain")
    with ThreadPoolExecutor(1) as pool:
        listening = pool.submit(listener.connect, "http/chain_get_version")
        with pytest.raises(Unavailable):
            listening.result(PATIENCE_S)
    assert listener.connection is None and listener.poll() is None
