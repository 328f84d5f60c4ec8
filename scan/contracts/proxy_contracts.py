"""The implementations of proxies, from their code, their storage or a function's result.

A kind of proxy is one entry of BY_CODE or BY_STATE.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.hex import BadHex, data, to_hex

NODE_TIMEOUT_S = 2.0
ADDRESS_BYTES = 20
MAX_RESPONSE_BYTES = 256 * 1024
MAX_FACETS = 64
CALL_GAS = "0x4c4b40"  # 5 million: a diamond reads one or two slots for each facet
IMPLEMENTATION_CALL = "0x5c60da1b"  # implementation() of a beacon
_STORAGE = "eth_getStorageAt"

# keccak256("eip1967.proxy.implementation") - 1, and so on
IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
ADMIN_SLOT = "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103"


class CodeKind(NamedTuple):
    """A kind of proxies whose code has the implementation, as the pattern's group. `is_clone`: the
    code has no logic of its own, so its source is the implementation's."""

    name: str
    pattern: re.Pattern[bytes]
    is_clone: bool


class StateKind(NamedTuple):
    """A kind of proxies whose state has the implementation, in a slot or as a function's result.

    `code` is a pattern in their code, None for any code with DELEGATECALL. `is_beacon`: the value
    is the address of a contract that returns the implementation. `is_list`: the value is an array
    of implementations.
    """

    name: str
    slot: str = ""
    function: str = ""
    code: re.Pattern[bytes] | None = None
    is_beacon: bool = False
    is_list: bool = False

    def call(self, address: str) -> tuple[str, tuple[object, ...]]:
        if self.slot:
            return _STORAGE, (address, self.slot)
        return _function_call(address, self.function)


_EIP1167 = (
    # Its address may omit leading zeros: PUSH20 down to PUSH16.
    rb"\x36\x3d\x3d\x37\x3d\x3d\x3d\x36\x3d[\x6f-\x73](.{16,20})"
    rb"\x5a\xf4\x3d\x82\x80\x3e\x90\x3d\x91\x60.\x57\xfd\x5b\xf3"
)
# ERC-7760's hand-written proxies: they read a slot and delegate to the contract in it.
_EIP7760 = re.compile(
    rb"\x7f(?:%s\x54\x5a\xf4\x3d\x60\x00\x80\x3e\x60.\x57\x3d\x60\x00\xfd\x5b\x3d\x60\x00\xf3"
    rb"|%s\x54\x5a\xfa\x50\x36\x51\x5a\xf4\x3d\x60\x00\x80\x3e)"
    % (re.escape(data(IMPLEMENTATION_SLOT)), re.escape(data(BEACON_SLOT))),
    re.DOTALL,
)
# Proxies of Safe's versions 1.0 to 1.4 begin by reading the first slot, masked to an address.
_SAFE = re.compile(rb"\x60\x80\x60\x40\x52\x73\xff{20}\x60\x00\x54\x16")
_COMPTROLLER = re.compile(rb"\x63\xbb\x82\xaa\x5e")

BY_CODE = (
    CodeKind("eip1167", re.compile(_EIP1167, re.DOTALL), True),
    CodeKind(  # with PUSH0, as Solady and others deploy it
        "eip1167",
        re.compile(
            rb"\x5f\x5f\x36\x5f\x5f\x37\x36\x5f\x73(.{20})"
            rb"\x5a\xf4\x3d\x5f\x5f\x3e\x5f\x3d\x91\x60.\x57\xfd\x5b\xf3",
            re.DOTALL,
        ),
        True,
    ),
    # OpenZeppelin and Solady append the arguments to the code.
    CodeKind("immutable-args-clone", re.compile(_EIP1167 + rb".+", re.DOTALL), True),
    # Other libraries' clones append the arguments, and then their length, to the calldata.
    CodeKind(
        "immutable-args-clone",
        re.compile(
            rb"\x36\x3d\x3d\x37\x3d\x3d\x3d\x3d\x61..\x80\x60\x35\x36\x39\x36\x01\x3d\x73(.{20})"
            rb"\x5a\xf4\x3d\x3d\x93\x80\x3e\x60\x33\x57\xfd\x5b\xf3.*",
            re.DOTALL,
        ),
        True,
    ),
    CodeKind("eip7702", re.compile(re.escape(DELEGATION) + rb"(.{20})", re.DOTALL), False),
)
# In this order: the first kind with an implementation counts.
BY_STATE = (
    StateKind("eip7760", slot=IMPLEMENTATION_SLOT, code=_EIP7760),
    StateKind("eip7760", slot=BEACON_SLOT, code=_EIP7760, is_beacon=True),
    StateKind("eip1967", slot=IMPLEMENTATION_SLOT),
    StateKind("eip1967", slot=BEACON_SLOT, is_beacon=True),
    StateKind(  # keccak256("PROXIABLE")
        "eip1822", slot="0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7"
    ),
    StateKind(  # keccak256("org.zeppelinos.proxy.implementation")
        "openzeppelin", slot="0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3"
    ),
    StateKind("safe", slot="0x" + 64 * "0", code=_SAFE),
    StateKind(
        "comptroller", function="0xbb82aa5e", code=_COMPTROLLER
    ),  # comptrollerImplementation()
    StateKind("eip2535", function="0x52ef6b2c", is_list=True),  # facetAddresses()
)
KINDS = tuple(dict.fromkeys(kind.name for kind in (*BY_CODE, *BY_STATE)))
CLONES = frozenset(kind.name for kind in BY_CODE if kind.is_clone)
_PUSH = b"|".join(re.escape(bytes([0x5F + n])) + b".{%d}" % n for n in range(1, 33))
# A sequence of instructions, including the data of PUSH1 to PUSH32, that ends in DELEGATECALL.
_DELEGATING = re.compile(b"(?:[^\x60-\x7f\xf4]|" + _PUSH + b")*+\xf4", re.DOTALL)
# The instructions before INVALID: compilers place the code that a contract deploys after it.
_OWN_CODE = re.compile(b"(?:[^\x60-\x7f\xfe]|" + _PUSH + b")*+", re.DOTALL)

# Copying all calldata to memory, passing it on by DELEGATECALL and reading the result: proxies'
# fallbacks do so, implementations do not. Zero is PUSH0, PUSH1 0, RETURNDATASIZE or DUP.
_PASSING_ON = re.compile(
    rb"\x36(?:\x5f|\x60\x00|[\x3d\x80-\x8f]){2}\x37.{0,96}?\x5a\xf4(?:\x3d|[\x80-\x9f]\x3d)",
    re.DOTALL,
)


class Proxy(NamedTuple):
    """A proxy and its implementation. `others` are the further implementations of a diamond."""

    kind: str
    implementation: bytes
    others: tuple[bytes, ...] = ()

    @property
    def implementations(self) -> tuple[bytes, ...]:
        return (self.implementation, *self.others)

    def record(self) -> dict[str, object]:
        record: dict[str, object] = {
            "type": self.kind,
            "implementation": to_hex(self.implementation),
        }
        if self.others:
            record["implementations"] = [*map(to_hex, self.implementations)]
        return record


def is_proxy_code(code: bytes) -> bool:
    """Return whether code is a proxy's, as far as the code alone shows."""
    if proxy_of_code(code) is not None:
        return True
    match = _OWN_CODE.match(code)
    return match is not None and _PASSING_ON.search(code, 0, match.end()) is not None


def proxy_of_code(code: bytes) -> Proxy | None:
    """Return the proxy by the implementation in its code; None where the code has none."""
    for kind in BY_CODE:
        match = kind.pattern.fullmatch(code)
        if match:
            return Proxy(kind.name, match[1].rjust(ADDRESS_BYTES, b"\0"))
    return None


def state_kinds(code: bytes) -> tuple[StateKind, ...]:
    """Return the kinds of proxies that the code may be; none without DELEGATECALL."""
    if _DELEGATING.match(code) is None:
        return ()
    return tuple(kind for kind in BY_STATE if kind.code is None or kind.code.search(code))


def proxy_at(node: NodeSession, address: bytes, code: bytes) -> Proxy | None:
    """Return the proxy at an address; None if it is none, or if the node does not respond."""
    by_own_code = proxy_of_code(code)
    kinds = () if by_own_code else state_kinds(code)
    if not kinds:
        return by_own_code
    try:
        return current(node, address, kinds)
    except (UpstreamFailed, Unavailable, BadHex):
        return None


def delegating_account(node: NodeSession, address: bytes) -> Proxy | None:
    """Return the EIP-7702 delegation of an account, which is not indexed; None if it has none, or
    if the node does not respond."""
    try:
        code = node.within(NODE_TIMEOUT_S).call(
            "eth_getCode", to_hex(address), "latest", most_bytes=MAX_RESPONSE_BYTES
        )
        return proxy_of_code(data(code))
    except (UpstreamFailed, Unavailable, RpcError, BadHex):
        return None


def current(node: NodeSession, address: bytes, kinds: Sequence[StateKind]) -> Proxy | None:
    """Return the proxy with its current implementations; None if it is none. Raises the errors of
    NodeSession."""
    return _proxies(node.within(NODE_TIMEOUT_S), [(address, kinds, None)])[0]


def at_blocks(
    node: NodeSession, proxies: Sequence[tuple[bytes, Sequence[StateKind], int]]
) -> list[Proxy | None]:
    """Return the proxies as they were at block numbers, or are now where the node has no state of
    that block; None for each that is no proxy.

    `proxies` have an address, its kinds and a block number each. At most four requests are made.
    Raises the errors of NodeSession.
    """
    return _proxies(node, proxies)


def _proxies(
    node: NodeSession, proxies: Sequence[tuple[bytes, Sequence[StateKind], int | None]]
) -> list[Proxy | None]:
    reads = [
        (index, kind, number) for index, (_, kinds, number) in enumerate(proxies) for kind in kinds
    ]
    answers = _read(
        node, [(kind.call(to_hex(proxies[index][0])), number) for index, kind, number in reads]
    )
    values: list[tuple[bytes, ...]] = [
        _addresses(answer) if kind.is_list else _one(answer)
        for (_, kind, _), answer in zip(reads, answers, strict=True)
    ]
    first: dict[int, int] = {}
    for position, (index, _, _) in enumerate(reads):
        if values[position]:
            first.setdefault(index, position)
    beacons = [position for position in first.values() if reads[position][1].is_beacon]
    of_beacons = _read(
        node,
        [
            (_function_call(to_hex(values[position][0]), IMPLEMENTATION_CALL), reads[position][2])
            for position in beacons
        ],
    )
    for position, answer in zip(beacons, of_beacons, strict=True):
        values[position] = _one(answer)
    return [
        Proxy(reads[first[index]][1].name, *_split(values[first[index]]))
        if index in first and values[first[index]]
        else None
        for index in range(len(proxies))
    ]


def _split(implementations: tuple[bytes, ...]) -> tuple[bytes, tuple[bytes, ...]]:
    return implementations[0], implementations[1:]


def _function_call(address: str, function: str) -> tuple[str, tuple[object, ...]]:
    return "eth_call", ({"to": address, "data": function, "gas": CALL_GAS},)


def _read(
    node: NodeSession, calls: Iterable[tuple[tuple[str, tuple[object, ...]], int | None]]
) -> list[object]:
    """Return the results of calls at block numbers. A call that fails there without a revert is
    made again on the newest state."""
    calls = list(calls)
    results: list[object] = node.results(
        [
            Call(method, (*params, "latest" if number is None else hex(number)))
            for (method, params), number in calls
        ],
        MAX_RESPONSE_BYTES,
    )
    failed = [
        index
        for index, result in enumerate(results)
        if isinstance(result, RpcError) and not result.is_refusal and calls[index][1] is not None
    ]
    now = [Call(calls[index][0][0], (*calls[index][0][1], "latest")) for index in failed]
    for index, result in zip(failed, node.results(now, MAX_RESPONSE_BYTES), strict=True):
        results[index] = result
    return results


def _one(word: object) -> tuple[bytes, ...]:
    """Return the address in a result as a tuple of one; () for an RPC error, a zero word, or a
    value that is not an address in a word."""
    if not isinstance(word, str) or len(word) != 66:
        return ()
    content = data(word)
    return (content[12:],) if any(content) and not any(content[:12]) else ()


def _addresses(answer: object) -> tuple[bytes, ...]:
    """Return the first MAX_FACETS distinct addresses of an ABI-encoded array; () for any other
    result."""
    if not isinstance(answer, str) or len(answer) < 2 + 3 * 64 or (len(answer) - 2) % 64:
        return ()
    content = data(answer).hex()
    offset, count, *words = (content[at : at + 64] for at in range(0, len(content), 64))
    if int(offset, 16) != 32 or int(count, 16) != len(words):
        return ()
    facets = [_one(f"0x{word}") for word in words[:MAX_FACETS]]
    return tuple(dict.fromkeys(facet for (facet,) in facets)) if all(facets) else ()
