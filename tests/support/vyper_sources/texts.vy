# As deployed: arguments of dynamic size, which follow the creation code.
name: public(String[64])
data: public(Bytes[100])
numbers: public(uint256[3])
checks: public(bool[2])

@deploy
def __init__(title: String[64], content: Bytes[100], first: uint256[3]):
    self.name = title
    self.data = content
    self.numbers = first

@external
@view
def sum() -> uint256:
    total: uint256 = 1000
    for index: uint256 in [0, 1, 2]:
        total += self.numbers[index]
    return total
