#pragma enable-decimals
# Balances with a name.
from ethereum.ercs import IERC20

struct Point:
    x: uint256
    y: int128

flag Roles:
    ADMIN
    USER
interface Thing:
    def poke(): nonpayable

total: public(uint256)
balances: public(HashMap[address, uint256])
allowances: public(HashMap[address, HashMap[address, uint256]])
named: public(HashMap[String[32], uint256])
text: public(String[100])
few: public(uint256[3])
many: public(DynArray[uint256, 10])
mark: public(bytes4)
negative: public(int128)
is_open: public(bool)
point: public(Point)
token: public(IERC20)
tokens: HashMap[IERC20, IERC20[2]]
points: HashMap[address, Point]
lines: HashMap[address, Point[2]]
roles: public(Roles)
roles_of: public(HashMap[address, Roles])
thing: public(Thing)
price: public(decimal)
prices: public(HashMap[decimal, decimal])

@external
def fill(who: address, n: uint256, name: String[32]):
    self.total = n
    self.balances[who] = n
    self.allowances[msg.sender][who] = n + 1
    self.named[name] = n
    self.text = concat(name, " and more than a single slot has room for")
    self.few[2] = n
    self.many = [n, n + 1]
    self.mark = 0x01020304
    self.negative = -5
    self.is_open = True
    self.point = Point(x=n, y=-1)
    self.token = IERC20(who)
    self.tokens[self.token][1] = self.token
    self.points[who].x = n
    self.roles = Roles.USER | Roles.ADMIN
    self.roles_of[who] = Roles.USER
    self.thing = Thing(who)
    self.price = -1.5
    self.prices[1.25] = 2.0
