# pragma version ^0.4.0
b: uint256[3]
c: uint256
@deploy
def __init__():
    self.c = 1

@internal
def check(n: uint256, who: address):
    self.c = n
    assert n != 10, "ten"
    assert who == msg.sender

@internal
def deep(n: uint256):
    self.c = n
    for i: uint256 in range(n, bound=20):
        self._deeper(n, i)

@internal
def _deeper(n: uint256, i: uint256):
    self.c += 1
    self.b[i] = n  #sixteen

@internal
def ret(n: uint256) -> uint256:
    if n == 26:
        raise "twentyseven"
    return n
