# As deployed: storage of a transaction, and a lock in it.
depth: transient(uint256)
kept: public(uint256)

@external
@nonreentrant
def enter(amount: uint256):
    self.depth += 1000
    self.kept = amount + self.depth
