# a constructor that fails
count: uint256
LIMIT: immutable(uint256)

@deploy
def __init__(n: uint256):
    assert n != 1, "it is 1" # fails: check
    LIMIT = n
    self._keep(n)

@internal
def _keep(n: uint256):
    self.count = 100 // (n - 2) # fails: divide

@external
@view
def limit() -> uint256:
    return LIMIT
