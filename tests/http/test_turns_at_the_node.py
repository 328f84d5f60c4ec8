"""Requests wait for a slow node in the worker's loop: none is refused in haste, none is cut, and
none of them delays others."""

import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from select import select
from unittest.mock import patch

import pytest
import requests

from scan.concurrency.turns import QUEUED_PER_CLIENT
from tests.http.conftest import served
from tests.support import WAIT_S
from tests.support.database import execute, made_key
from tests.support.indexing import Indexing
from tests.support.serving import cleared, connect, wait_until
from tests.support.slow_node import PATIENCE_S, SlowNode, _numbers, new_address

TRANSACTIONS = 90
READER, OTHER = "10.1.0.1", "10.2.0.1"


class Served(namedtuple("Served", "address node hashes database_url")):
    def get(self, path, client=READER):
        headers = {"X-Forwarded-For": client}
        return requests.get(f"{self.address}{path}", headers=headers, timeout=PATIENCE_S)

    def record(self, number):
        return self.get(f"/api/v1/transactions/{self.hashes[number]}")

    def balance(self, client=READER):
        return self.get(new_address(), client)


@pytest.fixture(scope="module")
def service(shared_database_url, shared_anvil):
    url, people = shared_database_url, shared_anvil.call("eth_accounts")
    for number in range(TRANSACTIONS):
        shared_anvil.send(people[number % 8], people[number % 8 + 1], value=number + 1)
    shared_anvil.mine()
    Indexing(url, shared_anvil.url).run_until(shared_anvil.head())
    with (
        SlowNode(shared_anvil.url) as node,
        served(url, SCAN_TRUSTED_PROXIES="1", RPC_URL=node.url) as (_, address),
    ):
        of_api = requests.get(f"{address}/api/v1/transactions?limit=100", timeout=PATIENCE_S)
        hashes = [record["hash"] for record in of_api.json()["transactions"]]
        assert len(hashes) == TRANSACTIONS
        yield Served(address, node, hashes, url)


def is_whole(response):
    return response.status_code == 200 and response.json()["balance"] == "0"


@pytest.mark.thorough
def test_parallel_readers_have_whole_records_whether_blocks_are_stored_or_not(service):
    """20 readers in parallel, while the node answers late."""
    copy = "CREATE TABLE kept AS TABLE block_bodies; DELETE FROM block_bodies"
    execute(service.database_url, copy)
    with ThreadPoolExecutor(20) as pool:
        service.node.delay_s = 0.05
        responses = [*pool.map(service.record, range(30))]
        execute(service.database_url, "INSERT INTO block_bodies TABLE kept; DROP TABLE kept")
        service.node.delay_s = 0.5
        responses += pool.map(service.record, range(30, 90))
    service.node.delay_s = 0.0
    for response in responses:
        record = response.json()
        assert response.status_code == 200, record
        assert record["input"] == "0x" and record["logs"] == [] and not record["unavailable"]


def test_a_flood_of_one_client_waits_and_delays_no_other(service):
    """With three of its requests at the node and 32 in its queue, the next is refused: whichever
    of those that threads have at the same time comes last. Keys give an address no more places."""
    keys = [f"X-API-Key: {made_key(service.database_url, 1000).text}\r\n" for _ in range(3)]
    with cleared(service.node.held):
        requests_ = 3 + QUEUED_PER_CLIENT + 1
        waiting = [send_request(service, READER, keys[n % 3]) for n in range(requests_)]
        wait_until(lambda: service.node.waiting >= 3)
        wait_until(lambda: select(waiting, (), (), 0)[0])
        [refused] = select(waiting, (), (), 0)[0]
        waiting.remove(refused)
        assert received(refused).startswith(b"HTTP/1.1 429 ")
        assert service.balance().status_code == 429
        # The worker's threads are free, and so is a place at the node.
        assert service.get(f"/api/v1/blocks?={time.monotonic_ns()}", READER).ok
        assert service.get(f"/api/v1/blocks?={time.monotonic_ns()}", OTHER).ok
        others = send_request(service, OTHER)
        wait_until(lambda: service.node.waiting == 4)
        service.node.held.set()
        for connection in (*waiting, others):
            assert b'"balance":"0"' in received(connection)
    assert is_whole(service.balance())


def send_request(service, client="127.0.0.1", more=""):
    """The connection of a request for a balance, which costs a busy machine little."""
    connection = connect(service.address)
    head = f"GET {new_address()} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {client}\r\n{more}"
    connection.sendall(f"{head}Connection: close\r\n\r\n".encode())
    return connection


def received(connection):
    with connection:
        return b"".join(iter(lambda: connection.recv(65536), b""))


def test_what_caches_have_of_the_node_waits_for_no_turn(service):
    """Of an address and of a page of it, whose state was read at the head before."""
    paths = [
        path.format(f"0x{next(_numbers):040x}") for path in ("/api/v1/addresses/{}", "/address/{}")
    ]
    assert all(service.get(path, OTHER).ok for path in paths)
    with cleared(service.node.held):
        waiting = [send_request(service) for _ in range(5)]
        wait_until(lambda: service.node.waiting == 3)
        for path in paths:
            anew = f"{service.address}{path}?={time.monotonic_ns()}"
            assert requests.get(anew, headers={"X-Forwarded-For": "127.0.0.1"}, timeout=WAIT_S).ok
        service.node.held.set()
        assert all(b'"balance":"0"' in received(connection) for connection in waiting)


@pytest.mark.thorough
def test_clients_that_leave_while_they_wait_free_their_places(service):
    with cleared(service.node.held):
        connections = [send_request(service) for _ in range(3 + QUEUED_PER_CLIENT + 1)]
        wait_until(lambda: service.node.waiting >= 3)
        wait_until(lambda: select(connections, (), (), 0)[0])
        for connection in connections:
            connection.close()
        with ThreadPoolExecutor(1) as pool:
            later = pool.submit(service.balance, "127.0.0.1")
            time.sleep(0.5)
            assert not later.done()  # it is in the queue, which was full
            service.node.held.set()
            assert is_whole(later.result())
    wait_until(lambda: service.node.waiting == 0)


def test_what_waits_is_served_anew_with_its_body_and_what_follows_it(service):
    """A body that was read before the request had to wait, HEAD, and pipelined requests."""
    form = "module=proxy&action=eth_blockNumber&" + "x" * 300_000  # large ones are parsed in turn
    head = f"POST /api HTTP/1.1\r\nHost: a\r\nContent-Length: {len(form)}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    after = f"HEAD {new_address()} HTTP/1.1\r\nHost: a\r\n\r\n"
    after += "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    with ThreadPoolExecutor(3) as pool, cleared(service.node.held):
        futures = [pool.submit(service.balance, "127.0.0.1") for _ in range(3)]
        wait_until(lambda: service.node.waiting >= 3)
        connection = connect(service.address)
        connection.sendall((head + form + after).encode())
        time.sleep(0.3)
        service.node.held.set()
        answers = received(connection)
        assert all(is_whole(future.result()) for future in futures)
    first, second, third = answers.split(b"HTTP/1.1 200 OK")[1:]
    assert b'"result":"0x' in first and second.endswith(b"\r\n\r\n") and b"alive" in third


@pytest.mark.thorough
def test_costly_calls_of_all_clients_leave_half_of_the_places_to_ordinary_ones(service):
    """Traces, estimates and calls of 30 million gas: one of a client, two of all."""
    hostile = [f"10.3.0.{number}" for number in range(4)]
    call = f"/api?module=proxy&action=eth_call&to=0x{1:040x}&data=0x"
    costly = [call, call.replace("eth_call", "eth_estimateGas")]
    costly += [f"/api/v1/transactions/{hash_}/trace" for hash_ in service.hashes[:2]]
    held = {"debug_traceTransaction", "eth_estimateGas", "eth_call"}
    with (
        patch.object(service.node, "held_methods", held),
        ThreadPoolExecutor(20) as pool,
        cleared(service.node.held),
    ):
        waiting = [pool.submit(service.get, path, of) for of in hostile for path in costly]
        wait_until(lambda: service.node.waiting == 2)
        for client in (OTHER, *hostile):  # the hostile ones, too, have their balances
            assert is_whole(service.balance(client))
        assert service.node.waiting == 2 and not any(future.done() for future in waiting)
        service.node.held.set()
        assert all(future.result().status_code == 200 for future in waiting)
