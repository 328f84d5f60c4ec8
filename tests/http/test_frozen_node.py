"""A node that takes connections and says nothing more: what needs it fails, all else goes on."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import NamedTuple

import pytest
import requests

from bench.seed import seed
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.serving import gunicorn, wait_until

pytestmark = pytest.mark.long

CONTRACT = bytes.fromhex("c0de" * 10)
UNLIMITED = {
    "SCAN_RATE_LIMIT_ANONYMOUS": "1000000/minute",
    "SCAN_RATE_LIMIT_ADDRESS": "1000000/minute",
    "SCAN_TRUSTED_PROXIES": "1",
}
ATTACKERS = 4
PLACES, CLIENT_PLACES = 4, 2  # of the threads: for what waits for the node
KEYS = ["scan_" + f"{number:064x}" for number in range(3)]
PATIENCE_S = 60.0


class Served(NamedTuple):
    address: str
    node: Anvil

    def block_list(self) -> requests.Response:
        """Never from the cache."""
        return self._get(f"/api/v1/blocks?={time.monotonic_ns()}", "10.9.9.9")

    def ready(self) -> int:
        return self._get("/readyz", "10.9.9.9").status_code

    def proxy(self, attacker: int, key: str = "") -> requests.Response:
        query = f"module=proxy&action=eth_getCode&address=0x{CONTRACT.hex()}&tag=latest"
        return self._get(f"/api?{query}&apikey={key}", f"10.0.0.{attacker}")

    def _get(self, path: str, client: str) -> requests.Response:
        headers = {"X-Forwarded-For": client}
        return requests.get(self.address + path, headers=headers, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def served(postgres: Postgres, template: str) -> Iterator[Served]:
    with postgres.cloned(template) as url, Anvil() as node:
        seed(url, 300)
        for number, key in enumerate(KEYS):
            execute(
                url,
                "INSERT INTO api_keys (id, owner_address, signed_at_ms, key_hash, key_prefix,"
                " label, requests_per_minute) VALUES (%s, %s, %s, %s, 'scan_', '', 1000)",
                *(number + 1, CONTRACT, number, sha256(key.encode()).digest()),
            )
        with gunicorn(url, RPC_URL=node.url, **UNLIMITED) as address:
            yield Served(address, node)


@contextmanager
def frozen(node: Anvil) -> Iterator[None]:
    os.kill(node.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(node.pid, signal.SIGCONT)


def has_waited_in_vain(response: requests.Response) -> bool:
    """Not where it was refused at once."""
    return "node d" in response.text  # it does not answer, or did not


def test_a_frozen_node_costs_its_own_answers_only(served: Served) -> None:
    """Four addresses with twelve calls each: before the first of them has waited in vain, others
    have all their answers."""
    with ThreadPoolExecutor(12 * ATTACKERS) as pool, frozen(served.node):
        asking = [
            pool.submit(served.proxy, attacker) for _ in range(12) for attacker in range(ATTACKERS)
        ]
        wait_until(lambda: sum(future.done() for future in asking) >= len(asking) - PLACES)
        assert [served.block_list().status_code for _ in range(10)] == [200] * 10
        assert served.ready() in (200, 503)
        over = [future.result() for future in asking if future.done()]
        assert not any(map(has_waited_in_vain, over))
        assert len(over) < len(asking), "nobody waits for the node"
        responses = [future.result() for future in asking]
        assert any(map(has_waited_in_vain, responses))
        assert {response.json()["status"] for response in responses} == {"0"}
    wait_until(lambda: "result" in served.proxy(0).json())


def test_an_address_with_many_keys_has_the_places_of_one(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool, frozen(served.node):
        asking = [pool.submit(served.proxy, 1, key) for key in KEYS * 2]
        wait_until(lambda: sum(future.done() for future in asking) >= len(asking) - CLIENT_PLACES)
        assert has_waited_in_vain(served.proxy(2)), "another address had no place to wait in"
        responses = [future.result() for future in asking]
    assert sum(map(has_waited_in_vain, responses)) == CLIENT_PLACES
    wait_until(lambda: "result" in served.proxy(0).json())
