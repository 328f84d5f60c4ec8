
event E1:
    x: decimal
    y: indexed(decimal)
struct Rate:
    name: String[8]
    value: decimal
flag Kind:
    A
    B
interface Thing:
    def poke(): nonpayable
price: public(decimal)
rates: public(HashMap[address, Rate])
@deploy
def __init__(first: decimal):
    self.price = first
@external
def e1(x: decimal):
    log E1(x=x, y=x)
