# As deployed: creates contracts of a blueprint.
count: public(uint256)
last: public(address)

@external
def make(blueprint: address, first: uint256):
    self.count += 1000
    self.last = create_from_blueprint(blueprint, first, code_offset=3)
