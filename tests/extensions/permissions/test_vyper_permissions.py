"""Who may call functions of contracts of Vyper, compared with calls of each by a stranger and by
the accounts that are named."""

import re
from collections.abc import Iterator, Mapping

import pytest
from eth_abi import encode
from eth_utils import keccak

from tests.extensions.permissions.test_permissions import (
    ACCESS,
    Deployed,
    accounts_of,
    assert_as_called,
)
from tests.support.explorer import Explorer
from tests.support.vyper import Vyper, source_for, source_of

NEWEST = "0.4.3"
OLDER = ("0.2.8", "0.3.7", "0.3.10", "0.4.0")
VERSIONS = [NEWEST, *(pytest.param(v, marks=pytest.mark.long) for v in OLDER)]

EFFECTS = {
    "r_mint(address,uint256)": {"mint"},
    "r_pause(bool)": {"pause"},
    "r_own(address)": {"ownership"},
    "r_run(address)": {"delegatecall"},
    "r_send(address)": {"sendCoin"},
    "r_assert()": set(),
}
# Who is in a mapping, a structure or an array cannot be read, nor a variable before 0.4.1.
NOT_READ = {"r_member()", "r_not_member()", "r_ward()", "r_structure()", "r_array()", "r_role()"}

OWNED = """# Owned by one account.
owner: public(address)
pending: address

@deploy
def __init__():
    self.owner = msg.sender

@internal
def _check():
    assert msg.sender == self.owner, "no"

@external
def r_transfer_ownership(to: address):
    self._check()
    self.pending = to

@external
def r_accept_ownership():
    assert self.pending == msg.sender
    self.owner = msg.sender
"""
MINTING = """# Uses the owner of another module.
import owned
uses: owned

minters: HashMap[address, bool]
total: uint256

@internal
def _check():
    assert msg.sender != self, "no"

@internal
def _check_minter():
    assert self.minters[msg.sender], "no"

@external
def r_set_minter(who: address):
    owned._check()
    self.minters[who] = True

@external
def r_mint(amount: uint256 = 1):
    self._check_minter()
    self.total += amount

@external
def n_checked():
    self._check()
    self.total += 1
"""
HIDDEN = """# Not exported as a whole.
total: uint256

@external
def n_hidden():
    self.total = 1

@external
def r_mint(amount: uint256):
    self.total = amount
"""
MAIN = """# Exports functions of modules.
import owned
import minting
import hidden
initializes: owned
initializes: minting[owned := owned]
initializes: hidden
exports: (owned.owner, owned.r_transfer_ownership, minting.__interface__)
exports: (owned.r_accept_ownership, hidden.n_hidden)

flag Role:
    KEEPER
    MINTER

roles: HashMap[address, Role]
admin: address
first: public(immutable(address))
held: transient(address)
members: DynArray[address, 5]

@deploy
def __init__():
    owned.__init__()
    self.admin = msg.sender
    self.roles[msg.sender] = Role.MINTER
    first = msg.sender

@internal
def _check():
    owned._check()

@external
def r_owned():
    self._check()
    hidden.total = 1000

@external
def r_variable():
    assert owned.owner == msg.sender
    hidden.total = 1

@external
def r_slot():
    assert msg.sender == self.admin
    hidden.total = 1

@external
def r_immutable():
    assert msg.sender == first
    hidden.total = 1

@external
def r_flag():
    assert self.roles[msg.sender] in Role.MINTER
    hidden.total = 1

@external
def r_of_flag():
    assert Role.MINTER in self.roles[msg.sender]
    hidden.total = 1

@external
def r_list():
    assert msg.sender in self.members
    hidden.total = 1

@external
def n_not_flag():
    assert self.roles[msg.sender] not in Role.KEEPER
    hidden.total = 1

@external
def u_held():
    self.held = msg.sender
    assert self.held == msg.sender

@external
def u_module():
    owned.owner = msg.sender
    owned._check()

@external
def a_flag(role: Role):
    assert role in self.roles[msg.sender]
"""


def verified(
    explorer: Explorer, vyper: Vyper, version: str, sources: Mapping[str, str], arguments: str = ""
) -> Deployed:
    """The contract of the first file, deployed and verified."""
    path = next(iter(sources))
    given = {p: {"content": text} for p, text in sources.items()}
    standard = {"language": "Vyper", "sources": given, "settings": {}}
    address = explorer.deploy(vyper.creation(version, path, standard), arguments)
    name = f"{path}:{path.removesuffix('.vy')}"
    answer = explorer.verify(address, standard, version, contractName=name)
    assert answer.status_code == 200, answer.json
    return Deployed(explorer, address, sources)


@pytest.fixture(scope="module", params=VERSIONS)
def conditions(
    request: pytest.FixtureRequest, explorer: Explorer, vyper: Vyper
) -> Iterator[tuple[str, Deployed]]:
    version = request.param
    box = vyper.creation_of(version, source_for(version))
    registry = explorer.deploy(box, f"{7:064x}")
    sources = {"permissions.vy": source_of("permissions.vy", version)}
    arguments = encode(["address"], [registry]).hex()
    yield version, verified(explorer, vyper, version, sources, arguments)


@pytest.fixture(scope="module")
def modules(explorer: Explorer, vyper: Vyper) -> Iterator[Deployed]:
    files = {"main.vy": MAIN, "owned.vy": OWNED, "minting.vy": MINTING, "hidden.vy": HIDDEN}
    yield verified(explorer, vyper, NEWEST, files)


def test_each_function_is_as_its_calls_are(conditions: tuple[str, Deployed]) -> None:
    _, contract = conditions
    functions = contract.functions()
    text = contract.sources["permissions.vy"]
    declared = {line[4:].partition("(")[0] for line in text.split("\n") if line[:4] == "def "}
    expected = {n for n in declared if n[1:2] == "_" and n[0] in ACCESS} | {"fallback"}
    assert {name.partition("(")[0] for name in functions} == expected
    assert_as_called(contract, functions)


def test_accounts_that_are_named_may_call(conditions: tuple[str, Deployed]) -> None:
    version, contract = conditions
    owner = contract.explorer.anvil.accounts[0].lower()
    restricted = {n: f for n, f in contract.functions().items() if f["access"] == "restricted"}
    named = {name: accounts_of(contract, f) for name, f in restricted.items()}
    is_read = version >= "0.4.1"  # without a getter, by the layout
    not_read = NOT_READ if is_read else {*NOT_READ, "r_elsewhere()"}
    assert {name for name, accounts in named.items() if not accounts} == not_read
    for name, accounts in named.items():
        for account in accounts:
            assert contract.succeeds(account, name), (name, account)
    assert named["r_constant()"] == named["r_default()"] == [f"0x{0xDEAD:040x}"]
    assert named["r_itself()"] == [contract.address]
    assert named["r_assert()"] == [owner]
    assert named["r_elsewhere()"] == [owner] * is_read
    assert named["r_either()"] == named["r_in()"] == [owner] * (1 + is_read)
    [[role]] = [c["callers"] for c in restricted["r_role()"]["conditions"]]
    assert (role["kind"], role["role"]) == ("role", f"0x{keccak(text='MINTER_ROLE').hex()}")


def test_places_and_effects(conditions: tuple[str, Deployed]) -> None:
    _, contract = conditions
    functions = contract.functions()
    lines = contract.sources["permissions.vy"].split("\n")
    for name, function in functions.items():
        short = "__default__" if name == "fallback" else name.partition("(")[0]
        places = [(function, f"def {short}(")]
        places += [(c, c["condition"][:10]) for c in function["conditions"]]
        places += [(w, w["variable"]) for w in function["writes"]]
        for place, text in places:
            assert text in lines[place["line"] - 1], (place, text)
    for name, kinds in EFFECTS.items():
        assert {effect["kind"] for effect in functions[name]["effects"]} == kinds, name
    [write] = functions["r_pause(bool)"]["writes"]
    assert (write["variable"], write["checkedBy"]) == ("paused", ["n_banned()"])


def test_functions_of_modules(modules: Deployed) -> None:
    functions = modules.functions()
    assert_as_called(modules, functions)
    assert {n: f["contract"] for n, f in functions.items() if f["contract"] != "main"} == {
        "r_transfer_ownership(address)": "owned",
        "r_accept_ownership()": "owned",
        "r_set_minter(address)": "minting",
        "r_mint(uint256)": "minting",
        "n_checked()": "minting",
        "n_hidden()": "hidden",
    }
    owner = modules.explorer.anvil.accounts[0].lower()
    for name in ("r_owned()", "r_variable()", "r_slot()", "r_immutable()", "r_set_minter(address)"):
        assert accounts_of(modules, functions[name]) == [owner], name
        assert modules.succeeds(owner, name), name
    assert accounts_of(modules, functions["r_accept_ownership()"]) == [f"0x{0:040x}"]
    assert functions["r_owned()"]["conditions"][0]["file"] == "owned.vy"


def test_the_tab_of_a_contract_of_vyper(modules: Deployed) -> None:
    text = modules.explorer.client.get(f"/address/{modules.address}?tab=permissions").text
    line = next(n for n, t in enumerate(OWNED.split("\n"), 1) if "assert msg.sender ==" in t)
    assert re.search(rf"file=owned.vy#[\w-]*L{line}\b", text)
    assert "Only some callers" in text and "self.minters[msg.sender]" in text
