# As deployed: balances that are paid in and taken out.
event Paid:
    payer: indexed(address)
    amount: uint256

LIMIT: constant(uint256) = 1000
owner: public(address)
balances: public(HashMap[address, uint256])

@deploy
def __init__(holder: address, first: uint256):
    self.owner = holder
    self.balances[holder] = first

@external
@payable
def __default__():
    assert msg.value < LIMIT
    self.balances[msg.sender] += msg.value
    log Paid(msg.sender, msg.value)

@external
@nonreentrant
def take(amount: uint256):
    self.balances[msg.sender] -= amount
    send(msg.sender, amount)
