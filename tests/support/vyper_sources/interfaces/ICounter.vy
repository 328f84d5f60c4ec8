@external
@view
def total() -> uint256:
    pass

@external
def increase(amount: uint256):
    pass
