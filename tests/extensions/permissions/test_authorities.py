"""Functions whose callers another contract lets pass, compared with calls of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from eth_utils import keccak

from scan.verification.permissions.contract_permissions import of_solidity, selection_of
from tests.extensions.permissions.authority_contracts import (
    DIRECT,
    LIAR,
    LOOK_ALIKES,
    OZ,
    look_alike,
    managed_by,
)
from tests.extensions.permissions.test_permissions import (
    ACCESS,
    PATH,
    STRANGER,
    Deployed,
    calldata,
    deployed,
    sources_of,
    word,
)
from tests.support.explorer import Explorer
from tests.support.solidity import compile_standard

ADMIN_ROLE, PUBLIC_ROLE = 0, 2**64 - 1
SET, OTHER = "set(uint256)", "other()"
KEEPER_ROLE = 42


class Managed(NamedTuple):
    contract: Deployed
    manager: Deployed

    def send(self, signature: str, arguments: Sequence[Any]) -> None:
        """Call the manager as its admin."""
        self.contract.explorer.send(self.manager.address, calldata(signature, arguments))

    def need(self, function: str, role: int) -> None:
        selectors = [keccak(text=function)[:4]]
        arguments = [self.contract.address, selectors, role]
        self.send("setTargetFunctionRole(address,bytes4[],uint64)", arguments)

    def authority(self, function: str) -> Mapping[str, Any]:
        """Whom the function's condition lets pass."""
        conditions = self.contract.functions()[function]["conditions"]
        [[caller]] = [c["callers"] for c in conditions if c["kind"] == "authority"]
        return dict(caller)


def managed_contract(explorer: Explorer, package: str = OZ) -> Managed:
    text = managed_by(package)
    manager = deployed(explorer, text, "Manager", word(explorer.anvil.accounts[0]))
    return Managed(deployed(explorer, text, "Managed", word(manager.address)), manager)


@pytest.fixture(params=[OZ, "openzeppelin-5.0"])
def managed(request: pytest.FixtureRequest, explorer: Explorer) -> Managed:
    return managed_contract(explorer, request.param)


@pytest.fixture(scope="module")
def direct(explorer: Explorer) -> Iterator[Deployed]:
    authority = deployed(explorer, DIRECT, "Authority").address
    yield deployed(explorer, DIRECT, "Direct", word(authority))


def test_the_role_that_a_function_needs(managed: Managed) -> None:
    """Who has it may call, a stranger may not; without one, the admin may."""
    explorer, contract = managed.contract.explorer, managed.contract
    admin, keeper = (explorer.anvil.accounts[n].lower() for n in (0, 5))
    managed.need(SET, KEEPER_ROLE)
    managed.send("grantRole(uint64,address,uint32)", [KEEPER_ROLE, keeper, 0])
    functions = contract.functions()
    accesses = {name: function["access"] for name, function in functions.items()}
    assert accesses == {
        SET: "authority",
        OTHER: "authority",
        "fallback": "authority",
        "open()": "unrestricted",
        "setAuthority(address)": "restricted",
    }
    for function, role, members in ((SET, KEEPER_ROLE, [keeper]), (OTHER, ADMIN_ROLE, [admin])):
        caller = managed.authority(function)
        assert (caller["kind"], caller["account"]) == ("authority", managed.manager.address)
        assert caller["authority"] == {"role": str(role), "everybody": False, "closed": False}
        assert (caller["members"], caller["membersComplete"]) == (members, True)
        assert contract.succeeds(members[0], function)
        assert not contract.succeeds(STRANGER, function)
    assert not contract.succeeds(keeper, OTHER)
    fallback = managed.authority("fallback")  # of any selector: no role is that of all
    assert (fallback["account"], fallback["authority"]) == (managed.manager.address, None)


def test_a_function_that_everybody_may_call(managed: Managed) -> None:
    managed.need(SET, PUBLIC_ROLE)
    caller = managed.authority(SET)
    expected = {"role": str(PUBLIC_ROLE), "everybody": True, "closed": False}
    assert (caller["authority"], caller["members"]) == (expected, None)
    assert managed.contract.succeeds(STRANGER, SET)
    address = managed.contract.address
    page = managed.contract.explorer.client.get(f"/address/{address}?tab=permissions").text
    assert "Decided by another contract" in page and "everybody may call" in page
    managed.send("setTargetClosed(address,bool)", [address, True])
    assert managed.authority(SET)["authority"] == {**expected, "everybody": False, "closed": True}
    assert not managed.contract.succeeds(STRANGER, SET)


def test_members_that_wait_or_left(explorer: Explorer) -> None:
    managed = managed_contract(explorer)
    one, other = (explorer.anvil.accounts[n].lower() for n in (5, 6))
    managed.need(SET, KEEPER_ROLE)
    for account in (one, other):
        managed.send("grantRole(uint64,address,uint32)", [KEEPER_ROLE, account, 3600])
    assert managed.authority(SET)["members"] == [other, one]
    assert not managed.contract.succeeds(one, SET)  # only after it has scheduled the call
    managed.send("revokeRole(uint64,address)", [KEEPER_ROLE, other])
    assert managed.authority(SET)["members"] == [one]


def test_answers_of_an_authority_that_lies(explorer: Explorer) -> None:
    """They are its own; that it decides is a fact of the source."""
    liar, babbler = (deployed(explorer, LIAR, name).address for name in ("Liar", "Babbler"))
    contract = deployed(explorer, managed_by(OZ), "Managed", word(liar))
    managed = Managed(contract, contract)
    caller = managed.authority(SET)
    assert contract.functions()[SET]["access"] == "authority"
    assert caller["authority"] == {"role": "7", "everybody": True, "closed": True}
    assert caller["members"] == []
    assert contract.succeeds(STRANGER, SET)
    explorer.anvil.call("anvil_impersonateAccount", liar)
    explorer.anvil.call("anvil_setBalance", liar, hex(10**18))
    data = calldata("setAuthority(address)", [babbler])
    explorer.anvil.receipt_of(explorer.anvil.send(liar, contract.address, data=data))
    explorer.wait_for_block(explorer.anvil.head())
    caller = managed.authority(SET)
    assert caller["account"] == babbler
    assert caller["authority"] == {"role": None, "everybody": None, "closed": None}


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_what_only_looks_like_a_managed_contract(explorer: Explorer, name: str) -> None:
    text = look_alike(name)
    later = deployed(explorer, text, "Later").address
    contract = deployed(explorer, text, name, word(later))
    assert contract.succeeds(STRANGER, "f()")
    assert contract.functions()["f()"]["access"] in ("unrecognised", "unrestricted")


@pytest.mark.parametrize("type_, access", [("bytes4", "authority"), ("bytes32", "unrecognised")])
def test_the_function_that_the_library_asks(type_: str, access: str) -> None:
    """A source may have the library's tokens, and another interface."""
    sources = sources_of(managed_by(OZ), "Managed")
    path = f"{OZ}/access/manager/IAuthority.sol"
    sources[path] = sources[path].replace("bytes4", type_)
    output = compile_standard(sources, settings={"outputSelection": selection_of(PATH, "Managed")})
    record = of_solidity(output, sources, PATH, "Managed")
    assert record is not None
    accesses = {function["function"]: function["access"] for function in record["functions"]}
    assert accesses[SET] == access


def test_authorities_that_a_contract_asks_itself(direct: Deployed) -> None:
    owner = direct.explorer.anvil.accounts[0].lower()
    for name, function in direct.functions().items():
        assert function["access"] == ACCESS[name[0]], function
        if name.endswith("()"):
            assert direct.succeeds(STRANGER, name) == (name[0] in "un"), name
        if name[0] in "mr":
            assert direct.succeeds(owner, name), name


def test_what_is_asked_of_the_function_itself(direct: Deployed) -> None:
    """A selector that the source names is not the function's; solmate's form lets an owner pass."""
    authority = direct.explorer.call(direct.address, "authority").json["result"].lower()
    answered = {}
    for name, function in direct.functions().items():
        callers = [c for condition in function["conditions"] for c in condition["callers"]]
        answered[name] = [c["authority"] for c in callers if c["kind"] == "authority"]
        accounts = {c["account"] for c in callers if c["kind"] == "authority"}
        assert accounts <= {authority, None}, name
        assert accounts != {None} or name == "mEntry()", name
    answer = {"role": None, "everybody": False, "closed": None}
    asking = {"mCanCall()", "mModifier()", "rBoth()"}
    assert {name for name, answers in answered.items() if any(answers)} == asking
    assert all(answered[name] == [answer] for name in asking)
    [condition] = [
        c for c in direct.functions()["mModifier()"]["conditions"] if c["kind"] == "authority"
    ]
    assert [caller["kind"] for caller in condition["callers"]] == ["authority", "account"]


def test_a_contract_that_is_given(direct: Deployed) -> None:
    everybody = deployed(direct.explorer, DIRECT, "Everybody").address
    assert direct.succeeds(STRANGER, "uGiven(address)", [everybody])
    assert not direct.succeeds(STRANGER, "aAmong(uint256)", [1])
