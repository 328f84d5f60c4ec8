"""X-Scan-Block is the block that a response shows, X-Scan-At-Least-Block one that it needs."""

import threading
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.support import WAIT_S, serving
from tests.support.http_client import UNLIMITED
from tests.support.indexing import Indexing

NEWEST = "/api/v1/blocks?limit=1"
PATHS = (NEWEST, "/api?module=block&action=getblockreward&blockno=1", "/blocks", "/api/v1/stats")


class Served(namedtuple("Served", "address node indexing")):
    """One instance for all tests: each takes the chain as the one before has left it."""

    def mine(self):
        """One block more; its number, once it is indexed."""
        self.node.mine()
        self.indexing.wait_for(self.node.head())
        return self.node.head()


@pytest.fixture(scope="module")
def served(shared_anvil, shared_database_url):
    limits = {"SCAN_RATE_LIMIT_PAGES": "1000/minute", **UNLIMITED}
    with (
        Indexing(shared_database_url, shared_anvil.url) as indexing,
        serving.gunicorn(shared_database_url, RPC_URL=shared_anvil.url, **limits) as address,
    ):
        yield Served(address, shared_anvil, indexing)


def ask(server, path, block=None):
    headers = {} if block is None else {"X-Scan-At-Least-Block": str(block)}
    return requests.get(server + path, headers=headers, timeout=WAIT_S)


def newest(response):
    return int(response.json()["blocks"][0]["number"])


def test_a_response_carries_the_block_it_shows(served):
    for _ in range(2):
        number = served.mine()
        serving.wait_until(lambda number=number: newest(ask(served.address, NEWEST)) == number)
        for _ in range(3):  # read, and from the cache
            response = ask(served.address, NEWEST)
            assert int(response.headers["X-Scan-Block"]) == newest(response) == number
        validator = {"If-None-Match": response.headers["ETag"]}
        unmodified = requests.get(served.address + NEWEST, headers=validator, timeout=WAIT_S)
        assert unmodified.status_code == 304
        assert unmodified.headers["X-Scan-Block"] == str(number)
    assert "X-Scan-Block" in response.headers["Access-Control-Expose-Headers"]
    missing = ask(served.address, "/api/v1/transactions/0x" + "12" * 32)
    assert missing.status_code == 404 and int(missing.headers["X-Scan-Block"]) == number


@pytest.mark.parametrize("path", PATHS)
def test_a_block_that_comes_is_waited_for(served, path):
    """Also where an older response is cached; and one that is there costs nothing."""
    number = served.mine()
    for _ in range(3):
        assert ask(served.address, path, number).status_code == 200
    timer = threading.Timer(0.3, served.node.mine)
    timer.start()
    response = ask(served.address, path, number + 1)
    timer.join()
    assert response.status_code == 200
    assert b"not indexed" not in response.content
    assert int(response.headers.get("X-Scan-Block", number + 1)) == number + 1
    assert path != NEWEST or newest(response) == number + 1


def test_a_block_that_does_not_come_is_refused_in_the_form_of_the_interface(served):
    number = served.mine() + 2
    message = f"Block {number} is not indexed yet."
    with ThreadPoolExecutor(3) as pool:
        paths = (NEWEST, PATHS[1], "/blocks")
        refused, etherscan, page = pool.map(lambda path: ask(served.address, path, number), paths)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
    assert refused.json() == {"error": message, "code": "unavailable"}
    body = etherscan.json()
    assert (body["status"], body["result"]) == ("0", message)
    assert page.status_code == 503 and message in page.text


@pytest.mark.parametrize("block", ["", "latest", "-1", "0x10", "1.0", "1,2", "9" * 19, "+1"])
def test_what_is_no_block_number_is_refused(served, block):
    refused = ask(served.address, NEWEST, block)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_parameter")
    assert refused.json()["field"] == "X-Scan-At-Least-Block"


@pytest.mark.thorough
def test_those_who_wait_leave_threads_to_others(served):
    """Far more than there are threads; only so many wait, and the others are refused at once."""
    with ThreadPoolExecutor(40) as pool:
        waiting = [pool.submit(ask, served.address, f"{NEWEST}&={n}", 10**9) for n in range(40)]
        for number in range(20):
            assert ask(served.address, f"/api/v1/tokens?={number}").status_code == 200
        assert {one.result().status_code for one in waiting} == {503}
