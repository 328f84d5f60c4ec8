"""The implementations of proxies: EIP-1167 clones by their code, EIP-1967 proxies by storage."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.gateway import NodeSession
from scan.hex import BadHex, data, to_hex

NODE_TIMEOUT_S = 2.0
ADDRESS_BYTES = 20
MAX_RESPONSE_BYTES = 256 * 1024
DELEGATECALL = b"\xf4"

# keccak256("eip1967.proxy.implementation") - 1 and keccak256("eip1967.proxy.beacon") - 1
IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
IMPLEMENTATION_CALL = "0x5c60da1b"  # implementation() of a beacon

# EIP-1167, whose address may omit leading zeros (PUSH20 down to PUSH16), and the variant with PUSH0
# that Solady and others deploy.
_CLONES = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rb"\x36\x3d\x3d\x37\x3d\x3d\x3d\x36\x3d[\x6f-\x73](.{16,20})"
        rb"\x5a\xf4\x3d\x82\x80\x3e\x90\x3d\x91\x60.\x57\xfd\x5b\xf3",
        rb"\x5f\x5f\x36\x5f\x5f\x37\x36\x5f\x73(.{20})"
        rb"\x5a\xf4\x3d\x5f\x5f\x3e\x5f\x3d\x91\x60.\x57\xfd\x5b\xf3",
    )
)
# A sequence of instructions, including the data of PUSH1 to PUSH32, that ends in DELEGATECALL.
_DELEGATING = re.compile(
    b"(?:[^\x60-\x7f\xf4]|"
    + b"|".join(re.escape(bytes([0x5F + n])) + b".{%d}" % n for n in range(1, 33))
    + b")*+\xf4",
    re.DOTALL,
)


class Proxy(NamedTuple):
    kind: str
    implementation: bytes


def clone_of(code: bytes) -> bytes | None:
    """Return the implementation in a minimal proxy's code; None if it is not a minimal proxy."""
    for pattern in _CLONES:
        match = pattern.fullmatch(code)
        if match:
            return match[1].rjust(ADDRESS_BYTES, b"\0")
    return None


def delegates(code: bytes) -> bool:
    """Return whether the code contains a DELEGATECALL, as a proxy's must."""
    return _DELEGATING.match(code) is not None


def proxy_at(node: NodeSession, address: bytes, code: bytes) -> Proxy | None:
    """Return the proxy at an address, None if it is not a proxy, or if the node does not
    respond."""
    clone = clone_of(code)
    if clone is not None:
        return Proxy("eip1167", clone)
    if DELEGATECALL not in code:
        return None
    try:
        implementation = eip1967_implementation(node, to_hex(address))
    except (UpstreamFailed, Unavailable, BadHex):
        return None
    return Proxy("eip1967", implementation) if implementation else None


def eip1967_implementation(node: NodeSession, address: str) -> bytes | None:
    """Return the current implementation; raises as the session does."""
    node = node.within(NODE_TIMEOUT_S)
    slots = [
        Call("eth_getStorageAt", (address, slot, "latest"))
        for slot in (IMPLEMENTATION_SLOT, BEACON_SLOT)
    ]
    implementation, beacon = (_address(word) for word in node.results(slots))
    if implementation or not beacon:
        return implementation
    call = Call("eth_call", ({"to": to_hex(beacon), "data": IMPLEMENTATION_CALL}, "latest"))
    return _address(node.results([call])[0])


def eip1967_implementations(
    node: NodeSession, proxies: Sequence[tuple[bytes, int]]
) -> list[bytes | None]:
    """Return the implementations at block numbers, or now where the node has no state of that
    block.

    Needs at most four requests; raises as the session does.
    """
    slots = [
        ((to_hex(address), slot), number)
        for address, number in proxies
        for slot in (IMPLEMENTATION_SLOT, BEACON_SLOT)
    ]
    words = _read_at(node, "eth_getStorageAt", slots)
    implementations, beacons = words[::2], words[1::2]
    behind_beacons = {
        index: (({"to": to_hex(beacon), "data": IMPLEMENTATION_CALL},), proxies[index][1])
        for index, beacon in enumerate(beacons)
        if beacon and not implementations[index]
    }
    by_beacons = _read_at(node, "eth_call", [*behind_beacons.values()])
    for index, implementation in zip(behind_beacons, by_beacons, strict=True):
        implementations[index] = implementation
    return implementations


def _read_at(
    node: NodeSession, method: str, calls: Sequence[tuple[tuple[object, ...], int]]
) -> list[bytes | None]:
    """Return the addresses returned by calls at block numbers."""
    at_block = [Call(method, (*params, hex(number))) for params, number in calls]
    results = node.results(at_block, MAX_RESPONSE_BYTES)
    failed = [index for index, word in enumerate(results) if isinstance(word, RpcError)]
    now = [Call(method, (*calls[index][0], "latest")) for index in failed]
    for index, word in zip(failed, node.results(now, MAX_RESPONSE_BYTES), strict=True):
        results[index] = word
    return [_address(word) for word in results]


def _address(word: object) -> bytes | None:
    """Return an address from a result; None for an RPC error, a zero word, or a value that is
    not an address in a word."""
    if not isinstance(word, str) or len(word) != 66:
        return None
    content = data(word)
    return content[12:] if any(content) and not any(content[:12]) else None
