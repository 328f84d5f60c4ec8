"""A node that takes connections and says nothing more: what needs it fails, all else goes on."""

import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from bench.seed import seed
from tests.http import conftest
from tests.support import anvil, database
from tests.support.serving import frozen, wait_until

pytestmark = pytest.mark.thorough

CONTRACT = bytes.fromhex("c0de" * 10)
PATIENCE_S = 60.0


class Served(namedtuple("Served", "address node keys")):
    def block_list(self):
        """Never from the cache."""
        return self._get(f"/api/v1/blocks?={time.monotonic_ns()}", "10.9.9.9")

    def ready(self):
        return self._get("/readyz", "10.9.9.9").status_code

    def proxy(self, attacker, key=""):
        query = f"module=proxy&action=eth_getCode&address=0x{CONTRACT.hex()}&tag=latest"
        return self._get(f"/api?{query}&apikey={key}", f"10.0.0.{attacker}")

    def _get(self, path, client):
        headers = {"X-Forwarded-For": client}
        return requests.get(self.address + path, headers=headers, timeout=PATIENCE_S)


@pytest.fixture(scope="module")
def service(postgres, template):
    with postgres.cloned(template) as url, anvil.Anvil() as node:
        seed(url, 300)
        genesis = node.call("eth_getBlockByNumber", "0x0", False)["hash"]
        database.execute(
            url, "UPDATE chain SET chain_id = 31337, genesis_hash = decode(%s, 'hex')", genesis[2:]
        )
        keys = [database.made_key(url, 1000).text for _ in range(3)]
        environment = {"RPC_URL": node.url, "SCAN_RATE_LIMIT_ADDRESS": "1000000/minute"}
        with conftest.served(url, SCAN_TRUSTED_PROXIES="1", **environment) as (_, address):
            yield Served(address, node, keys)


def has_waited_in_vain(response):
    """Not where it was refused at once."""
    return "node d" in response.text  # it does not answer, or did not


def test_a_frozen_node_costs_its_own_answers_only(service):
    """Four addresses with twelve calls each, which wait for it, or for their turn: meanwhile others
    have all their answers."""
    attackers = 4
    with ThreadPoolExecutor(12 * attackers) as pool, frozen(service.node.pid):
        futures = [
            pool.submit(service.proxy, attacker) for _ in range(12) for attacker in range(attackers)
        ]
        assert [service.block_list().status_code for _ in range(10)] == [200] * 10
        assert service.ready() in (200, 503)
        assert not any(future.done() for future in futures), "nobody waits for the node"
        responses = [future.result() for future in futures]
        assert any(map(has_waited_in_vain, responses))
        assert {response.json()["status"] for response in responses} == {"0"}
    wait_until(lambda: "jsonrpc" in service.proxy(0).json())


def test_an_address_with_many_keys_has_the_places_of_one(service):
    with ThreadPoolExecutor(8) as pool, frozen(service.node.pid):
        futures = [pool.submit(service.proxy, 1, key) for key in service.keys * 2]
        assert has_waited_in_vain(service.proxy(2)), "another address had no place to wait in"
        responses = [future.result() for future in futures]
    client_places = 2  # of the threads: for what waits for the node
    assert sum(map(has_waited_in_vain, responses)) >= client_places
    wait_until(lambda: "jsonrpc" in service.proxy(0).json())
