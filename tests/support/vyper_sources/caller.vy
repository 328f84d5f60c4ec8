# As deployed: an interface in a file of its own.
from interfaces import ICounter

counter: public(address)

@deploy
def __init__(counter: address):
    self.counter = counter

@external
@view
def more() -> uint256:
    return staticcall ICounter(self.counter).total() + 1000

@external
def grow(amount: uint256):
    extcall ICounter(self.counter).increase(amount)
