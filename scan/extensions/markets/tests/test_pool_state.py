"""What a pool holds, its price and fee, against Uniswap's own contracts; and pools that lie."""

from dataclasses import replace
from decimal import Decimal

import pytest

from app import create_app
from scan.extensions.markets import queries
from tests.support.serving import NOWHERE

FEES = {"uniswap-v2": 3000, "uniswap-v3": 3000, "pancakeswap-v2": 2500, "pancakeswap-v3": 500}


def test_the_state_of_a_pool_is_that_of_its_contract(client, scenario):
    anvil, pools = scenario.anvil, scenario.stage.pools
    coins = {c.address: c for key, c in scenario.stage.contracts.items()}
    seen = set()
    for key, contract in pools.items():
        pool = client.get(f"/api/v1/pools/{contract.address}").json
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        reserves = [
            anvil.read(coins[pool[side]], "balanceOf", contract.address)
            for side in ("token0", "token1")
        ]
        assert [state["reserve0"], state["reserve1"]] == [str(r) for r in reserves], key
        units = Decimal(10) ** (pool["token0Decimals"] - pool["token1Decimals"])
        if key.startswith("v2"):
            held0, held1, _ = anvil.read(contract, "getReserves")
            price = Decimal(held1) / Decimal(held0) * units
            assert [held0, held1] == reserves
        elif key.startswith("v3"):
            root, *_ = anvil.read(contract, "slot0")
            price = (Decimal(root) / 2**96) ** 2 * units
        else:
            price = None
        assert state["fee"] == FEES.get(pool["dex"], 3000 if key.startswith("v3") else None), key
        assert state["blockNumber"] == anvil.head()
        html = client.get(f"/pool/{contract.address}").text
        assert "<dt>Reserves</dt>" in html
        if price is None:
            assert state["price"] is None
            continue
        assert abs(Decimal(state["price"]) / price - 1) < Decimal("1e-20"), key
        assert "<dt>Price</dt>" in html
        seen.add(pool["dex"].partition("-0x")[0])
    assert {"uniswap-v2", "uniswap-v3", "v2", "v3"} <= seen


def test_a_pool_by_events_alone_has_no_price(client, scenario):
    for key in ("impostor of v2", "impostor of v3", "pool without factory"):
        address = scenario.stage.contracts[key].address
        state = client.get(f"/api/v1/pools/{address}/state").json
        assert (state["price"], state["fee"]) == (None, None)
        assert client.get(f"/pool/{address}").status_code == 200


def test_without_the_node_a_pool_has_its_reserves(indexed, client, scenario):
    away = create_app(replace(indexed.settings, rpc_urls=(NOWHERE,))).test_client()
    for contract in scenario.stage.pools.values():
        state = client.get(f"/api/v1/pools/{contract.address}/state").json
        alone = away.get(f"/api/v1/pools/{contract.address}/state").json
        assert alone["price"] is None and alone["reserve0"] == state["reserve0"]
        assert away.get(f"/pool/{contract.address}").status_code == 200


def test_an_address_that_is_no_pool_has_no_state(client):
    assert client.get(f"/api/v1/pools/0x{'9' * 40}/state").status_code == 404
    assert client.get("/api/v1/pools/0x12/state").status_code == 400


@pytest.mark.check
@pytest.mark.parametrize(
    ("returned", "words"),
    [
        (None, []),
        ("0x", []),
        ("0x12", []),
        ("0xzz", []),
        ({"a": 1}, []),
        ("0x" + "ff" * 32, [2**256 - 1]),
        ("0x" + "00" * 31 + "01" + "ff" * 64, [1, 2**256 - 1]),
    ],
)
def test_what_a_contract_returns_is_checked(returned, words):
    assert queries._words(returned) == words


@pytest.mark.check
def test_prices_of_the_largest_and_least_values_are_finite():
    for reserves in ([1, 2**256 - 1], [2**256 - 1, 1]):
        price = queries._ratio(reserves)
        assert price is not None and price.is_finite() and price > 0
    assert [queries._ratio(bad) for bad in ([], [1], [0, 1], [1, 0])] == [None] * 4
    assert [queries._squared(bad) for bad in ([], [0], [2**160])] == [None] * 3
    least = queries._squared([1])
    assert least is not None
    assert f"{queries._scaled(least, -255):f}".startswith("0.000")
