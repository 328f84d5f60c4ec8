from lib import base
initializes: base
last: uint256

@internal
def _own(n: uint256):
    assert n != 2, "two"
    self.last = n

@external
def run(n: uint256):
    base.put(n)
    self._own(n)
