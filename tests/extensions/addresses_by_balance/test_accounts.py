"""Addresses by balance: what the node says of every address that a block has."""

import re

from flask.testing import FlaskClient

from tests.conftest import Played
from tests.support.explorer import Explorer
from tests.support.serving import wait_until

COIN = 10**18


def test_addresses_are_listed_by_their_balance(client: FlaskClient, scenario: Played) -> None:
    call = scenario.anvil.call
    balances = {
        address: int(call("eth_getBalance", address, "latest"), 16)
        for address in scenario.truth.addresses
    }
    rich = sorted(
        ((wei, address) for address, wei in balances.items() if wei >= COIN), reverse=True
    )
    assert any(0 < wei < COIN for wei in balances.values()) and rich
    body = client.get("/api/v1/accounts?limit=100").json
    assert [(int(row["balance"]), row["address"]) for row in body["accounts"]] == rich[:100]
    assert (body["total"], body["complete"], body["reason"]) == (len(rich), True, None)
    html = client.get("/accounts").text
    assert re.findall(r'class="lead party".*?href="/address/(0x\w+)"', html) == [
        address for _, address in rich[:25]
    ]
    assert client.get("/api/v1/accounts?page=401").status_code == 400
    assert client.get("/accounts?page=401").status_code == 400
    assert client.get("/accounts?orderBy=asc").status_code == 400


def test_a_balance_moves_and_comes_back_with_a_fork(explorer: Explorer) -> None:
    """A new address is listed when the indexer has read its balance, and is gone after a fork."""
    anvil, address = explorer.anvil, "0x" + "c0" * 20
    snapshot = anvil.call("evm_snapshot")

    number = anvil.head()

    def has(balance: int | None) -> bool:
        body = explorer.client.get("/api/v1/accounts?limit=100").json
        listed = {row["address"]: int(row["balance"]) for row in body["accounts"]}
        return body["complete"] and listed.get(address) == balance

    explorer.send(address, "0x", value=hex(3 * COIN))
    wait_until(lambda: has(3 * COIN))
    anvil.call("evm_revert", snapshot)
    anvil.call("anvil_mine", "0x3")
    explorer.wait_for_block(number + 3)
    wait_until(lambda: has(None))
