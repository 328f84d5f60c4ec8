"""A simulation takes little from others: one at a time at the node, bounded gas and bytes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from scan.contracts.read_calls import GAS
from scan.extensions.simulation import views
from scan.extensions.simulation.request import ANONYMOUS_GAS
from tests.http import conftest, test_limits_of_cached_responses
from tests.http.test_turns_at_the_node import PATIENCE_S, SlowNode, new_address
from tests.support import indexing, serving
from tests.support.anvil import Anvil

# Calls itself with its argument and one more, up to 200.
NESTED = "0x5f3560c81115601a5760015f35015f525f5f60205f5f305af1505b00"
CALLED = "0x" + "ca" * 20


@pytest.fixture(scope="module")
def service(postgres, template):
    with postgres.cloned(template) as url, Anvil() as anvil, SlowNode(anvil.url) as node:
        anvil.mine()
        indexing.Indexing(url, anvil.url).run_until(anvil.head())
        key = test_limits_of_cached_responses.made_key(url, 1000).text
        with conftest.served(url, SCAN_TRUSTED_PROXIES="1", RPC_URL=node.url) as (_, address):
            yield address, node, key


def simulate(address, client, key="", **fields):
    calls = [{"to": CALLED, **{name: fields.pop(name) for name in ("gas",) if name in fields}}]
    headers = {"X-Forwarded-For": client, **({"X-API-Key": key} if key else {})}
    body = {"calls": calls, **fields}
    url = f"{address}/api/v1/simulate"
    return requests.post(url, json=body, headers=headers, timeout=PATIENCE_S)


def test_simulations_of_all_clients_are_made_one_after_the_other(service):
    address, node, _ = service
    node.held_methods = {"debug_traceCall"}
    node.held.clear()
    with ThreadPoolExecutor(3) as pool, ExitStack() as stack:
        stack.callback(node.held.set)
        first = pool.submit(simulate, address, "10.1.0.1")
        serving.wait_until(lambda: node.waiting == 1)
        others = [pool.submit(simulate, address, f"10.1.0.{at}") for at in (2, 3)]
        # All other requests that need the node have it, and the two wait in no thread.
        for client in ("10.1.0.2", "10.1.0.4", "10.1.0.5"):
            headers = {"X-Forwarded-For": client}
            balance = requests.get(f"{address}{new_address()}", headers=headers, timeout=PATIENCE_S)
            assert balance.json()["balance"] == "0"
        assert node.waiting == 1 and not any(other.done() for other in others)
        node.held.set()
        for made in (first, *others):
            assert made.result().json()["calls"][0]["status"] is True


def test_gas_without_a_key_is_what_ordinary_blocks_use(service):
    address, _, key = service
    for of, most in (("", ANONYMOUS_GAS), (key, GAS)):
        [outcome] = simulate(address, "10.1.0.1", of).json()["calls"]
        assert outcome["gasLimit"] == str(most)
        refused = simulate(address, "10.1.0.1", of, gas=most + 1)
        assert refused.status_code == 400 and refused.json()["field"] == "calls[0].gas"
        assert str(most) in refused.json()["error"]


@pytest.mark.parametrize(("of_block", "most"), [(4_000_000, 2_000_000), (2**50, ANONYMOUS_GAS)])
def test_gas_without_a_key_follows_the_newest_block(of_block, most, explorer, monkeypatch):
    explorer.execute("UPDATE blocks SET gas_limit = %s", of_block)
    body = {"calls": [{"to": CALLED, "gas": most + 1}]}
    refused = explorer.client.post("/api/v1/simulate", json=body)
    assert refused.status_code == 400 and str(most) in refused.json["error"]
    page = explorer.client.get(f"/simulate?to={CALLED}&gas={most + 1}")
    assert page.status_code == 400 and str(most) in page.text


def test_calls_inside_are_shown_where_they_are_asked_for_and_fit(service, explorer, monkeypatch):
    address, _, _ = service
    overrides = {CALLED: {"code": NESTED}}
    [brief] = simulate(address, "10.1.0.1", overrides=overrides).json()["calls"]
    [traced] = simulate(address, "10.1.0.1", overrides=overrides, trace=True).json()["calls"]
    assert len(brief["frames"]) == 1 < len(traced["frames"])
    assert brief["frames"][0] == traced["frames"][0] and not brief["truncated"]
    assert simulate(address, "10.1.0.1", trace=1).status_code == 400
    monkeypatch.setattr(views, "MAX_RESPONSE_BYTES", 3000)
    body = {"calls": [{"to": CALLED}], "overrides": overrides, "trace": True}
    [cut] = explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert len(cut["frames"]) == 1 and cut["truncated"] is True
    monkeypatch.setattr(views, "MAX_RESPONSE_BYTES", 100)
    assert explorer.client.post("/api/v1/simulate", json=body).status_code == 422
