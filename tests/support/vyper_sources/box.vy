# Holds a count that only grows.
owner: public(address)
count: public(uint256)
START: immutable(uint256)

@deploy
def __init__(first: uint256):
    self.count = first
    self.owner = msg.sender
    START = first + 1

@external
@view
def total() -> uint256:
    return self.count + START + 1000

@external
def increase(more: uint256):
    self.count += more
