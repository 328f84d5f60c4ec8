"""Who may call functions, compared with calls of each from accounts with and without the right."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.extensions.permissions.present_accounts import MAX_ACCOUNTS, MAX_STEPS, MAX_VALUES
from tests.extensions.permissions.permission_contracts import (
    CHECKS,
    COIN,
    COIN_ACCESS,
    EFFECTS,
    UPGRADEABLE,
)
from tests.support.anvil import RpcError
from tests.support.explorer import Explorer, compiled, from_node_modules, standard_input

VERSION = "0.8.28"
PATH = "contracts/Contract.sol"
SETTINGS = {"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}
STRANGER = "0x00000000000000000000000000000000000abcde"
ACCESS = {
    "r": "restricted",
    "m": "authority",
    "u": "unrecognised",
    "a": "arguments",
    "n": "unrestricted",
}
VALUES = {"address": f"0x{77:040x}", "bytes": b"", "bytes32": bytes(32), "bool": True}


class Deployed(NamedTuple):
    explorer: Explorer
    address: str
    sources: Mapping[str, str]

    def permissions(self) -> Any:
        answer = self.explorer.client.get(f"/api/v1/contracts/{self.address}/permissions")
        assert answer.status_code == 200, answer.json
        return answer.json

    def functions(self, index: int = 0) -> Mapping[str, Any]:
        source = self.permissions()["sources"][index]
        assert source["verified"] and not source["truncated"]
        return {function["function"]: function for function in source["functions"]}

    def succeeds(self, sender: str, signature: str, arguments: Sequence[Any] | None = None) -> bool:
        call = {"from": sender, "to": self.address, "data": calldata(signature, arguments)}
        try:
            self.explorer.anvil.call("eth_call", call, "latest")
        except RpcError:
            return False
        return True


def calldata(signature: str, arguments: Sequence[Any] | None = None) -> str:
    if "(" not in signature:
        return "0x"
    types = [t for t in signature.partition("(")[2][:-1].split(",") if t]
    values = [VALUES.get(t, 0) for t in types] if arguments is None else arguments
    return f"0x{(keccak(text=signature)[:4] + encode(types, values)).hex()}"


def sources_of(text: str, name: str) -> dict[str, str]:
    metadata = json.loads(
        compiled(VERSION, standard_input({PATH: text}, **SETTINGS), PATH, name).metadata
    )
    return {PATH: text, **from_node_modules(*(p for p in metadata["sources"] if p != PATH))}


def deployed(explorer: Explorer, text: str, name: str, arguments: str = "") -> Deployed:
    sources = sources_of(text, name)
    given = standard_input(sources, **SETTINGS)
    address = explorer.deploy(compiled(VERSION, given, PATH, name).creation, arguments)
    answer = explorer.verify(address, given, VERSION, contractName=f"{PATH}:{name}")
    assert answer.status_code == 200, answer.json
    return Deployed(explorer, address, sources)


def word(address: str) -> str:
    return f"{int(address, 16):064x}"


@pytest.fixture(scope="module")
def conditions(explorer: Explorer) -> Iterator[Deployed]:
    factory = deployed(explorer, CHECKS, "Factory").address
    yield deployed(explorer, CHECKS, "Conditions", word(factory))


@pytest.fixture(scope="module")
def coin(explorer: Explorer) -> Iterator[Deployed]:
    yield deployed(explorer, COIN, "Coin")


def accounts_of(contract: Deployed, function: Mapping[str, Any]) -> list[str]:
    """All accounts that the restrictions of a function let pass."""
    accounts = []
    for condition in function["conditions"]:
        for caller in condition["callers"]:
            accounts += [caller["account"], *(caller["members"] or ())]
            accounts += [contract.address] if caller["kind"] == "itself" else []
    return [account for account in accounts if account]


def assert_as_called(contract: Deployed, functions: Mapping[str, Any]) -> None:
    """The access of each function is what its name says, and what a stranger's call shows."""
    for name, function in functions.items():
        letter = "n" if name in ("receive", "fallback") else name[0]
        assert function["access"] == ACCESS[letter], function
        assert function["complete"]
        if function["access"] in ("restricted", "unrestricted"):
            is_open = function["access"] == "unrestricted"
            assert contract.succeeds(STRANGER, name) == is_open, name


def test_each_function_is_as_its_calls_are(conditions: Deployed) -> None:
    functions = conditions.functions()
    declared = {*re.findall(r"function ([rmuan][A-Z]\w*)", CHECKS), "receive"}
    assert {name.partition("(")[0] for name in functions} == declared
    assert_as_called(conditions, functions)


def test_accounts_that_are_named_may_call(conditions: Deployed) -> None:
    named = {
        name: accounts_of(conditions, function)
        for name, function in conditions.functions().items()
        if function["access"] == "restricted"
    }
    # Who is in a mapping, in a structure, or in code alone cannot be read.
    assert {name for name, accounts in named.items() if not accounts} == {
        "rMember()",
        "rWard()",
        "rStructure()",
        "rImmutable()",
    }
    for name, accounts in named.items():
        for account in accounts:
            assert conditions.succeeds(account, name), (name, account)
    assert named["rConstant()"] == [f"0x{0xDEAD:040x}"]
    owner = conditions.explorer.anvil.accounts[0].lower()
    assert named["rElsewhere()"] == named["rModifier()"] == [owner]
    assert named["rEither()"] == [owner, owner]


def test_places_are_those_of_the_source(conditions: Deployed, coin: Deployed) -> None:
    for contract in (conditions, coin):
        for function in contract.functions().values():
            name = function["function"].partition("(")[0]
            places = [(function, f"function {name}(" if "(" in function["function"] else name)]
            places += [(c, c["condition"][:12]) for c in function["conditions"]]
            places += [(e, e["source"][:12]) for e in function["effects"]]
            places += [(w, w["variable"]) for w in function["writes"]]
            for place, text in places:
                line = contract.sources[place["file"]].split("\n")[place["line"] - 1]
                assert text in line, (place, line)


def test_what_functions_do_to_holders(conditions: Deployed, coin: Deployed) -> None:
    functions = conditions.functions()
    for name, kinds in EFFECTS.items():
        assert {effect["kind"] for effect in functions[name]["effects"]} == kinds, name
    [write] = functions["rBlacklist(address)"]["writes"]
    assert (write["variable"], write["checkedBy"]) == ("blacklisted", ["nBlacklisted()"])
    of_coin = coin.functions()
    kinds = {name: {e["kind"] for e in f["effects"]} for name, f in of_coin.items()}
    assert kinds["mint(address,uint256)"] == {"mint"}
    assert kinds["pause()"] == {"pause"}
    assert kinds["grantRole(bytes32,address)"] == {"roles"}
    assert kinds["transfer(address,uint256)"] == kinds["approve(address,uint256)"] == set()
    assert kinds["transferFrom(address,address,uint256)"] == {"moveHoldersTokens"}
    page = coin.explorer.client.get(f"/address/{coin.address}?tab=permissions").text
    assert "moves or approves tokens of others" in page
    [paused] = of_coin["pause()"]["writes"]
    assert "transfer(address,uint256)" in paused["checkedBy"]


def test_openzeppelin_roles_and_owners(coin: Deployed) -> None:
    functions = coin.functions()
    assert {name: f["access"] for name, f in functions.items()} == COIN_ACCESS
    for name, access in COIN_ACCESS.items():
        if access != "arguments":
            assert coin.succeeds(STRANGER, name) == (access == "unrestricted"), name
        if access == "restricted":
            for account in accounts_of(coin, functions[name]):
                assert coin.succeeds(account, name), (name, account)
    owner = coin.explorer.anvil.accounts[0].lower()
    [[minter]] = [c["callers"] for c in functions["mint(address,uint256)"]["conditions"]]
    assert minter["role"] == f"0x{keccak(text='MINTER_ROLE').hex()}"
    assert (minter["members"], minter["membersComplete"]) == ([owner], True)


def test_members_are_those_of_now(explorer: Explorer) -> None:
    coin = deployed(explorer, COIN, "Coin")
    role, other = keccak(text="MINTER_ROLE"), explorer.anvil.accounts[3].lower()

    def members() -> Any:
        [condition] = coin.functions()["mint(address,uint256)"]["conditions"]
        return condition["callers"][0]["members"]

    owner = explorer.anvil.accounts[0].lower()
    for action, expected in (("grantRole", [other, owner]), ("revokeRole", [owner])):
        explorer.send(coin.address, calldata(f"{action}(bytes32,address)", [role, other]))
        assert members() == expected


def test_more_members_than_are_read(explorer: Explorer) -> None:
    coin, role = deployed(explorer, COIN, "Coin"), keccak(text="MINTER_ROLE")
    for number in range(1, MAX_ACCOUNTS + 1):
        data = calldata("grantRole(bytes32,address)", [role, f"0x{number:040x}"])
        last = explorer.anvil.send(explorer.anvil.accounts[0], coin.address, data=data)
    explorer.anvil.receipt_of(last)
    explorer.wait_for_block(explorer.anvil.head())
    [condition] = coin.functions()["mint(address,uint256)"]["conditions"]
    [minter] = condition["callers"]
    assert len(minter["members"]) == MAX_ACCOUNTS
    assert minter["membersComplete"] is False


def test_a_proxy_has_the_functions_of_its_implementation(explorer: Explorer) -> None:
    vault = deployed(explorer, UPGRADEABLE, "Vault")
    governor = explorer.anvil.accounts[2].lower()
    call = bytes.fromhex(calldata("initialize(address)", [governor])[2:])
    arguments = encode(["address", "bytes"], [vault.address, call]).hex()
    proxy = deployed(explorer, UPGRADEABLE, "Proxy", arguments)
    permissions = proxy.permissions()
    assert permissions["implementations"] == [vault.address]
    assert permissions["admin"] is None
    functions = proxy.functions(1)
    for name, given in (
        ("set(uint256)", [5]),
        ("upgradeToAndCall(address,bytes)", [vault.address, b""]),
    ):
        assert functions[name]["access"] == "restricted"
        assert accounts_of(proxy, functions[name]) == [governor]
        assert proxy.succeeds(governor, name, given)
        assert not proxy.succeeds(STRANGER, name, given)
    kinds = {e["kind"] for e in functions["upgradeToAndCall(address,bytes)"]["effects"]}
    assert "upgrade" in kinds
    # The proxy's own code passes calls on: what that code refuses is not known of it.
    assert {f["access"] for f in proxy.functions(0).values()} == {"unrecognised"}


def test_the_admin_of_a_transparent_proxy(explorer: Explorer) -> None:
    vault = deployed(explorer, UPGRADEABLE, "Vault")
    owner = explorer.anvil.accounts[4].lower()
    call = bytes.fromhex(calldata("initialize(address)", [owner])[2:])
    values = [vault.address, owner, call]
    arguments = encode(["address", "address", "bytes"], values).hex()
    proxy = deployed(explorer, UPGRADEABLE, "Transparent", arguments)
    permissions = proxy.permissions()
    assert permissions["adminOwner"] == owner
    assert permissions["admin"] not in (None, owner)


def test_what_is_not_verified(explorer: Explorer) -> None:
    address = explorer.place("0x600160005260206000f3")
    answer = explorer.client.get(f"/api/v1/contracts/{address}/permissions")
    assert (answer.status_code, answer.json["field"]) == (404, "address")
    assert explorer.client.get("/api/v1/contracts/0x12/permissions").status_code == 400
    page = explorer.client.get(f"/address/{address}?tab=permissions")
    assert page.status_code == 200 and "is not verified" in page.text


def test_the_tab_says_who_and_where(conditions: Deployed, coin: Deployed) -> None:
    text = conditions.explorer.client.get(f"/address/{conditions.address}?tab=permissions").text
    assert "Condition not recognised" in text and "No condition on the caller" in text
    line = next(n for n, t in enumerate(CHECKS.split("\n"), 1) if "function rModifier()" in t)
    assert f"file=contracts/Contract.sol#L{line}" in text
    text = coin.explorer.client.get(f"/address/{coin.address}?tab=permissions").text
    assert "MINTER_ROLE" in text and "pauses or resumes" in text
    assert "access/AccessControl.sol#F" in text


def test_reads_are_bounded(explorer: Explorer) -> None:
    """More conditions than are read, and an account that is five contracts away."""
    names = [f"a{number}" for number in range(MAX_VALUES + 10)]
    declared = "".join(f"address public {name} = msg.sender;" for name in names)
    checks = "".join(
        f"function f{name}() external {{ require(msg.sender == {name}); last = 1; }}"
        for name in names
    )
    far = "next" + ".next()" * (MAX_STEPS + 1)
    text = (
        f"pragma solidity ^0.8.20; contract Many {{ {declared} uint last; Many public next;"
        f"constructor() {{ next = this; }} {checks}"
        f"function far() external {{ require(msg.sender == address({far})); last = 1; }} }}"
    )
    functions = deployed(explorer, text, "Many").functions()
    read = [name for name, function in functions.items() if accounts_of(None, function)]  # type: ignore[arg-type]
    assert len(read) <= MAX_VALUES
    assert len(read) >= MAX_VALUES - 2  # two are the admin of a proxy, and its owner
    assert {f["access"] for f in functions.values()} == {"restricted"}
