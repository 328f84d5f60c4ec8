# Functions by who may call them: r some callers, u not recognised, a by arguments, n anybody.

interface Registry:
    def owner() -> address: view
    def allowed(who: address) -> bool: nonpayable

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    amount: uint256

struct Configuration:
    admin: address
    since: uint256

BURNER: constant(address) = 0x000000000000000000000000000000000000dEaD
MINTER: constant(bytes32) = keccak256("MINTER_ROLE")

owner: public(address)
keeper: address
minters: public(HashMap[address, bool])
wards: HashMap[address, uint256]
balances: HashMap[address, uint256]
allowances: HashMap[address, HashMap[address, uint256]]
holders: HashMap[uint256, address]
hasRole: public(HashMap[bytes32, HashMap[address, bool]])
banned: HashMap[address, bool]
paused: bool
admins: address[2]
configuration: Configuration
registry: Registry
is_open: bool
total: uint256
total_supply: uint256

@deploy
def __init__(registry: address):
    self.owner = msg.sender
    self.keeper = msg.sender
    self.minters[msg.sender] = True
    self.is_open = True
    self.registry = Registry(registry)

@internal
@view
def _check_owner(who: address):
    assert who == self.owner, "no"

@internal
@view
def _is_minter(who: address) -> bool:
    return self.minters[who]

@internal
@view
def _first(who: address, other: address = BURNER) -> bool:
    return who == other

@external
def r_assert():
    assert msg.sender == self.owner
    self.total = 1

@external
def r_raise():
    if msg.sender != self.owner:
        raise "no"
    self.total = 1

@external
@nonreentrant
def r_called():
    self._check_owner(msg.sender)
    self.total = 1

@external
def r_member():
    assert self.minters[msg.sender], "no"
    self.total = 1

@external
def r_not_member():
    if not self._is_minter(msg.sender):
        raise "no"
    self.total = 1

@external
def r_ward():
    assert self.wards[msg.sender] == 1
    self.total = 1

@external
def r_either():
    assert msg.sender == self.owner or msg.sender == self.keeper
    self.total = 1

@external
def r_in():
    assert msg.sender in [self.owner, self.keeper]
    self.total = 1

@external
def r_not_in():
    if msg.sender not in [self.owner, self.keeper]:
        raise "no"
    self.total = 1

@external
def r_array():
    assert msg.sender in self.admins
    self.total = 1

@external
def r_constant():
    assert msg.sender == BURNER
    self.total = 1

@external
def r_default():
    assert self._first(msg.sender)
    self.total = 1

@external
def r_itself():
    assert msg.sender == self
    self.total = 1

@external
def r_structure():
    assert msg.sender == self.configuration.admin
    self.total = 1

@external
def r_role():
    assert self.hasRole[MINTER][msg.sender]
    self.total = 1

@external
def r_elsewhere():
    assert msg.sender == staticcall self.registry.owner()
    self.total = 1

@external
def r_else():
    if msg.sender == self.owner:
        self.total = 1
    else:
        raise "no"

@external
def r_local():
    who: address = msg.sender
    assert who == self.owner
    self.total = 1

@external
def r_mint(to: address, amount: uint256 = 1):
    self._check_owner(msg.sender)
    self.total_supply += amount
    log Transfer(empty(address), to, amount)

@external
def r_pause(on: bool):
    self._check_owner(msg.sender)
    self.paused = on

@external
def r_own(to: address):
    self._check_owner(msg.sender)
    self.owner = to

@external
def r_run(to: address):
    self._check_owner(msg.sender)
    raw_call(to, b"", is_delegate_call=True)

@external
def r_send(to: address):
    self._check_owner(msg.sender)
    send(to, 0)

@external
def u_open():
    assert msg.sender == self.owner or self.is_open
    self.total = 1

@external
def u_written():
    self.owner = msg.sender
    assert msg.sender == self.owner
    self.total = 1

@external
def u_sometimes():
    if self.is_open:
        assert msg.sender == self.owner
    self.total = 1

@external
def u_returned():
    if self.is_open:
        return
    assert msg.sender == self.owner
    self.total = 1

@external
def u_silent():
    if msg.sender == self.owner:
        self.total = 1

@external
def u_loop():
    for i: uint256 in range(3):
        assert msg.sender == self.owner
    self.total = 1

@external
def u_called(to: address):
    raw_call(to, b"")
    assert msg.sender == self.owner

@external
def u_delegated(to: address):
    raw_call(to, b"", is_delegate_call=True)
    assert msg.sender == self.owner

@external
def u_created(to: address):
    made: address = create_minimal_proxy_to(to)
    assert msg.sender == self.owner

@external
def u_balance():
    assert self.balances[msg.sender] > 0
    self.total = 1

@external
def u_origin():
    assert tx.origin == self.owner
    self.total = 1

@external
def u_asked():
    assert extcall self.registry.allowed(msg.sender)
    self.total = 1

@external
def u_assigned():
    who: address = self.owner
    who = msg.sender
    assert msg.sender == who
    self.total = 1

@external
def a_holder(id: uint256):
    assert self.holders[id] == msg.sender
    self.total = 1

@external
def a_balance(amount: uint256):
    assert self.balances[msg.sender] >= amount
    self.total = 1

@external
def a_allowance(holder: address):
    assert self.allowances[holder][msg.sender] > 0
    self.total = 1

@external
def a_same(who: address):
    assert who == msg.sender
    self.total = 1

@external
def n_nothing():
    self.total = 1000

@external
@payable
def n_deposit():
    self.balances[msg.sender] += msg.value

@external
def n_banned():
    assert not self.banned[msg.sender] and not self.paused
    self.total = 1

@external
def n_other(to: address):
    assert to != msg.sender
    self.total = 1

@external
def n_zero():
    assert msg.sender != empty(address)
    self.total = 1

@external
@payable
def __default__():
    pass
