"""Where a proxy's calls go: the clones of EIP-1167 by their code, those of EIP-1967 by storage."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.gateway import NodeSession
from scan.hex import BadHex, data, to_hex

NODE_TIMEOUT_S = 2.0
ADDRESS_BYTES = 20
MAX_ANSWER_BYTES = 256 * 1024
DELEGATECALL = b"\xf4"

# keccak256("eip1967.proxy.implementation") - 1 and keccak256("eip1967.proxy.beacon") - 1
IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
IMPLEMENTATION_CALL = "0x5c60da1b"  # implementation(), asked of a beacon

# EIP-1167, whose address may be shortened by leading zeros (PUSH20 down to PUSH16), and the
# variant that Solady and others deploy (with PUSH0).
_CLONES = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rb"\x36\x3d\x3d\x37\x3d\x3d\x3d\x36\x3d[\x6f-\x73](.{16,20})"
        rb"\x5a\xf4\x3d\x82\x80\x3e\x90\x3d\x91\x60.\x57\xfd\x5b\xf3",
        rb"\x5f\x5f\x36\x5f\x5f\x37\x36\x5f\x73(.{20})"
        rb"\x5a\xf4\x3d\x5f\x5f\x3e\x5f\x3d\x91\x60.\x57\xfd\x5b\xf3",
    )
)
# Opcodes one by one, with what PUSH1 to PUSH32 push, up to a DELEGATECALL.
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
    """The implementation that a minimal proxy's code names."""
    for pattern in _CLONES:
        match = pattern.fullmatch(code)
        if match:
            return match[1].rjust(ADDRESS_BYTES, b"\0")
    return None


def delegates(code: bytes) -> bool:
    """Whether it can call another contract's code in its own place, as a proxy must."""
    return _DELEGATING.match(code) is not None


def proxy_at(node: NodeSession, address: bytes, code: bytes) -> Proxy | None:
    """None for what is no proxy, and where the node does not answer: a proxy is an extra."""
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
    """The one now; raises as the session does."""
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
    """Of each address at a block's number; now, where the node has no state of that block.

    In four requests at most; raises as the session does.
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
    answers = _read_at(node, "eth_call", [*behind_beacons.values()])
    for index, answer in zip(behind_beacons, answers, strict=True):
        implementations[index] = answer
    return implementations


def _read_at(
    node: NodeSession, method: str, calls: Sequence[tuple[tuple[object, ...], int]]
) -> list[bytes | None]:
    """Words that are addresses, of calls at blocks."""
    at_block = [Call(method, (*params, hex(number))) for params, number in calls]
    results = node.results(at_block, MAX_ANSWER_BYTES)
    refused = [index for index, word in enumerate(results) if isinstance(word, RpcError)]
    now = [Call(method, (*calls[index][0], "latest")) for index in refused]
    for index, word in zip(refused, node.results(now, MAX_ANSWER_BYTES), strict=True):
        results[index] = word
    return [_address(word) for word in results]


def _address(word: object) -> bytes | None:
    """An RPC error, a zero word or something else than a word is no address."""
    if not isinstance(word, str) or len(word) != 66:
        return None
    content = data(word)
    return content[12:] if any(content) and not any(content[:12]) else None
