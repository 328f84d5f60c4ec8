# As deployed: a blueprint, and each contract made of it.
START: immutable(uint256)
count: public(uint256)

@deploy
def __init__(first: uint256):
    START = first
    self.count = first * 2

@external
@view
def total() -> uint256:
    return self.count + START + 1000
