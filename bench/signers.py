"""Who signs the transactions of a synthetic chain, each with a key that is known. Pure.

A signature takes a few microseconds here, where a library takes 60: its secret number is one of a
few whose points are known, which would give any key away. All points have the same parity, so that
it can stand in a template.
"""

from functools import cache
from itertools import count, islice

import numpy
from coincurve import PrivateKey

from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.transaction_checks import CURVE_ORDER

SIGNERS = 4_096
PARITY = 0
_POINTS = 16
_LEAST = 1 << 248  # numbers without a leading zero byte have one size


def _private_key(signer: int) -> int:
    return int.from_bytes(keccak256(b"signer %d" % signer)) % CURVE_ORDER


@cache
def addresses() -> "numpy.ndarray[tuple[int, int], numpy.dtype[numpy.uint8]]":
    """The addresses of all signers, 20 bytes each."""
    keys = [PrivateKey.from_int(_private_key(signer)) for signer in range(SIGNERS)]
    points = [key.public_key.format(compressed=False)[1:] for key in keys]
    content = b"".join(keccak256(point)[12:] for point in points)
    return numpy.frombuffer(content, numpy.uint8).reshape(-1, 20)


@cache
def _key_of() -> dict[bytes, int]:
    return {address.tobytes(): _private_key(n) for n, address in enumerate(addresses())}


def is_signer(address: bytes) -> bool:
    return address in _key_of()


@cache
def _nonces() -> list[tuple[int, int]]:
    """Secret numbers, inverted, and the first half of the signatures that each makes."""
    numbers = []
    for secret in count(2):
        x, y = PrivateKey.from_int(secret).public_key.point()
        if y % 2 == PARITY and _LEAST <= x < CURVE_ORDER:
            numbers.append((pow(secret, -1, CURVE_ORDER), x))
        if len(numbers) == _POINTS:
            return numbers
    raise AssertionError


def sign(message: bytes, address: bytes) -> tuple[bytes, bytes]:
    """Both halves of a signer's signature, whose parity is PARITY."""
    key = _key_of()[address]
    hashed = int.from_bytes(keccak256(message))
    for inverse, r in islice(_nonces(), _POINTS):
        s = inverse * (hashed + r * key) % CURVE_ORDER
        if s >= _LEAST:
            return r.to_bytes(32), s.to_bytes(32)
    raise AssertionError
