# As deployed: two modules, one of which uses the other.
import owned
import counted

initializes: owned
initializes: counted[owned := owned]

exports: owned.hand_over

LAST: immutable(uint256)

@deploy
def __init__(period: uint256, last: uint256):
    owned.__init__(period)
    LAST = last

@external
def add(amount: uint256):
    counted._add(amount + 1000)

@external
@view
def total() -> uint256:
    return counted.count + LAST

@external
@view
def end() -> uint256:
    return owned._end()
