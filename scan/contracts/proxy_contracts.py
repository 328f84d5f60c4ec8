"""The implementations of proxies, with the evidence of each.

A code that is known says where it passes calls on (known_proxies.py). Of other code the traces of
transactions show it, by function, and the newest decide; a slot, a beacon or a function only claims
it. No code is run or examined to find out what it might do: whatever it hides, its calls show.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import orjson

from scan.contracts.abi_decoding import CLAIM, CODE, TRACE
from scan.contracts.known_proxies import CLAIMS, UNKNOWN, Way, way_of, way_of_source
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
MAX_TRACED = 4  # implementations by traces whose times are compared with a claim
MAX_CLAIMS = 4  # ways that are read of a contract
FACETS_GAS = "0x4c4b40"  # 5 million: a diamond reads one or two slots for each facet
MAX_DIAMONDS = 20  # whose facets are read at once
CALL_GAS = "0x30d40"  # 200,000, of a function that returns an address
_IMPLEMENTATION = "0x5c60da1b"  # implementation()
_FACET = data("0xcdffacc6")  # facetAddress(bytes4)

EVIDENCE = (CODE, TRACE, CLAIM)
CLONES = frozenset({"eip1167", "immutable-args-clone"})
IN_CODE = CLONES | {"eip7702"}  # whose code has the implementation
ROUTER = "router"
KINDS = (
    *("eip1167", "immutable-args-clone", "eip7702", "eip7760", "eip1967", "eip1822"),
    *("openzeppelin", "safe", "comptroller", "eip897", "eip2535", ROUTER, UNKNOWN),
)


class Proxy(NamedTuple):
    """A proxy and its implementation; `others` are further ones, of a diamond or a router.

    The evidence is CODE: the code is a known proxy's, or its verified source is; TRACE: it passed
    calls of the functions in `routes` on, each to the implementation there; CLAIM: it says so.
    `unused` is the address that it claims, and to which calls were not passed on. `is_of_now`: it
    was to be read at a block of which the node has no state.
    """

    kind: str
    implementation: bytes
    evidence: str
    others: tuple[bytes, ...] = ()
    unused: bytes = b""
    is_of_now: bool = False
    routes: Mapping[bytes, bytes] = MappingProxyType({})

    @property
    def implementations(self) -> tuple[bytes, ...]:
        return (self.implementation, *self.others)

    @property
    def warning(self) -> str | None:
        if not self.unused:
            return None
        target = to_hex(self.unused)
        return f"It says that its implementation is {target}, and passed calls on to another one."

    def evidence_of(self, selector: bytes) -> str:
        """Return the evidence that the calls of a function are passed on."""
        return CODE if self.evidence == CODE else TRACE if selector in self.routes else CLAIM

    def traced(self, implementation: bytes) -> Collection[bytes]:
        """Return the functions whose calls were passed on to an implementation."""
        return {s for s, target in self.routes.items() if target == implementation}

    def record(self) -> dict[str, object]:
        record: dict[str, object] = {
            "type": self.kind,
            "implementation": to_hex(self.implementation),
            "evidence": self.evidence,
        }
        if self.others:
            record["implementations"] = [*map(to_hex, self.implementations)]
        if self.warning:
            record["warning"] = self.warning
        return record


class DelegatedCall(NamedTuple):
    """Calls of a function that a contract passed on from a block on, by traces."""

    selector: bytes
    implementation: bytes
    block: BlockId
    parent: BlockId | None


class Delegation(NamedTuple):
    """How code may pass calls on. `proxy` is set where the code alone has the implementation, `way`
    where it is known, and `claims` are what it may say; `calls` are what traces show, the newest
    first. `may_run_others`: it has a DELEGATECALL, though it is no proxy as far as is known."""

    kind: str = ""
    proxy: Proxy | None = None
    way: Way | None = None
    claims: tuple[Way, ...] = ()
    calls: tuple[DelegatedCall, ...] = ()
    may_run_others: bool = False

    @property
    def depends_on_state(self) -> bool:
        return bool(self.kind) and self.proxy is None


NOT_DELEGATING = Delegation()


def stored_delegation(text: str | None, calls: str | None = None) -> Delegation:
    """Return a delegation by the text that is stored with the code, with the name and the hashes of
    the verified source's files behind a line feed; and by what traces show, as JSON."""
    stored, _, source = (text or "").partition("\n")
    if not stored:
        return NOT_DELEGATING
    if not stored.startswith(UNKNOWN):
        return _known(way_of(stored))
    name, *files = source.split() or [""]
    if (way := way_of_source(name, files)) is not None:
        return _known(way)
    claims = tuple(way for name in stored.split()[1:] for way in CLAIMS[name].ways)[:MAX_CLAIMS]
    traced = tuple(
        DelegatedCall(
            data(selector),
            data(implementation),
            BlockId(number, data(hash_)),
            BlockId(number - 1, data(parent)) if number else None,
        )
        for selector, implementation, number, hash_, parent in orjson.loads(calls or "[]")
    )
    if claims or traced:
        return Delegation(UNKNOWN, None, None, claims, traced)
    return Delegation(may_run_others=True)


def _known(way: Way) -> Delegation:
    proxy = Proxy(way.kind, way.at, CODE) if way.how == "to" else None
    return Delegation(way.kind, proxy, way)


def account_delegation(code: bytes) -> Proxy | None:
    """Return the delegation of an account by its code (EIP-7702)."""
    if code.startswith(DELEGATION) and len(code) == len(DELEGATION) + ADDRESS_BYTES:
        return Proxy("eip7702", code[len(DELEGATION) :], CODE)
    return None


def proxy_at(
    node: NodeSession, address: bytes, delegation: Delegation, block: BlockId | None
) -> Proxy | None:
    """Return the proxy at an address after a block, or now where that is None, as at_blocks() does;
    None if it is none, or if the node does not respond."""
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
        return account_delegation(data(code))
    except (UpstreamFailed, Unavailable, RpcError, BadHex):
        return None


def proxy_after(
    node: NodeSession, address: bytes, delegation: Delegation, block: BlockId | None
) -> Proxy | None:
    """Return the proxy with its implementations after a block, or now; None if it is none. Raises
    the errors of NodeSession, and BadHex."""
    return at_blocks(node.within(NODE_TIMEOUT_S), [(address, delegation, block)])[0]


Words = Mapping[bytes, bytes]  # of slots


class Stated(NamedTuple):
    """What a contract says of where it passes calls on, at a block or now."""

    way: Way
    targets: tuple[bytes, ...]
    is_of_now: bool


class _Query(NamedTuple):
    address: bytes
    ways: Sequence[Way]
    block: BlockId | None
    overridden: Words = MappingProxyType({})


def at_blocks(
    node: NodeSession,
    proxies: Sequence[tuple[bytes, Delegation, BlockId | None]],
    overridden: Mapping[bytes, Words] = {},
) -> list[Proxy | None]:
    """Return the proxies as they were after blocks, or are now where that is None or the node has
    no state of that block; None for each that is no proxy.

    `proxies` have an address, its delegation and a block each; slots in `overridden` have
    other words. Up to four requests are made for all. Raises the errors of NodeSession, and BadHex.
    """
    queries = [
        _Query(address, [of.way] if of.way else of.claims, block, overridden.get(address, {}))
        for address, of, block in proxies
    ]
    stated = _stated(node, queries)
    calls = [
        [call for call in of.calls if block is None or call.block.number <= block.number]
        for _, of, block in proxies
    ]
    # Whether what was claimed when another implementation ran was that one.
    doubts = [
        (index, says.way, call)
        for index, (says, of) in enumerate(zip(stated, calls, strict=True))
        if says is not None and says.way.how != "facets"
        for call in _newest(of)
        if call.implementation not in says.targets
    ]
    then = _stated(
        node,
        [
            _Query(proxies[index][0], [way], block)
            for index, way, call in doubts
            for block in (call.block, call.parent or call.block)
        ],
        or_now=False,
    )
    agreed: list[dict[bytes, bool | None]] = [{} for _ in proxies]
    for (index, _, call), *both in zip(doubts, then[::2], then[1::2], strict=True):
        known = [says for says in both if says is not None]
        agreed[index][call.implementation] = (
            any(call.implementation in says.targets for says in known) if known else None
        )
    return [
        _proxy(of, says, traced, then_agreed)
        for (_, of, _), says, traced, then_agreed in zip(
            proxies, stated, calls, agreed, strict=True
        )
    ]


def _newest(calls: Sequence[DelegatedCall]) -> list[DelegatedCall]:
    """Return the newest call of each implementation, the newest first."""
    newest: dict[bytes, DelegatedCall] = {}
    for call in calls:
        newest.setdefault(call.implementation, call)
    return [*newest.values()][:MAX_TRACED]


def _proxy(
    of: Delegation,
    says: Stated | None,
    calls: Sequence[DelegatedCall],
    agreed: Mapping[bytes, bool | None],
) -> Proxy | None:
    """Return the proxy by what it says, and by calls. `agreed` tells, of implementations that it
    does not name now, whether it named them when they ran; None where the node does not know."""
    if of.way is not None or not calls:
        evidence = CODE if of.way is not None else CLAIM
        return says and Proxy(
            says.way.kind, says.targets[0], evidence, says.targets[1:], is_of_now=says.is_of_now
        )
    targets = says.targets if says else ()
    newest = _newest(calls)
    confirmed = max((c.block.number for c in newest if c.implementation in targets), default=-1)
    ran = [
        call.implementation
        for call in newest
        if call.implementation in targets
        or not (
            call.block.number < confirmed
            if agreed.get(call.implementation) is None
            else agreed[call.implementation]
        )
    ]
    routes = {c.selector: c.implementation for c in reversed(calls) if c.implementation in ran}
    is_of_now = says is not None and says.is_of_now
    if says is not None and says.way.how == "facets":
        first, *others = dict.fromkeys((*targets, *ran))
        evidence = TRACE if {first, *others} <= {*ran} else CLAIM
        return Proxy(says.way.kind, first, evidence, tuple(others), b"", is_of_now, routes)
    if says is not None and not ran:  # it has named another one since
        return Proxy(says.way.kind, targets[0], CLAIM, is_of_now=is_of_now)
    first, *others = ran
    unused = b"" if says is None or targets[0] in ran else targets[0]
    kind = ROUTER if others else says.way.kind if says and not unused else UNKNOWN
    return Proxy(kind, first, TRACE, tuple(others), unused, is_of_now, routes)


def facet_of(
    node: NodeSession, address: bytes, selector: bytes, block: BlockId | None
) -> bytes | None:
    """Return the facet that a diamond names for a function; None where it does not. Raises the
    errors of NodeSession, and BadHex."""
    call = {"to": to_hex(address), "data": to_hex(_FACET + selector.ljust(32, b"\0"))}
    [answer], _ = _answers(node, [(Call("eth_call", ({**call, "gas": FACETS_GAS},)), block)])
    return None if isinstance(answer, RpcError) else _address(data(answer))


def _stated(
    node: NodeSession, queries: Sequence[_Query], *, or_now: bool = True
) -> list[Stated | None]:
    """Return what contracts say: the first of their ways that names a contract; None where none
    does. `or_now`: where the node has no state of the block, what they say now."""
    reads = [(n, way) for n, query in enumerate(queries) for way in query.ways]
    diamonds = [pair for pair in reads if pair[1].how == "facets"]
    left_out = {n for n, _ in diamonds[MAX_DIAMONDS:]}
    reads = [(n, way) for n, way in reads if way.how != "facets" or n not in left_out]
    answers, of_now = _answers(
        node, [(_call(queries[n].address, way), queries[n].block) for n, way in reads], or_now
    )
    words = [
        way.at.rjust(32, b"\0")
        if way.how == "beacon"
        else queries[n].overridden.get(way.at) or _bytes(answer)
        for (n, way), answer in zip(reads, answers, strict=True)
    ]
    beacons = [
        (index, beacon)
        for index, ((_, way), word) in enumerate(zip(reads, words, strict=True))
        if way.how.startswith("beacon") and (beacon := _address(word))
    ]
    named, named_now = _answers(
        node,
        [(_implementation_of(beacon), queries[reads[index][0]].block) for index, beacon in beacons],
        or_now,
    )
    for (index, _), answer in zip(beacons, named, strict=True):
        words[index] = _bytes(answer)
    of_now |= {beacons[index][0] for index in named_now}
    stated: list[Stated | None] = [None] * len(queries)
    for index, ((n, way), word) in enumerate(zip(reads, words, strict=True)):
        target = _address(word)
        facets = way.how == "facets"
        targets = _addresses(word) if facets else (target,) if target else ()
        if targets and stated[n] is None:
            stated[n] = Stated(way, targets, index in of_now)
    return stated


def _call(address: bytes, way: Way) -> Call:
    """Return the call that reads a way, without its block."""
    if way.how in ("function", "facets"):
        gas = FACETS_GAS if way.how == "facets" else CALL_GAS
        return Call("eth_call", ({"to": to_hex(address), "data": to_hex(way.at), "gas": gas},))
    if way.how == "beacon":
        return _implementation_of(way.at)
    return Call("eth_getStorageAt", (to_hex(address), to_hex(way.at)))


def _implementation_of(beacon: bytes) -> Call:
    return Call("eth_call", ({"to": to_hex(beacon), "data": _IMPLEMENTATION, "gas": CALL_GAS},))


def _answers(
    node: NodeSession, reads: Sequence[tuple[Call, BlockId | None]], or_now: bool = True
) -> tuple[list[object], set[int]]:
    """Return what the node answers after blocks, and the indexes of reads that were repeated on the
    newest state, as they failed there without a revert."""
    if not reads:
        return [], set()
    calls = [Call(call.method, (*call.params, block or "latest")) for call, block in reads]
    results: list[object] = node.results(calls, MAX_RESPONSE_BYTES)
    failed = [
        index
        for index, result in enumerate(results)
        if isinstance(result, RpcError) and not result.is_refusal and reads[index][1] is not None
    ]
    if not or_now or not failed:
        return results, set()
    if any(isinstance(result, RpcError) and result.is_missing_block for result in results):
        node.record_failed()  # it is behind, or on another fork
    now = [Call(reads[n][0].method, (*reads[n][0].params, "latest")) for n in failed]
    for index, result in zip(failed, node.results(now, MAX_RESPONSE_BYTES), strict=True):
        results[index] = result
    return results, {*failed}


def _bytes(answer: object) -> bytes:
    """Return the bytes of an answer, none of a failed one. Raises BadHex."""
    return b"" if isinstance(answer, RpcError) else data(answer)


def _address(word: bytes) -> bytes | None:
    """Return the address in a word; None for a zero word, and for what is not an address in one."""
    is_one = len(word) == 32 and any(word) and not any(word[:12])
    return word[12:] if is_one else None


def _addresses(answer: bytes) -> tuple[bytes, ...]:
    """Return the first MAX_FACETS distinct addresses of an ABI-encoded array; () for any other
    result."""
    words = [answer[at : at + 32] for at in range(0, len(answer), 32)]
    if len(words) < 3 or list(map(int.from_bytes, words[:2])) != [32, len(words) - 2]:
        return ()
    facets = [*map(_address, words[2 : 2 + MAX_FACETS])]
    return tuple(dict.fromkeys(facet for facet in facets if facet)) if all(facets) else ()
