"""The implementations of proxies: the contracts to which their code passes a call on, as a run of
it shows (delegation.py), by what the chain has where the code reads it.

A slot that the code does not read is not believed, whatever standard names it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from scan.contracts.delegation import PUSH, Answer, Read, Run
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data, to_hex

NODE_TIMEOUT_S = 2.0
ADDRESS_BYTES = 20
MAX_RESPONSE_BYTES = 256 * 1024
MAX_FACETS = 64
MAX_TARGETS = 4  # steps from code that passes all calls on to the code that does not
REQUESTS = 4  # to the node for a lookup
CALL_GAS = "0x4c4b40"  # 5 million: a diamond reads one or two slots for each facet

# keccak256("eip1967.proxy.implementation") - 1, and so on
IMPLEMENTATION_SLOT = "0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc"
BEACON_SLOT = "0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50"
ADMIN_SLOT = "0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103"
_SLOTS = {
    data(IMPLEMENTATION_SLOT): "eip1967",
    data(BEACON_SLOT): "eip1967",
    # keccak256("PROXIABLE"), keccak256("org.zeppelinos.proxy.implementation")
    data("0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7"): "eip1822",
    data("0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3"): "openzeppelin",
}
# What other tools believe, whether or not the code reads it.
_BELIEVED = tuple(Read(b"", data(slot)) for slot in (IMPLEMENTATION_SLOT, BEACON_SLOT))
_FACETS = Read(b"", data("0x52ef6b2c"))  # facetAddresses()
_IMPLEMENTATION = data("0x5c60da1b")  # implementation()
# Hand-written code of clones and of ERC-7760, before what is appended to it, is this short and does
# not begin as solc's, which writes where free memory begins.
MAX_CLONE_BYTES = 100
_COMPILED = re.compile(rb"\x60.\x60\x40(\x52|\x81\x90\x52)", re.DOTALL)
# Proxies of Safe's versions 1.0 to 1.4 begin by reading the first slot, masked to an address.
_SAFE = re.compile(rb"\x60\x80\x60\x40\x52\x73\xff{20}\x60\x00\x54\x16")
_COMPTROLLER = data("0x63bb82aa5e")  # PUSH4 comptrollerImplementation()
_EIP897 = data("0x635c60da1b"), data("0x634555d5c9")  # implementation(), proxyType()

CLONES = frozenset({"eip1167", "immutable-args-clone"})
IN_CODE = CLONES | {"eip7702", "immutable"}  # whose code has the implementation
KINDS = (
    *("eip1167", "immutable-args-clone", "eip7702", "immutable", "eip7760", "eip1967", "eip1822"),
    *("openzeppelin", "safe", "comptroller", "eip897", "beacon", "eip2535", "other"),
)
# A sequence of instructions that ends in DELEGATECALL or CALLCODE, without the data of PUSH1 to 32.
_DELEGATING = re.compile(b"(?:[^\x60-\x7f\xf2\xf4]|" + PUSH + b")*+[\xf2\xf4]", re.DOTALL)


class Proxy(NamedTuple):
    """A proxy and its implementation. `others` are the further implementations of a diamond,
    `unused` is an address in a slot of EIP-1967 to which the code passes nothing on. `is_of_now`:
    it was to be read at a block of which the node has no state."""

    kind: str
    implementation: bytes
    others: tuple[bytes, ...] = ()
    unused: bytes = b""
    is_of_now: bool = False

    @property
    def implementations(self) -> tuple[bytes, ...]:
        return (self.implementation, *self.others)

    @property
    def warning(self) -> str | None:
        target = to_hex(self.unused)
        sentence = f"Its slot of EIP-1967 names {target}, to which its code passes no calls on."
        return sentence if self.unused else None

    def record(self) -> dict[str, object]:
        record: dict[str, object] = {
            "type": self.kind,
            "implementation": to_hex(self.implementation),
        }
        if self.others:
            record["implementations"] = [*map(to_hex, self.implementations)]
        if self.warning:
            record["warning"] = self.warning
        return record


class Delegation(NamedTuple):
    """How code passes calls on. `proxy` is set where the code alone has the implementation, else
    `reads` are what it reads of the chain, as far as the code alone shows."""

    code: bytes = b""
    proxy: Proxy | None = None
    reads: tuple[Read, ...] = ()

    @property
    def depends_on_state(self) -> bool:
        """Whether the chain's state says more of the proxy than the code does."""
        return bool(self.code) and (self.proxy is None or self.proxy.kind == "immutable")


NOT_DELEGATING = Delegation()


def is_proxy_code(code: bytes) -> bool:
    """Return whether code passes calls on, as far as the code alone shows."""
    return delegation_of(code) is not NOT_DELEGATING


def delegation_of(code: bytes) -> Delegation:
    """Return how code passes on calls of functions that it does not have itself."""
    if code.startswith(DELEGATION) and len(code) == len(DELEGATION) + ADDRESS_BYTES:
        return Delegation(code, Proxy("eip7702", code[len(DELEGATION) :]))
    return NOT_DELEGATING if _DELEGATING.match(code) is None else _delegation(code)


@lru_cache(maxsize=256)
def _delegation(code: bytes) -> Delegation:
    run = _run_alone(code)
    if run.target is None:
        return NOT_DELEGATING
    if not run.reads:
        kind = "eip1167" if run.end == len(code) else "immutable-args-clone"
        kind = kind if _is_handwritten(code, run) else "immutable"
        return Delegation(code, Proxy(kind, run.target))
    assumed = _part(code, 4, 20), _part(code, 8, 20)
    reads = [read for read in run.reads if read.to not in assumed]
    if _run_alone(code, function=4).reads != run.reads:  # another function's are others
        reads.append(_FACETS)
    return Delegation(code, None, tuple(reads))


def _part(code: bytes, start: int, size: int) -> bytes:
    """Return bytes of the code's hash, of which runs make functions and accounts: the code cannot
    have them, and treats them as any others."""
    return sha256(code).digest()[start : start + size]


def _run(code: bytes, address: bytes, answer: Answer, function: int = 0) -> Run:
    """Run code for a call of a function that it does not have itself."""
    input_ = _part(code, function, 4) + bytes(32)
    return Run(code, input_, address, _part(code, 12, 20), answer)


def _run_alone(code: bytes, function: int = 0) -> Run:
    """Run code with an assumed address for all that it reads, or, where it does not pass the call
    on then, with zero for one of its reads, such as whether it is paused."""
    word, address = bytes(12) + _part(code, 8, 20), _part(code, 4, 20)
    first = _run(code, address, lambda read: word, function)
    for zero in dict.fromkeys(() if first.target else first.reads):
        words = defaultdict(lambda: word, {zero: bytes(32)})
        run = _run(code, address, words.__getitem__, function)
        if run.target is not None:
            return run
    return first


def _is_handwritten(code: bytes, run: Run) -> bool:
    return run.end <= MAX_CLONE_BYTES and _COMPILED.match(code) is None


def _kind(code: bytes, at: bytes, run: Run, words: Mapping[Read, bytes | None]) -> str:
    """Return the kind of the proxy `at` an address by the read that has its implementation."""

    def from_(address: bytes | None) -> Read | None:
        return next((r for r in reversed(run.reads) if _address(words[r]) == address), None)

    origin = from_(run.target)
    is_beacon = bool(origin and origin.to not in (b"", at) and origin.input == _IMPLEMENTATION)
    slot = from_(origin.to) if is_beacon and origin else origin
    kind = _SLOTS.get(slot.input) if slot and not slot.to else None
    if kind == "eip1967" and _is_handwritten(code, run):
        return "eip7760"
    if kind is None and origin == Read(b"", bytes(32)) and _SAFE.match(code):
        return "safe"
    if kind is None and origin and _COMPTROLLER in code:
        return "comptroller"
    if kind is None and all(function in code for function in _EIP897):
        return "eip897"
    return kind or ("beacon" if is_beacon else "other")


def proxy_at(node: NodeSession, address: bytes, code: bytes, block: BlockId | None) -> Proxy | None:
    """Return the proxy at an address after a block, or now where that is None; None if it is none,
    or if the node does not respond."""
    delegation = delegation_of(code)
    if not delegation.depends_on_state:
        return delegation.proxy
    try:
        return proxy_after(node, address, delegation, block)
    except (UpstreamFailed, Unavailable, BadHex):
        return None


def delegating_account(node: NodeSession, address: bytes, block: BlockId | None) -> Proxy | None:
    """Return the EIP-7702 delegation of an account after a block, or now, which is not indexed;
    None if it has none, or if the node does not respond."""
    try:
        code = node.within(NODE_TIMEOUT_S).call(
            "eth_getCode", to_hex(address), block or "latest", most_bytes=MAX_RESPONSE_BYTES
        )
        return delegation_of(data(code)).proxy
    except (UpstreamFailed, Unavailable, RpcError, BadHex):
        return None


def proxy_after(
    node: NodeSession, address: bytes, delegation: Delegation, block: BlockId | None
) -> Proxy | None:
    """Return the proxy with its implementations after a block, or now; None if it is none. Raises
    the errors of NodeSession, and BadHex."""
    return at_blocks(node.within(NODE_TIMEOUT_S), [(address, delegation, block)])[0]


Words = Mapping[Read, bytes]


def at_blocks(
    node: NodeSession,
    proxies: Sequence[tuple[bytes, Delegation, BlockId | None]],
    overridden: Mapping[bytes, Words] = {},
) -> list[Proxy | None]:
    """Return the proxies as they were after blocks, or are now where that is None or the node has
    no state of that block; None for each that is no proxy.

    `proxies` have an address, its delegation and a block each; slots in `overridden` have
    other words. Few requests are made. Raises the errors of NodeSession, and BadHex.
    """
    words: list[dict[Read, bytes | None]] = [{**overridden.get(at, {})} for at, _, _ in proxies]
    missing = [(i, r) for i, (_, of, _) in enumerate(proxies) for r in (*of.reads, *_BELIEVED)]
    results: list[Proxy | None] = [None] * len(proxies)
    waiting = {*range(len(proxies))}
    of_now = {index for index, (_, _, block) in enumerate(proxies) if block is None}
    for _ in range(REQUESTS):
        missing = [(index, read) for index, read in missing if read not in words[index]]
        calls = [(_call(proxies[index][0], read), proxies[index][2]) for index, read in missing]
        answers, repeated = _read(node, calls)
        of_now |= {missing[position][0] for position in repeated}
        for (index, read), answer in zip(missing, answers, strict=True):
            words[index][read] = None if isinstance(answer, RpcError) else data(answer)
        missing = []
        for index in waiting:
            address, delegation, _ = proxies[index]
            try:
                run = _run(delegation.code, address, words[index].__getitem__)
                proxy = _proxy(delegation, address, run, words[index])
                results[index] = proxy and proxy._replace(is_of_now=index in of_now)
            except KeyError as error:
                missing.append((index, error.args[0]))
        waiting = {index for index, _ in missing}
    return results


def _proxy(
    delegation: Delegation, at: bytes, run: Run, words: Mapping[Read, bytes | None]
) -> Proxy | None:
    facets = _addresses(words.get(_FACETS))
    targets = (run.target,) if run.target and any(run.target) else ()
    implementations = tuple(dict.fromkeys((*facets, *targets)))
    if not implementations:
        return None
    if delegation.proxy:
        kind = delegation.proxy.kind
    else:
        kind = "eip2535" if facets else _kind(delegation.code, at, run, words)
    used = {*implementations, *(read.to for read in run.reads)}
    believed = (_address(words[read]) for read in _BELIEVED)
    unused = next((address for address in believed if address and address not in used), b"")
    return Proxy(kind, implementations[0], implementations[1:], unused)


def _call(address: bytes, read: Read) -> tuple[str, tuple[object, ...]]:
    proxy = to_hex(address)
    if read == _FACETS:
        return "eth_call", ({"to": proxy, "data": to_hex(read.input), "gas": CALL_GAS},)
    if not read.to:
        return "eth_getStorageAt", (proxy, to_hex(read.input))
    call = {"from": proxy, "to": to_hex(read.to), "data": to_hex(read.input), "gas": CALL_GAS}
    return "eth_call", (call,)


def _read(
    node: NodeSession, calls: Iterable[tuple[tuple[str, tuple[object, ...]], BlockId | None]]
) -> tuple[list[object], Sequence[int]]:
    """Return the results of calls after blocks, and the indexes of those that were made again
    on the newest state, as they failed there without a revert."""
    calls = list(calls)
    results: list[object] = node.results(
        [Call(method, (*params, block or "latest")) for (method, params), block in calls],
        MAX_RESPONSE_BYTES,
    )
    failed = [
        index
        for index, result in enumerate(results)
        if isinstance(result, RpcError) and not result.is_refusal and calls[index][1] is not None
    ]
    if any(isinstance(result, RpcError) and result.is_missing_block for result in results):
        node.record_failed()  # it is behind, or on another fork
    now = [Call(calls[index][0][0], (*calls[index][0][1], "latest")) for index in failed]
    for index, result in zip(failed, node.results(now, MAX_RESPONSE_BYTES), strict=True):
        results[index] = result
    return results, failed


def _address(word: bytes | None) -> bytes | None:
    """Return the address in a word; None for a zero word, and for what is not an address in one."""
    is_one = word is not None and len(word) == 32 and any(word) and not any(word[:12])
    return word[12:] if is_one and word else None


def _addresses(answer: bytes | None) -> tuple[bytes, ...]:
    """Return the first MAX_FACETS distinct addresses of an ABI-encoded array; () for any other
    result."""
    words = [(answer or b"")[at : at + 32] for at in range(0, len(answer or b""), 32)]
    if len(words) < 3 or list(map(int.from_bytes, words[:2])) != [32, len(words) - 2]:
        return ()
    facets = [*map(_address, words[2 : 2 + MAX_FACETS])]
    return tuple(dict.fromkeys(facet for facet in facets if facet)) if all(facets) else ()
