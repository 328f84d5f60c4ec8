"""An operation in the packed form of 0.7."""

SENDER, TO, OTHER = (bytes([n]) * 20 for n in (1, 2, 3))
PACKED = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)"


def pair(high, low):
    return high.to_bytes(16) + low.to_bytes(16)


PACKED_FIELDS = (SENDER, 7, b"i", b"c", pair(2, 1), 3, pair(5, 4), b"p", b"s")
