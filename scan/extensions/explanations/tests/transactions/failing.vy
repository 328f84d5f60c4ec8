# ä: characters of several bytes come before all lines
last: uint256
amounts: uint256[3]

@external
def check(n: uint256):
    assert n == 1, "is not 1" # fails: check

@external
def plain(n: uint256):
    assert n == 1 # fails: plain

@external
def raised(n: uint256):
    if n != 1:
        raise "no" # fails: raised

@external
def sum_of(n: uint256):
    self.last = n + max_value(uint256) # fails: sum_of

@external
def divide(n: uint256) -> uint256:
    return 5 / (n - 2) # fails: divide

@external
def element(n: uint256) -> uint256:
    return self.amounts[n + 2] # fails: element

@internal
def _inside(n: uint256):
    assert n == 1, "inside" # fails: inside

@external
def inside(n: uint256):
    self._inside(n)

@external
def several(n: uint256):
    if n == 2:
        raise "reason" # fails: several
    if n == 1:
        raise
    self.last = n
