"""Code that passes all calls on to that of a proxy runs it with its own storage."""

import pytest
from eth_abi import encode

from scan.contracts.proxy_contracts import IMPLEMENTATION_SLOT
from tests.contracts.test_proxy_kinds import EIP1167
from tests.support import authorizations, many_functions
from tests.support.anvil import calldata


@pytest.fixture(scope="module")
def proxy(explorer):
    """With nothing behind it in its own storage."""
    arguments = encode(["address", "bytes32"], [authorizations.IDLE, bytes(32)]).hex()
    return many_functions.deploy(explorer, many_functions.PROXY, "Proxy", arguments)


def clone_of(explorer, proxy):
    return explorer.place(EIP1167.format(explorer.place(EIP1167.format(proxy[2:]))[2:]))


def account_with(explorer, proxy):
    account, anvil = authorizations.new_account(1967), explorer.anvil
    signed = authorizations.authorize(account, proxy, authorizations.nonce_of(anvil, account))
    anvil.receipt_of(authorizations.send(anvil, [signed]))
    return account.address.lower()


@pytest.mark.parametrize("made", [clone_of, account_with])
def test_the_implementation_is_that_of_the_storage_that_the_code_reads(explorer, many, proxy, made):
    at = made(explorer, proxy)
    word = f"0x{many[2:]:0>64}"
    explorer.anvil.call("anvil_setStorageAt", at, IMPLEMENTATION_SLOT, word)
    sent = explorer.send(at, calldata("nothing()"))
    method = explorer.client.get(f"/api/v1/transactions/{sent}").json["method"]
    assert (method["signature"], method["source"]) == ("nothing()", "verified")
    answer = explorer.call(at, "over(uint256)", 5).json
    assert answer == {"result": "number", "implementation": many}
    values = explorer.client.get(f"/api/v1/contracts/{at}/values").json
    assert values["implementation"] == many and values["values"], values
