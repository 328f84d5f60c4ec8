"""A node that takes connections and says nothing more: what needs it fails, all else goes on."""

import json
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
CODE = bytes.fromhex("6000")
ABI = [{"type": "function", "name": "f", "inputs": [], "outputs": [], "stateMutability": "view"}]
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

    def call(self, attacker: int) -> requests.Response:
        return requests.post(
            f"{self.address}/api/v1/contracts/0x{CONTRACT.hex()}/call",
            json={"functionName": "f"},
            headers={"X-Forwarded-For": f"10.0.0.{attacker}"},
            timeout=PATIENCE_S,
        )

    def _get(self, path: str, client: str) -> requests.Response:
        headers = {"X-Forwarded-For": client}
        return requests.get(self.address + path, headers=headers, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def served(postgres: Postgres, template: str) -> Iterator[Served]:
    with postgres.cloned(template) as url, Anvil() as node:
        seed(url, 300)
        code_hash = sha256(CODE).digest()
        execute(url, "INSERT INTO codes (code_hash, code) VALUES (%s, %s)", code_hash, CODE)
        execute(
            url,
            "INSERT INTO contracts (address, block_number, code_hash) VALUES (%s, 0, %s)",
            *(CONTRACT, code_hash),
        )
        execute(
            url,
            "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
            " compiler_version, settings, abi, sources, code_length, masked_hash, variable_ranges,"
            " verified_at)"
            " VALUES (%s, %s, 'full', 'C', 'C.sol', '0.8.28', '{}', %s, '{}', 0, '', '', now())",
            *(CONTRACT, code_hash, json.dumps(ABI)),
        )
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
    """Four addresses with six calls of each kind: before the first of them has waited in vain,
    others have all their answers."""
    with ThreadPoolExecutor(12 * ATTACKERS) as pool, frozen(served.node):
        asking = [
            pool.submit(ask, attacker)
            for _ in range(6)
            for attacker in range(ATTACKERS)
            for ask in (served.proxy, served.call)
        ]
        wait_until(lambda: sum(future.done() for future in asking) >= len(asking) - PLACES)
        assert [served.block_list().status_code for _ in range(10)] == [200] * 10
        assert served.ready() in (200, 503)
        over = [future.result() for future in asking if future.done()]
        assert not any(map(has_waited_in_vain, over))
        assert len(over) < len(asking), "nobody waits for the node"
        responses = [future.result() for future in asking]
        assert any(map(has_waited_in_vain, responses))
        for response in responses:
            if response.url.endswith("/call"):
                assert response.status_code in (502, 503) and response.headers["Retry-After"]
            else:
                assert response.json()["status"] == "0"
    wait_until(lambda: served.call(0).status_code not in (502, 503))
    assert "result" in served.proxy(0).json()


def test_an_address_with_many_keys_has_the_places_of_one(served: Served) -> None:
    with ThreadPoolExecutor(8) as pool, frozen(served.node):
        asking = [pool.submit(served.proxy, 1, key) for key in KEYS * 2]
        wait_until(lambda: sum(future.done() for future in asking) >= len(asking) - CLIENT_PLACES)
        assert has_waited_in_vain(served.proxy(2)), "another address had no place to wait in"
        responses = [future.result() for future in asking]
    assert sum(map(has_waited_in_vain, responses)) == CLIENT_PLACES
    wait_until(lambda: "result" in served.proxy(0).json())
