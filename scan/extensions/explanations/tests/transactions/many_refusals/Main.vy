# pragma version ^0.4.0
from lib import mod
initializes: mod

LIMIT: constant(uint256) = 11
CAP: immutable(uint256)
a: uint256[4]
d: DynArray[uint256, 5]
m: HashMap[address, uint256]
x: uint256

interface Other:
    def value(n: uint256) -> uint256: nonpayable
    def view_value(n: uint256) -> uint256: view

@deploy
def __init__():
    CAP = 12
    mod.__init__()

@external
def f(n: uint256, who: address, s: int256) -> uint256:
    assert n != 0, "zero"
    assert n != 1, "one"
    assert n != 2  #two
    if n == 3:
        raise "three"
    if n == 4:
        raise  #four
    if n == 5:
        self.a[n] = 7  #five
    if n == 6:
        self.d[n] = 7  #six
    if n == 7:
        self.m[who] -= n  #seven
    if n == 8:
        return max_value(uint256) * n  #eight
    if n == 9:
        return n // (n - 9)  #nine
    if n == 10:
        mod.check(n, who)
    assert n != LIMIT, "eleven"
    assert n < CAP or n > 12, "twelve"
    if n == 13:
        self.x = convert(s, uint256)  #thirteen
    if n == 14:
        extcall Other(who).value(n)  #fourteen
    if n == 15:
        return staticcall Other(who).view_value(n)  #fifteen
    if n == 16:
        mod.deep(n)
    if n == 17:
        self.d.pop()  #seventeen
    if n == 18:
        for i: uint256 in range(n, bound=12):  #eighteen
            self.x += i
    if n == 19:
        for i: uint256 in range(5):
            assert i != 3, "nineteen"
    if n == 20:
        send(who, n)  #twenty
    if n == 21:
        self.x = self._own(n, s)
    if n == 22:
        y: uint8 = convert(n + 300, uint8)  #twentytwo
        self.x = convert(y, uint256)
    if n == 23:
        z: Bytes[4] = slice(b"abcdefgh", n, 4)  #twentythree
        self.x = len(z)
    if n == 24:
        raw_call(who, b"", value=n)  #twentyfour
    if n == 25:
        self.d = []
        for k: uint256 in [1, 2, 3, 4, 5, 6]:
            self.d.append(k)  #twentyfive
    if n == 26:
        q: address = create_minimal_proxy_to(who, value=n)  #twentysix
    if n == 27:
        return mod.ret(n) + mod.ret(n - 1)
    self.x = n
    return n

@internal
def _own(n: uint256, s: int256) -> uint256:
    if s < 0:
        assert n == 0, "own"
    return n - 21

@external
@payable
def __default__():
    assert msg.value != 3, "default"
