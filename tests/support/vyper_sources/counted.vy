# A module that uses another.
import owned

uses: owned

count: uint256

@internal
def _add(amount: uint256):
    owned._check()
    self.count += amount * 3
