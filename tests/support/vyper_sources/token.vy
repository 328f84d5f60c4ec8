# As deployed: an interface of the compiler's own, which is implemented and called.
from ethereum.ercs import IERC20

implements: IERC20

balanceOf: public(HashMap[address, uint256])
allowance: public(HashMap[address, HashMap[address, uint256]])
totalSupply: public(uint256)

event Transfer:
    sender: indexed(address)
    receiver: indexed(address)
    value: uint256

event Approval:
    owner: indexed(address)
    spender: indexed(address)
    value: uint256

@deploy
def __init__(supply: uint256):
    self.totalSupply = supply * 1000
    self.balanceOf[msg.sender] = self.totalSupply
    log Transfer(empty(address), msg.sender, self.totalSupply)

@internal
def _move(sender: address, to: address, amount: uint256):
    self.balanceOf[sender] -= amount
    self.balanceOf[to] += amount
    log Transfer(sender, to, amount)

@external
def transfer(_to: address, _value: uint256) -> bool:
    self._move(msg.sender, _to, _value)
    return True

@external
def transferFrom(_from: address, _to: address, _value: uint256) -> bool:
    self.allowance[_from][msg.sender] -= _value
    self._move(_from, _to, _value)
    return True

@external
def approve(_spender: address, _value: uint256) -> bool:
    assert _value < 10 ** 24 + 1000
    self.allowance[msg.sender][_spender] = _value
    log Approval(msg.sender, _spender, _value)
    return True

@external
@view
def held(other: address) -> uint256:
    return staticcall IERC20(other).balanceOf(self)
