"""Addresses by balance: what the node says of every address that a block has."""

import re

from tests.support.serving import wait_until

COIN = 10**18


def test_addresses_are_listed_by_their_balance(client, scenario, truth):
    """By what the node says of each address that a block has; not those of less than a coin."""
    call = scenario.anvil.call
    by_address = {a: int(call("eth_getBalance", a, "latest"), 16) for a in truth.addresses}
    rich = sorted(((wei, a) for a, wei in by_address.items() if wei >= COIN), reverse=True)
    assert 14 < len(rich) < len(by_address)
    body = client.get("/api/v1/accounts?limit=100").json
    assert [(int(row["balance"]), row["address"]) for row in body["accounts"]] == rich[:100]
    assert (body["total"], body["complete"], body["reason"]) == (len(rich), True, None)
    html = client.get("/accounts").text
    expected = [address for _, address in rich[:25]]
    assert re.findall(r'class="lead party".*?href="/address/(0x\w+)"', html) == expected
    for refused in ("/api/v1/accounts?page=401", "/accounts?page=401", "/accounts?orderBy=asc"):
        assert client.get(refused).status_code == 400


def test_a_balance_moves_and_comes_back_with_a_fork(explorer):
    """A new address is listed when the indexer has read its balance, and is gone after a fork."""
    anvil, address = explorer.anvil, "0x" + "c0" * 20
    snapshot = anvil.call("evm_snapshot")

    number = anvil.head()

    def has(balance):
        body = explorer.get("/api/v1/accounts?limit=100")
        listed = {row["address"]: int(row["balance"]) for row in body["accounts"]}
        return body["complete"] and listed.get(address) == balance

    explorer.send(address, "0x", value=hex(3 * COIN))
    wait_until(lambda: has(3 * COIN))
    anvil.call("evm_revert", snapshot)
    anvil.call("anvil_mine", "0x3")
    explorer.wait_for_block(number + 3)
    wait_until(lambda: has(None))
