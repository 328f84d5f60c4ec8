"""A simulation takes little from others: turns at the node, bounded gas, calls and bytes."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from scan.contracts.read_calls import GAS
from scan.extensions.simulation import views
from scan.extensions.simulation.request import ANONYMOUS_GAS
from tests.http import conftest
from tests.support import database, indexing, serving
from tests.support.slow_node import PATIENCE_S, SlowNode, new_address

pytestmark = pytest.mark.thorough

CALLED = "0x" + "ca" * 20


@pytest.fixture(scope="module")
def service(shared_database_url, shared_anvil):
    shared_anvil.mine()
    url = indexing.Indexing(shared_database_url, shared_anvil.url).run_until(1).url
    key = database.made_key(url, 1000).text
    with (
        SlowNode(shared_anvil.url) as node,
        conftest.served(url, SCAN_TRUSTED_PROXIES="1", RPC_URL=node.url) as (_, address),
    ):
        yield address, node, key


def simulate(address, client, key="", **fields):
    calls = [
        {"to": CALLED, **{name: fields.pop(name) for name in ("gas", "data") if name in fields}}
    ]
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


def test_calls_inside_are_counted_before_they_are_traced(service):
    """callTracer takes anvil minutes for the calls that fit into the gas of one call."""
    address, _, _ = service
    many = {CALLED: {"code": "0x5b5f5f5f5f5f61beef5af1505f56"}}
    large = {CALLED: {"code": "0x5b5f5f6110005f5f60045af1505f56"}}
    for overrides in (many, large):
        refused = simulate(address, "10.1.0.1", overrides=overrides)
        assert (refused.status_code, refused.json()["code"]) == (422, "traces_unavailable")
    [few] = simulate(address, "10.1.0.1", gas=100_000, overrides=many).json()["calls"]
    assert few["error"]["kind"] == "out_of_gas"


def test_calls_have_gas_together(service):
    address, _, _ = service
    body = {"calls": [{"to": CALLED}, {"to": CALLED, "gas": 5_000_000}, {"to": CALLED}]}
    made = requests.post(f"{address}/api/v1/simulate", json=body, timeout=PATIENCE_S).json()
    assert [call["gasLimit"] for call in made["calls"]] == ["5000000"] * 3
    body["calls"][2]["gas"] = 5_000_001
    refused = requests.post(f"{address}/api/v1/simulate", json=body, timeout=PATIENCE_S)
    assert refused.status_code == 400 and refused.json()["field"] == "calls[2].gas"


def test_gas_without_a_key_is_what_ordinary_blocks_use(service):
    address, _, key = service
    for of, most in (("", ANONYMOUS_GAS), (key, GAS)):
        [outcome] = simulate(address, "10.1.0.1", of).json()["calls"]
        assert outcome["gasLimit"] == str(most)
        refused = simulate(address, "10.1.0.1", of, gas=most + 1)
        assert refused.status_code == 400 and refused.json()["field"] == "calls[0].gas"
        assert str(most) in refused.json()["error"]


@pytest.mark.parametrize(("of_block", "most"), [(4_000_000, 2_000_000), (2**50, ANONYMOUS_GAS)])
def test_gas_without_a_key_follows_the_newest_block(of_block, most, explorer):
    explorer.execute("UPDATE blocks SET gas_limit = %s", of_block)
    body = {"calls": [{"to": CALLED, "gas": most + 1}]}
    refused = explorer.client.post("/api/v1/simulate", json=body)
    assert refused.status_code == 400 and str(most) in refused.json["error"]
    page = explorer.client.get(f"/simulate?to={CALLED}&gas={most + 1}")
    assert page.status_code == 400 and str(most) in page.text


def test_calls_inside_are_shown_where_they_are_asked_for_and_fit(service, explorer):
    # Calls itself with its argument and one more, up to 200.
    nested = "0x5f3560c81115601a5760015f35015f525f5f60205f5f305af1505b00"
    address, _, _ = service
    overrides = {CALLED: {"code": nested}}
    [brief] = simulate(address, "10.1.0.1", overrides=overrides).json()["calls"]
    [traced] = simulate(address, "10.1.0.1", overrides=overrides, trace=True).json()["calls"]
    assert len(brief["frames"]) == 1 < len(traced["frames"])
    assert brief["frames"][0] == traced["frames"][0] and not brief["truncated"]
    assert simulate(address, "10.1.0.1", trace=1).status_code == 400
    bounds = indexing.sources(explorer.client).get(views.SimulationBounds)
    bounds.response_bytes = 3000
    body = {"calls": [{"to": CALLED}], "overrides": overrides, "trace": True}
    [cut] = explorer.client.post("/api/v1/simulate", json=body).json["calls"]
    assert len(cut["frames"]) == 1 and cut["truncated"] is True
    bounds.response_bytes = 100
    assert explorer.client.post("/api/v1/simulate", json=body).status_code == 422
