# As deployed: structures, arrays, flags and loops.
struct Order:
    maker: address
    amount: uint256
    paid: bool

flag State:
    OPEN
    CLOSED

orders: public(HashMap[uint256, Order])
queue: public(DynArray[uint256, 20])
state: public(State)

@external
def place(amounts: DynArray[uint256, 20]):
    for amount: uint256 in amounts:
        self.orders[len(self.queue)] = Order(maker=msg.sender, amount=amount, paid=False)
        self.queue.append(amount)

@external
@view
def largest() -> uint256:
    most: uint256 = 1000
    for amount: uint256 in self.queue:
        most = max(most, amount)
    return most

@external
def close():
    self.state = State.CLOSED
