"""Checks of who calls through trusted forwarders (ERC-2771), compared with calls of each."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.extensions.permissions.forwarder_contracts import (
    AROUND,
    FORWARDED,
    SENDERS,
    with_sender,
)
from tests.extensions.permissions.test_permissions import (
    ACCESS,
    STRANGER,
    Deployed,
    calldata,
    deployed,
    word,
)
from tests.support.anvil import RpcError
from tests.support.explorer import Explorer

FORWARDER = 7  # an account of anvil's


@pytest.fixture(scope="module")
def forwarded(explorer: Explorer) -> Iterator[Deployed]:
    forwarder = deployed(explorer, FORWARDED, "Forwarder").address
    manager = deployed(explorer, FORWARDED, "Manager", word(explorer.anvil.accounts[0])).address
    yield deployed(explorer, FORWARDED, "Forwarded", word(forwarder) + word(manager))


def succeeds_for(contract: Deployed, sender: str, signature: str, account: str) -> bool:
    """Whether a call succeeds that has an account at the end of its calldata."""
    data = f"{calldata(signature)}{account[2:]}"
    try:
        call = {"from": sender, "to": contract.address, "data": data}
        contract.explorer.anvil.call("eth_call", call, "latest")
    except RpcError:
        return False
    return True


def callers_of(function: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [caller for c in function["conditions"] for caller in c["callers"]]


def test_checks_through_openzeppelins_context(forwarded: Deployed) -> None:
    explorer = forwarded.explorer
    owner = explorer.anvil.accounts[0].lower()
    forwarder = explorer.call(forwarded.address, "trustedForwarder").json["result"].lower()
    explorer.anvil.call("anvil_impersonateAccount", forwarder)
    functions = forwarded.functions()
    own = {name: f for name, f in functions.items() if name[0] in ACCESS and name[1].isupper()}
    assert len(own) == 7
    for name, function in own.items():
        assert function["access"] == ACCESS[name[0]], function
        if name[0] == "a":
            continue
        is_open = name[0] in "nu"
        assert forwarded.succeeds(STRANGER, name) == is_open, name
        assert succeeds_for(forwarded, STRANGER, name, owner) == is_open, name
        assert succeeds_for(forwarded, forwarder, name, STRANGER) == is_open, name
        assert forwarded.succeeds(owner, name), name
        assert succeeds_for(forwarded, forwarder, name, owner), name
        callers = callers_of(function)
        forwarders = {c["account"] for c in callers if c["forwarder"]}
        assert forwarders == (set() if is_open else {forwarder}), name
    accounts = {c["account"] for c in callers_of(own["rOwner()"]) if not c["forwarder"]}
    assert accounts == {owner}
    [role] = [c for c in callers_of(own["rRole()"]) if not c["forwarder"]]
    assert (role["kind"], role["members"]) == ("role", [owner])
    [authority] = [c for c in callers_of(own["mManaged()"]) if not c["forwarder"]]
    assert authority["authority"] == {"role": "0", "everybody": False, "closed": False}
    address = forwarded.address
    page = explorer.client.get(f"/address/{address}?tab=permissions").text
    assert "a trusted forwarder, which may act for anybody" in page
    # What forwarders do is written, too: a forwarder may say that nobody calls.
    assert {write["line"] for write in own["uNobody()"]["writes"]}
    assert succeeds_for(forwarded, forwarder, "uNobody()", f"0x{0:040x}")


@pytest.mark.parametrize("name", SENDERS)
def test_forms_of_a_forwarded_caller(explorer: Explorer, name: str) -> None:
    owner, forwarder = (explorer.anvil.accounts[n].lower() for n in (0, FORWARDER))
    contract = deployed(explorer, with_sender(SENDERS[name]), "Own", word(forwarder))
    assert not contract.succeeds(STRANGER, "f()")
    assert not succeeds_for(contract, STRANGER, "f()", owner)
    assert contract.succeeds(owner, "f()")
    assert succeeds_for(contract, forwarder, "f()", owner)
    function = contract.functions()["f()"]
    assert function["access"] == "restricted"
    callers = [(c["kind"], c["account"]) for c in callers_of(function) if not c["forwarder"]]
    assert callers == [("account", owner)]
    forwarders = {(c["kind"], c["account"]) for c in callers_of(function) if c["forwarder"]}
    expected = {
        "members": {("member", None)},
        "two": {("itself", None), ("member", None)},
        "through two": {("account", forwarder), ("member", None)},
    }
    assert forwarders == expected.get(name, {("account", forwarder)})


@pytest.mark.parametrize("name", AROUND)
def test_ways_around_a_forwarder(explorer: Explorer, name: str) -> None:
    owner, forwarder = (explorer.anvil.accounts[n].lower() for n in (0, FORWARDER))
    contract = deployed(explorer, with_sender(AROUND[name]), "Own", word(forwarder))
    assert succeeds_for(contract, STRANGER, "f()", owner)
    assert contract.functions()["f()"]["access"] in ("unrecognised", "unrestricted")
