"""What consensus encodes and hashes: fields of headers and transactions, blooms, roots of lists.

By EIP-2718 and the Yellow Paper: appendix B, sections 4.2 and 4.3, lists by its appendix D.
"""

from typing import Any

import rlp
from eth_utils import keccak

Json = dict[str, Any]
# By EIP-1559, EIP-4895, EIP-4844, EIP-4788 and EIP-7685: each with those before it.
LATER_FIELDS = """
    baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash
""".split()
HEADER_FIELDS = (
    *"""
        parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty
        number gasLimit gasUsed timestamp extraData mixHash nonce
    """.split(),
    *LATER_FIELDS,
)
CALL = ("gas", "to", "value", "input")
SIGNATURE = ("yParity", "r", "s")
DYNAMIC_FEE = tuple(
    "chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList".split()
)
ENCODINGS = {
    0: ("nonce", "gasPrice", *CALL, "v", "r", "s"),
    1: ("chainId", "nonce", "gasPrice", *CALL, "accessList", *SIGNATURE),
    2: (*DYNAMIC_FEE, *SIGNATURE),
    3: (*DYNAMIC_FEE, "maxFeePerBlobGas", "blobVersionedHashes", *SIGNATURE),
    4: (*DYNAMIC_FEE, "authorizationList", *SIGNATURE),
}


def hash_of(type_, values):
    return keccak(bytes([type_]) + rlp.encode([*map(encodable, values)]))


def union_of(blooms):
    bits = 0
    for bloom in blooms:
        bits |= bloom if isinstance(bloom, int) else int.from_bytes(bloom)
    return bits


def bloom_of(parts):
    """Of addresses and topics: three bits of 2048 for each, Yellow Paper, section 4.3.1."""
    hashes = [keccak(part) for part in parts]
    return union_of([1 << int.from_bytes(h[n : n + 2]) % 2048 for h in hashes for n in (0, 2, 4)])


def list_root(values):
    """The root of a list's trie, Yellow Paper appendix D."""
    paths = [(rlp.encode(index).hex(), value) for index, value in enumerate(values)]
    return keccak(rlp.encode(_node(paths)))


def _node(pairs):
    if not pairs:
        return b""
    if len(pairs) == 1:
        [(path, value)] = pairs
        return [_prefixed(path, is_leaf=True), value]
    first, last = min(pairs)[0], max(pairs)[0]
    same = [a == b for a, b in zip(first, last, strict=False)]
    if shared := first[: [*same, False].index(False)]:
        rest = [(path[len(shared) :], value) for path, value in pairs]
        return [_prefixed(shared, is_leaf=False), _reference(_node(rest))]
    branches = [
        [(path[1:], value) for path, value in pairs if path[:1] == digit]
        for digit in "0123456789abcdef"
    ]
    own = [value for path, value in pairs if not path]
    return [*(_reference(_node(b)) if b else b"" for b in branches), *(own or [b""])]


def _prefixed(path, *, is_leaf):
    flag = 2 * is_leaf + len(path) % 2
    return bytes.fromhex(f"{flag:x}{'' if len(path) % 2 else '0'}{path}")


def _reference(node):
    encoded = rlp.encode(node)
    return node if len(encoded) < 32 else keccak(encoded)


def encodable(value):
    if value is None:
        return b""
    if isinstance(value, list):
        return [*map(encodable, value)]
    return value if isinstance(value, bytes) else rlp.sedes.big_endian_int.serialize(int(value))
