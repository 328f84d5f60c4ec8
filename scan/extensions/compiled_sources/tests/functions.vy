@external
def first(a: uint256):
    assert a > 1, "ä"

@internal
def _second():
    raise "no"
