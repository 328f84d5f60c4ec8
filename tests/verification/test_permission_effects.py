"""What functions do to those who hold tokens, by events and by writes of balances."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.vyper import Vyper
from tests.verification.test_permissions import functions_of
from tests.verification.test_vyper_permissions import DECLARED
from tests.verification.test_vyper_permissions import functions_of as functions_of_vyper

HOLDERS = "moveHoldersTokens"
TOKEN = """
    address owner = msg.sender; address pool; uint256 supply;
    mapping(address => uint256) _balances; mapping(uint256 => address) _owners;
    mapping(address => mapping(address => uint256)) _allowances;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    modifier only { require(msg.sender == owner); _; }
    function _msgSender() internal view returns (address) { return msg.sender; }
    function _update(address from, address to, uint256 value) internal {
        if (from == address(0)) supply += value;
        else { uint256 held = _balances[from]; _balances[from] = held - value; }
        if (to == address(0)) supply -= value; else _balances[to] += value;
        emit Transfer(from, to, value);
    }
    function _transfer(address from, address to, uint256 value) internal {
        require(from != address(0)); _update(from, to, value);
    }
    function _mint(address to, uint256 value) internal { _update(address(0), to, value); }
    function _burn(address from, uint256 value) internal { _update(from, address(0), value); }
    function _approve(address holder, address spender, uint256 value) internal {
        _allowances[holder][spender] = value; emit Approval(holder, spender, value);
    }
    function _setOwner(address to, uint256 id) internal returns (address from) {
        from = _owners[id]; _owners[id] = to; emit Transfer(from, to, id);
    }
    function _mintItem(address to, uint256 id) internal {
        require(_setOwner(to, id) == address(0));
    }
    function _safeMint(address to, uint256 id) internal { _mintItem(to, id); }
"""
# Bodies of functions with (address from, address to, uint256 v), and whether holders' tokens move.
MOVES = {
    "_transfer(from, owner, v);": True,
    "_transfer(from, msg.sender, v);": True,
    "_transfer(pool, to, v);": True,
    "_transfer(address(this), to, v);": True,
    "_approve(from, msg.sender, v);": True,
    "_setOwner(to, v);": True,
    "_balances[from] -= v; _balances[to] += v;": True,
    "_balances[to] += v; _balances[from] -= v;": True,
    "_balances[owner] += _balances[from]; _balances[from] = 0;": True,
    "_balances[owner] += _balances[from]; delete _balances[from];": True,
    "_balances[from] = _balances[from] - v; _balances[to] = _balances[to] + v;": True,
    "emit Transfer(address(0), to, v); _balances[from] -= v; _balances[to] += v;": True,
    "_transfer(msg.sender, to, v);": False,
    "_transfer(_msgSender(), to, v);": False,
    "address holder = _msgSender(); _transfer(holder, to, v);": False,
    "_approve(_msgSender(), to, v);": False,
    "_mint(to, v);": False,
    "_safeMint(to, v);": False,
    "_burn(from, v);": False,
    "_balances[to] += v;": False,
    "_balances[from] -= v;": False,
    "_balances[msg.sender] -= v; _balances[to] += v;": False,
    "_allowances[from][to] -= v; _balances[to] += v;": False,
}


def kinds_of(functions: Mapping[str, Any]) -> dict[str, set[str]]:
    return {name: {e["kind"] for e in f["effects"]} for name, f in functions.items()}


@pytest.fixture(scope="module")
def kinds() -> Mapping[str, set[str]]:
    functions = "".join(
        f"function f{n}(address from, address to, uint256 v) public only {{ {body} }}"
        for n, body in enumerate(MOVES)
    )
    by_name = kinds_of(functions_of(TOKEN + functions))
    names = (f"f{n}(address,address,uint256)" for n in range(len(MOVES)))
    return {body: by_name[name] for body, name in zip(MOVES, names, strict=True)}


@pytest.mark.parametrize("body", MOVES)
def test_who_moves_what_others_hold(kinds: Mapping[str, set[str]], body: str) -> None:
    assert (HOLDERS in kinds[body]) == MOVES[body]


def test_mints_and_burns_remain_so(kinds: Mapping[str, set[str]]) -> None:
    assert kinds["_mint(to, v);"] == {"mint"}
    assert kinds["_burn(from, v);"] == {"burn"}


OLD_TOKEN = """
    address owner;
    event Transfer(address indexed from, address indexed to, uint256 value);
    function Own() public { owner = msg.sender; }
    function seize(address from, uint256 v) public {
        require(msg.sender == owner); Transfer(from, owner, v); }
    function give(address to, uint256 v) public { Transfer(msg.sender, to, v); }
"""


def test_tokens_of_old_compilers() -> None:
    kinds = kinds_of(functions_of(OLD_TOKEN, compiler="solc-0.4.26"))
    assert kinds["seize(address,uint256)"] == {HOLDERS}
    assert kinds["give(address,uint256)"] == set()


VYPER_TOKEN = """
event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

interface Other:
    def value() -> uint256: view
    def pay(): payable

owner: address
total: uint256
balanceOf: HashMap[address, uint256]

@internal
def _transfer(sender: address, receiver: address, amount: uint256):
    self.balanceOf[sender] -= amount
    self.balanceOf[receiver] += amount
    log Transfer(sender=sender, receiver=receiver, value=amount)

@external
def seize(holder: address, to: address, amount: uint256):
    assert msg.sender == self.owner
    self.balanceOf[holder] -= amount
    self.balanceOf[to] += amount

@external
def take(holder: address, amount: uint256):
    self.balanceOf[holder] = self.balanceOf[holder] - amount
    self.balanceOf[msg.sender] = self.balanceOf[msg.sender] + amount

@external
def collect(holder: address, amount: uint256):
    assert msg.sender == self.owner
    self._transfer(holder, self.owner, amount)

@external
def transfer(to: address, amount: uint256):
    self._transfer(msg.sender, to, amount)

@external
def mint(to: address, amount: uint256):
    self.balanceOf[to] += amount

@external
def read(other: address):
    self.total = staticcall Other(other).value() # a comment follows

@external
def pay(other: address):
    extcall Other(other).pay(value=5) # as here
"""


@pytest.fixture(scope="module")
def of_vyper(vyper: Vyper) -> Mapping[str, Any]:
    return functions_of_vyper(vyper, VYPER_TOKEN)


@pytest.mark.parametrize(
    ("name", "kinds_of_name"),
    [
        ("seize", {HOLDERS}),
        ("take", {HOLDERS}),
        ("collect", {HOLDERS}),
        ("transfer", set()),
        ("mint", set()),
    ],
)
def test_tokens_of_vyper(of_vyper: Mapping[str, Any], name: str, kinds_of_name: set[str]) -> None:
    assert kinds_of(of_vyper)[name] == kinds_of_name


def test_a_function_called_value_sends_nothing(of_vyper: Mapping[str, Any]) -> None:
    assert kinds_of(of_vyper)["read"] == set()
    [sending] = of_vyper["pay"]["effects"]
    assert (sending["kind"], sending["source"]) == (
        "sendCoin",
        "extcall Other(other).pay(value=5)",
    )


def test_conditions_are_whole_where_a_space_follows_a_call(vyper: Vyper) -> None:
    check = "assert staticcall Own(self).owner() == msg.sender # a comment follows"
    source = f"{DECLARED}\n@external\ndef f():\n    {check}\n    self.total = 1\n"
    [condition] = functions_of_vyper(vyper, source)["f"]["conditions"]
    assert condition["condition"] == "staticcall Own(self).owner() == msg.sender"


def test_values_that_are_sent_in_the_old_way() -> None:
    body = """
        interface_ other;
        function old(address to) public { to.call.value(1)(""); }
        function nested(address to) public { to.call.value(1).gas(5)(""); }
        function named() public { other.value(); }
        function paid() public { other.value.value(1)(); }
    """
    before = "contract interface_ { function value() public payable returns (uint256); }"
    kinds = kinds_of(functions_of(body, before, "solc-0.4.26"))
    assert kinds["old(address)"] == kinds["nested(address)"] == kinds["paid()"] == {"sendCoin"}
    assert kinds["named()"] == set()
