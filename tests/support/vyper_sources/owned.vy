# As deployed: a module, whose state its importer has.
owner: address
PERIOD: immutable(uint256)

@deploy
def __init__(period: uint256):
    self.owner = msg.sender
    PERIOD = period

@internal
def _check():
    assert msg.sender == self.owner, "not the owner"

@internal
@view
def _end() -> uint256:
    return block.timestamp + PERIOD

@external
def hand_over(to: address):
    self._check()
    self.owner = to
