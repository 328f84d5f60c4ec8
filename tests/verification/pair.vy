first: public(uint256)
second: public(uint256)

@deploy
def __init__():
    self.first = 4
    self.second = 5
