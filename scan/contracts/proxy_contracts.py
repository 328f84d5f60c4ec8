"""The implementations of proxies: the contracts to which their code passes a call on, as the ways
through it show (delegation.py), by what the chain has where the code reads it.

The ways are found once for each code, with few steps for a block, and stored with it. A slot that
the code does not read is not believed, whatever standard names it; and where the caller, the block
or what other contracts do decide, no implementation is named.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import orjson

from scan.contracts.delegation import (
    BUDGET,
    DATA,
    FORWARDED,
    PUSH,
    SMALL_SIZES,
    UNFOLLOWED,
    OutOfSteps,
    Run,
    Steps,
    Way,
)
from scan.contracts.delegation_targets import (
    CHAIN_ID,
    CODE,
    FUNCTION,
    Missing,
    Read,
    State,
    Targets,
    from_text,
    to_text,
)
from scan.contracts.terms import Term
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data, quantity, to_hex

NODE_TIMEOUT_S = 2.0
ADDRESS_BYTES = 20
MAX_RESPONSE_BYTES = 256 * 1024
MAX_FACETS = 64
MAX_TARGETS = 4  # steps from code that passes all calls on to the code that does not
REQUESTS = 8  # to the node for a lookup
BLOCK_STEPS = 4 * BUDGET  # of the codes that are indexed at once; the others are followed later
# For all proxies of a request: the codes of those that they ask, and what is read of the chain.
REQUEST_STEPS, STEPS_OF_READ = 3 * BUDGET, 5
# For the functions of routers among the codes that are indexed at once, and for one of these.
ROUTE_STEPS, STEPS_OF_ROUTE = 10 * BUDGET, 1_000
TRIED_ROUTES, STEPS_OF_TRY = 6, 700
MAX_TEXT = 4 * 1024  # of a stored delegation; those of compilers have 1,000 characters
SIZES_OF_ROUTES = 36, 100  # of call data, with which routers are run
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
_PUSHED = re.compile(PUSH, re.DOTALL)
# SSTORE, TSTORE, CREATE, CALL, CALLCODE, CREATE2, SELFDESTRUCT
_WRITING = re.compile(rb"[\x55\x5d\xf0-\xf2\xf5\xff]")
# Proxies of Safe's versions 1.0 to 1.4 begin by reading the first slot, masked to an address.
_SAFE = re.compile(rb"\x60\x80\x60\x40\x52\x73\xff{20}\x60\x00\x54\x16")
_COMPTROLLER = data("0x63bb82aa5e")  # PUSH4 comptrollerImplementation()
_EIP897 = data("0x635c60da1b"), data("0x634555d5c9")  # implementation(), proxyType()

CLONES = frozenset({"eip1167", "immutable-args-clone"})
IN_CODE = CLONES | {"eip7702", "immutable", "router"}  # whose code has the implementation
KINDS = (
    *("eip1167", "immutable-args-clone", "eip7702", "immutable", "eip7760", "eip1967", "eip1822"),
    *("openzeppelin", "safe", "comptroller", "eip897", "beacon", "eip2535", "router", "other"),
)
# A sequence of instructions that ends in DELEGATECALL or CALLCODE, without the data of PUSH1 to 32.
_DELEGATING = re.compile(b"(?:[^\x60-\x7f\xf2\xf4]|" + PUSH + b")*+[\xf2\xf4]", re.DOTALL)


class Proxy(NamedTuple):
    """A proxy and its implementation, which is empty where something else than the chain's state
    decides: `depends_on` names that in words; `own` are the selectors of functions that its code
    has itself, as far as it compares them. `others` are the further implementations of a diamond or
    a router, which passes the functions of `routes` on to each. `unused` is an address in a slot of
    EIP-1967 to which the code passes nothing on. `is_of_now`: it was to be read at a block of which
    the node has no state."""

    kind: str
    implementation: bytes
    others: tuple[bytes, ...] = ()
    unused: bytes = b""
    is_of_now: bool = False
    depends_on: tuple[str, ...] = ()
    own: frozenset[bytes] = frozenset()
    routes: Mapping[bytes, frozenset[bytes]] = MappingProxyType({})

    @property
    def implementations(self) -> tuple[bytes, ...]:
        return (self.implementation, *self.others) if self.implementation else ()

    @property
    def is_by_function(self) -> bool:
        """Whether the state has the implementation of a function, but does not list them."""
        return bool(self.depends_on) and {*self.depends_on} <= _BY_FUNCTION

    @property
    def warning(self) -> str | None:
        if self.depends_on:
            return f"To which contract it passes a call on depends on {_listed(self.depends_on)}."
        target = to_hex(self.unused)
        sentence = f"Its slot of EIP-1967 names {target}, to which its code passes no calls on."
        return sentence if self.unused else None

    def record(self) -> dict[str, object]:
        record: dict[str, object] = {
            "type": self.kind,
            "implementation": to_hex(self.implementation) if self.implementation else None,
        }
        if self.others:
            record["implementations"] = [*map(to_hex, self.implementations)]
        if self.depends_on:
            record["dependsOn"] = [*self.depends_on]
        if self.warning:
            record["warning"] = self.warning
        return record


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


class Delegation(NamedTuple):
    """How code passes calls on. `proxy` is set where the code alone has the implementation; `own`
    are the selectors of functions that the code compares with those that are called. `is_known`:
    the code has been followed, which takes a while where there are many."""

    kind: str = ""
    proxy: Proxy | None = None
    ways: tuple[Way, ...] = ()
    own: frozenset[bytes] = frozenset()
    is_known: bool = True

    @property
    def depends_on_state(self) -> bool:
        """Whether the chain's state says more of the proxy than the code does."""
        return bool(self.kind) and (self.proxy is None or self.proxy.kind == "immutable")

    @property
    def text(self) -> str:
        """The delegation as it is stored with the code; empty where it passes nothing on."""
        if not self.kind:
            return ""
        constant = self.proxy.implementation.hex() if self.proxy else ""
        own = sorted(selector.hex() for selector in self.own)
        routes = self.proxy.routes.items() if self.proxy else ()
        by_target = {at.hex(): b"".join(sorted(selectors)).hex() for at, selectors in routes}
        text = [self.kind, constant, own, *to_text(self.ways), *([by_target] if by_target else [])]
        return orjson.dumps(text).decode()


NOT_DELEGATING = Delegation()
NOT_KNOWN = Delegation(is_known=False)


def stored_delegation(text: str | None) -> Delegation:
    """Return a delegation by its text, None of a code that has not been followed yet."""
    if not text:
        return NOT_KNOWN if text is None else NOT_DELEGATING
    kind, constant, own, terms, rows, *by_target = orjson.loads(text)
    selectors = frozenset(map(bytes.fromhex, own))
    proxy = Proxy(kind, bytes.fromhex(constant), own=selectors) if constant else None
    if by_target:
        return _router(
            {
                bytes.fromhex(at): frozenset(
                    bytes.fromhex(of[n : n + 8]) for n in range(0, len(of), 8)
                )
                for at, of in by_target[0].items()
            }
        )
    return Delegation(kind, proxy, from_text([terms, rows]), selectors)


def _router(routes: Mapping[bytes, frozenset[bytes]]) -> Delegation:
    first, *others = routes
    return Delegation("router", Proxy("router", first, tuple(others), routes=routes))


def delegations_of(codes: Iterable[bytes]) -> list[str | None]:
    """Return the delegations of codes as they are stored; None of those for which the steps of all
    together do not suffice."""
    steps, route_steps = Steps(BLOCK_STEPS), Steps(ROUTE_STEPS)
    delegations = (delegation_of(code, steps, route_steps) for code in codes)
    return [None if delegation is None else delegation.text for delegation in delegations]


def account_delegation(code: bytes) -> Proxy | None:
    """Return the delegation of an account by its code (EIP-7702)."""
    if code.startswith(DELEGATION) and len(code) == len(DELEGATION) + ADDRESS_BYTES:
        return Proxy("eip7702", code[len(DELEGATION) :])
    return None


def delegation_of(code: bytes, steps: Steps, route_steps: Steps | None = None) -> Delegation | None:
    """Return how code passes on calls of functions that it does not have itself, or else of those
    that it names; None where these steps do not suffice to tell, but those of a code by itself
    might."""
    try:
        steps.take(len(code) // 256)
    except OutOfSteps:
        return None
    if _DELEGATING.match(code) is None:
        return NOT_DELEGATING
    own_steps = Steps(min(BUDGET, steps.left))
    most = own_steps.left
    run = Run(code, own_steps)
    steps.left -= most - own_steps.left
    if own_steps.left < 0 and most < BUDGET:
        return None
    passed_on = [way for way in run.ways if way.ending == FORWARDED and not way.is_own]
    if not passed_on:
        return _routed(code, [*run.named], route_steps or Steps(ROUTE_STEPS))
    ways, constant = tuple(run.ways), _constant_target(tuple(run.ways))
    if 8 * len(run.own) + len(orjson.dumps(to_text(ways))) > MAX_TEXT:
        return Delegation("other", None, (Way(FORWARDED, targets=(0,)), Way(UNFOLLOWED)))
    end, is_handwritten = _handwritten(code, run)
    if constant:
        kind = "eip1167" if end == len(code) else "immutable-args-clone"
        kind = kind if is_handwritten else "immutable"
        own = frozenset(run.own)
        return Delegation(kind, Proxy(kind, constant, own=own), ways, own)
    target = passed_on[0].targets[0]
    kind = "immutable" if target and isinstance(target, int) else ""
    kind = kind or _kind(code, target, is_handwritten=is_handwritten)
    return Delegation(kind, None, ways, frozenset(run.own))


def _routed(code: bytes, named: Sequence[bytes], steps: Steps) -> Delegation | None:
    """Return to which contracts, whose addresses it has, code passes on each of the functions that
    it names; as delegation_of() does. Of most codes a few functions show that it does not."""
    constants = (push[0][1:] for push in _PUSHED.finditer(code) if len(push[0]) > ADDRESS_BYTES)
    if not named or not any(map(_is_address, constants)):
        return NOT_DELEGATING
    most = steps.left
    tried = named[:: -(-len(named) // TRIED_ROUTES)]
    routes = _routes(code, tried, steps, STEPS_OF_TRY)
    if routes:
        routes = _routes(code, named, steps, STEPS_OF_ROUTE)
    if steps.left < 0 and most < ROUTE_STEPS:
        return None
    return _router(routes) if routes else NOT_DELEGATING


def _routes(
    code: bytes, selectors: Sequence[bytes], steps: Steps, most: int
) -> dict[bytes, frozenset[bytes]]:
    """Return the functions that code passes on, by the contract, until the steps are spent."""
    routes: dict[bytes, set[bytes]] = {}
    for selector in selectors:
        own_steps = Steps(min(most, max(steps.left, 0)))
        given = own_steps.left
        run = Run(code, own_steps, sizes=SIZES_OF_ROUTES, selector=selector)
        steps.left -= given - own_steps.left
        place = run.passes_all_on_to()
        if place and (len(routes) < MAX_FACETS or place.to_bytes(20) in routes):
            routes.setdefault(place.to_bytes(20), set()).add(selector)
        if steps.left < 0:
            break
    return {at: frozenset(of) for at, of in routes.items()}


def _is_address(constant: bytes) -> bool:
    """Return whether a constant may be the address of a contract: not a small number or a mask."""
    address = constant[-ADDRESS_BYTES:]
    return not any(constant[:-ADDRESS_BYTES]) and any(address[:8]) and len({*address}) > 4


def _handwritten(code: bytes, run: Run) -> tuple[int, bool]:
    """Return where code ends that runs, and whether it is that of a proxy without anything of its
    own, whatever it is called with: such a proxy has the source of its implementation."""
    end = max(run.end, Run(code, Steps(BUDGET // 8), sizes=SMALL_SIZES).end)
    is_short = end <= MAX_CLONE_BYTES and _COMPILED.match(code) is None
    opcodes = _PUSHED.sub(b"", code[:end]) if is_short else b""
    is_plain = opcodes.count(b"\xf4") == 1 and not _WRITING.search(opcodes)
    return end, is_short and is_plain and not run.own


def _constant_target(ways: tuple[Way, ...]) -> bytes:
    """Return where code passes calls on to wherever it stands; empty where its state says."""
    try:
        first, other = (State({}, Steps(BUDGET)).targets(ways, bytes([n]) * 20) for n in (1, 2))
    except (Missing, OutOfSteps):
        return b""
    return first.target if first == other else b""


def _kind(code: bytes, target: object, *, is_handwritten: bool) -> str:
    """Return the kind of a proxy by the term of its implementation."""
    origin = next(iter(target.leaves), None) if isinstance(target, Term) else None
    is_beacon = False
    if origin is not None and origin.op == "answer":
        of, *input_ = origin.args
        is_beacon = input_ == [_IMPLEMENTATION] and not (
            isinstance(of, Term) and {leaf.op for leaf in of.leaves} == {"address"}
        )
        origin = next(iter(of.leaves), None) if is_beacon and isinstance(of, Term) else None
    slot = origin.args[0] if origin is not None and origin.op == "slot" else None
    kind = _SLOTS.get(slot.to_bytes(32)) if isinstance(slot, int) else None
    if kind == "eip1967" and is_handwritten:
        return "eip7760"
    if kind is None and slot == 0 and not is_beacon and _SAFE.match(code):
        return "safe"
    if kind is None and origin is not None and _COMPTROLLER in code:
        return "comptroller"
    if kind is None and all(function in code for function in _EIP897):
        return "eip897"
    return kind or ("beacon" if is_beacon else "other")


def proxy_at(
    node: NodeSession,
    address: bytes,
    delegation: Delegation,
    block: BlockId | None,
    input_: bytes | None = None,
) -> Proxy | None:
    """Return the proxy at an address after a block, or now where that is None, as at_blocks() does;
    None if it is none, or if the node does not respond."""
    if not delegation.depends_on_state:
        return delegation.proxy
    try:
        at = node.within(NODE_TIMEOUT_S)
        return at_blocks(at, [(address, delegation, block)], input_=input_)[0]
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


Words = Mapping[Read, bytes]
request_steps = partial(Steps, REQUEST_STEPS)


def at_blocks(
    node: NodeSession,
    proxies: Sequence[tuple[bytes, Delegation, BlockId | None]],
    overridden: Mapping[bytes, Words] = {},
    input_: bytes | None = None,
) -> list[Proxy | None]:
    """Return the proxies as they were after blocks, or are now where that is None or the node has
    no state of that block; None for each that is no proxy.

    `proxies` have an address, its delegation and a block each; slots in `overridden` have
    other words. With the `input_` of a call they have what that is passed on to. Few requests are
    made, and what others answer is followed within the steps of a request: what these do not
    suffice for counts as not answered by the node. Raises the errors of NodeSession, and BadHex.
    """
    words: list[dict[Read, bytes | None]] = [{**overridden.get(at, {})} for at, _, _ in proxies]
    results: list[Proxy | None] = [None] * len(proxies)
    waiting = dict.fromkeys(range(len(proxies)), _BELIEVED)  # with what is to be read next
    of_now = {index for index, (_, _, block) in enumerate(proxies) if block is None}
    steps = node.of_request(request_steps)
    for _ in range(REQUESTS):
        for index, believed in [*waiting.items()]:
            address, delegation, _ = proxies[index]
            state, missing = State(words[index], steps, input_), believed
            try:
                targets = state.targets(delegation.ways, address)
                if {*targets.depends_on} & _BY_FUNCTION and input_ is None:
                    missing = (*missing, _FACETS)
            except Missing as error:
                missing = (*missing, *error.args[0])
            except OutOfSteps:
                break
            waiting[index] = tuple(read for read in missing if read not in words[index])
            if not waiting[index]:
                proxy = _proxy(delegation, targets, state, words[index])
                results[index] = proxy and proxy._replace(is_of_now=index in of_now)
                del waiting[index]
        reads = [(index, read) for index, missing in waiting.items() for read in missing]
        try:
            steps.take(STEPS_OF_READ * len(reads))
        except OutOfSteps:
            break
        calls = [(_call(proxies[index][0], read), proxies[index][2]) for index, read in reads]
        answers, repeated = _read(node, calls)
        of_now |= {reads[position][0] for position in repeated}
        for (index, read), answer in zip(reads, answers, strict=True):
            words[index][read] = None if isinstance(answer, RpcError) else _bytes(read, answer)
        waiting = dict.fromkeys(waiting, ())
    if waiting:
        node.record_failed()
    return results


_BY_FUNCTION = {DATA, FUNCTION}


def _proxy(
    delegation: Delegation, targets: Targets, state: State, words: Mapping[Read, bytes | None]
) -> Proxy | None:
    facets = _addresses(words.get(_FACETS)) if {*targets.depends_on} <= _BY_FUNCTION else ()
    implementations = (targets.target,) if targets.target else facets
    if not implementations and not targets.depends_on:
        return None
    if not implementations:
        return Proxy(delegation.kind, b"", depends_on=targets.depends_on)
    kind = "eip2535" if facets else delegation.kind
    used = {*implementations, *(read.of for read in state.used)}
    believed = (_address(words[read]) for read in _BELIEVED)
    unused = next((address for address in believed if address and address not in used), b"")
    own = frozenset() if facets else delegation.own
    return Proxy(kind, implementations[0], implementations[1:], unused, own=own)


def _call(address: bytes, read: Read) -> tuple[str, tuple[object, ...]]:
    of = to_hex(read.of or address)
    if read == _FACETS:
        return "eth_call", ({"to": of, "data": to_hex(read.what), "gas": CALL_GAS},)
    if read.what == CHAIN_ID:
        return "eth_chainId", ()
    return (
        ("eth_getCode", (of,))
        if read.what == CODE
        else ("eth_getStorageAt", (of, to_hex(read.what)))
    )


def _bytes(read: Read, answer: object) -> bytes:
    """Return the bytes of an answer. Raises BadHex."""
    return quantity(answer).to_bytes(32) if read.what == CHAIN_ID else data(answer)


def _read(
    node: NodeSession, calls: Iterable[tuple[tuple[str, tuple[object, ...]], BlockId | None]]
) -> tuple[list[object], Sequence[int]]:
    """Return the results of calls after blocks, and the indexes of those that were made again
    on the newest state, as they failed there without a revert."""
    calls = list(calls)
    results: list[object] = node.results(
        [Call(*_after(call, block or "latest")) for call, block in calls], MAX_RESPONSE_BYTES
    )
    failed = [
        index
        for index, result in enumerate(results)
        if isinstance(result, RpcError) and not result.is_refusal and calls[index][1] is not None
    ]
    if any(isinstance(result, RpcError) and result.is_missing_block for result in results):
        node.record_failed()  # it is behind, or on another fork
    now = [Call(*_after(calls[index][0], "latest")) for index in failed]
    for index, result in zip(failed, node.results(now, MAX_RESPONSE_BYTES), strict=True):
        results[index] = result
    return results, failed


def _after(
    call: tuple[str, tuple[object, ...]], block: BlockId | str
) -> tuple[str, tuple[object, ...]]:
    method, params = call
    return method, params if method == "eth_chainId" else (*params, block)


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
