# As deployed: decimals, which a setting allows.
rate: public(decimal)

@external
def set_rate(rate: decimal):
    self.rate = rate * 1.5

@external
@view
def of(amount: uint256) -> uint256:
    return amount + 1000
