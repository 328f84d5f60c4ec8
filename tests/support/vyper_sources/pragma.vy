# As deployed: the source says how it is compiled.
#pragma optimize none
#pragma evm-version paris
stored: public(uint256)

@external
def store(amount: uint256) -> uint256:
    self.stored = amount * 3 + 1000
    return self.stored
