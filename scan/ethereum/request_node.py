"""The node for requests of clients: who may call it, how many at once, and for how long; state at
an indexed block, which only nodes that keep history have; and which blocks are safe and finalized.

A node that does not answer delays only the requests that need it: a request has one budget of time
for all its calls, few threads wait at once, other requests wait for their turn without a thread,
and while the node is known to be away only one probe waits.
"""

import logging
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from scan.cached_values import SizedCache
from scan.errors import HistoryUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.client import Call, Node, NodeError, RpcError, StateUnavailable, WrongChain
from scan.ethereum.node_errors import TimedOut
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, data, quantity, to_hex

T = TypeVar("T")
log = logging.getLogger(__name__)
# Of one request, for all its calls: less than others wait for its place (QUEUED_S).
BUDGET_S = 6.0
PROBE_TIMEOUT_S = 3.0  # a node 500 ms away takes 1.5 s with the check of its chain
SMALL_TRACE = Call("debug_traceCall", ({"to": to_hex(bytes(20))}, "latest", {}))
CHECK_TIMEOUT_S = 5.0
RETRY_AFTER_S = 5
MOST_BYTES = 32 * 1024 * 1024  # of one answer
MOST_BYTES_IN_ALL = 2 * MOST_BYTES  # of the answers to one read, parsed up to five times as many
MOST_KEPT = 20  # results of calls, of a request
WORD = len("0x") + 2 * 32
NO_NODE = "This service has no node (RPC_URL), which this needs."
NOT_ANSWERING = "The node does not respond; try again shortly."
OTHER_FORK = "The node does not have the state of this block now; try again shortly."
OTHER_CHAIN = "The node serves another chain than is indexed; its operator has to correct that."
TOO_LATE = "The node did not respond in time; try again shortly."
# Of an eth_call: in 10 million gas a node computes for about as long as it reads a few balances.
MOST_ORDINARY_GAS = 10_000_000
_COSTLY_METHODS = ("debug_", "trace_", "eth_estimateGas", "eth_simulate")


def is_costly(call: Call) -> bool:
    """Return whether a call may take the node seconds."""
    if call.method != "eth_call":
        return call.method.startswith(_COSTLY_METHODS)
    gas = cast(Mapping[str, str], call.params[0]).get("gas")
    return gas is None or int(gas, 16) > MOST_ORDINARY_GAS


class NodeAway(Unavailable):
    """The node did not respond to the last request; another request tests whether it is back. Or
    there is none."""

    def __init__(self, message: str = NOT_ANSWERING) -> None:
        super().__init__(message, retry_after_s=RETRY_AFTER_S)


class NodeTimedOut(UpstreamFailed):
    """A call was not answered in its time; the node may answer a smaller one."""


class Places(Protocol):
    """Threads that may wait; see WaitingThreads in scan/concurrency/."""

    def place_in_turn(
        self, client: Hashable, *, is_optional: bool
    ) -> AbstractContextManager[None]: ...

    def costly_place_in_turn(
        self, client: Hashable, *, is_optional: bool
    ) -> AbstractContextManager[None]: ...

    def have_one_costly_place(self, is_one: bool) -> None: ...

    def refusal(self, client: Hashable) -> Unavailable | None: ...


class NodeGateway:
    """The node's state, shared by all requests of the process."""

    def __init__(self, node: Node, places: Places) -> None:
        self._node = node
        self._places = places
        self._is_away = False
        self._may_be_tracing = False  # for nobody
        self._answered_at = 0.0
        self._probing = threading.Lock()

    def session(self, client: Hashable, *, is_optional: bool = True) -> "NodeSession":
        """Return a session for one request, whose budget of time begins now. A request waits for
        its turn only with a session that is not `is_optional`."""
        return NodeSession(self, client, time.monotonic() + BUDGET_S, _Outcome(is_optional))

    @property
    def wrong_chain(self) -> str:
        """Why a node is refused that serves another chain; "" where none is known to."""
        return self._node.wrong_chain

    def check_chains(self) -> None:
        """Learn of each node whether it serves the chain of the index. Requests never wait for
        this, but find out for themselves."""
        self._node.check_chains(CHECK_TIMEOUT_S)

    def refusal(self, client: Hashable) -> Unavailable | None:
        """Return the error with which a call would fail at once, None if none; never wait."""
        if self._is_known_away():
            return NodeAway()
        return self._places.refusal(client)

    def place(
        self, client: Hashable, *, is_optional: bool = True, is_costly: bool = False
    ) -> AbstractContextManager[None]:
        """Hold one of the places of threads that wait; see WaitingThreads."""
        places = self._places
        in_turn = places.costly_place_in_turn if is_costly else places.place_in_turn
        return in_turn(client, is_optional=is_optional)

    @contextmanager
    def node_for(
        self, client: Hashable, *, is_optional: bool, is_costly: bool = False
    ) -> Iterator[Node]:
        """Yield the node for one request to it. A NodeError raised inside becomes UpstreamFailed.

        Raises Unavailable at once where the node is known to be away, and as place() does.
        """
        if not self._node.is_configured:
            raise NodeAway(NO_NODE)
        if self._is_known_away():
            raise NodeAway
        with self.place(client, is_optional=is_optional, is_costly=is_costly):
            began_at = time.monotonic()
            try:
                if self._is_away:
                    # A cheap call tells whether the node is back: a client's own call, which may be
                    # slow, must not decide how long others are rejected.
                    if not self._probing.acquire(blocking=False):
                        raise NodeAway
                    try:
                        self._node.once([Call("eth_chainId", ())], PROBE_TIMEOUT_S)
                        self._is_away = False
                    finally:
                        self._probing.release()
                if is_costly and self._may_be_tracing:
                    # Of a node that traces one at a time, this waits for what it is at. No more
                    # is given to it before.
                    self._node.once([SMALL_TRACE], BUDGET_S)
                    self._set_may_be_tracing(False)
                yield self._node
                self._answered_at = time.monotonic()
            except StateUnavailable:  # the node answers, so it is not away
                raise UpstreamFailed(OTHER_FORK, retry_after_s=RETRY_AFTER_S) from None
            except WrongChain:
                raise UpstreamFailed(OTHER_CHAIN, retry_after_s=RETRY_AFTER_S) from None
            except NodeError as error:
                # One that has answered others meanwhile is slow with what this client asks for, and
                # of one that had little time it is not known.
                is_late = isinstance(error, TimedOut)
                if is_late and is_costly:
                    self._set_may_be_tracing(True)
                had_time = not is_late or time.monotonic() - began_at >= PROBE_TIMEOUT_S
                self._is_away = self._is_away or (had_time and self._answered_at < began_at)
                retry_after_s = max(RETRY_AFTER_S, int(error.retry_after_s or 0))
                kind = NodeTimedOut if is_late else UpstreamFailed
                raise kind(NOT_ANSWERING, retry_after_s=retry_after_s) from None

    def _set_may_be_tracing(self, may_be: bool) -> None:
        if self._may_be_tracing != may_be:
            self._may_be_tracing = may_be
            self._places.have_one_costly_place(may_be)

    def _is_known_away(self) -> bool:
        return self._is_away and self._probing.locked()


@dataclass
class _Outcome:
    is_optional: bool  # so that the request does not wait for its turn
    failed: bool = False
    called: list[tuple[Call, str]] = field(default_factory=list)


class NodeSession:
    """The node for one request: for one client, until one deadline.

    Methods that call the node raise UpstreamFailed where it does not answer, and Unavailable where
    it is not called, because too many wait for it or it is known to be away.
    """

    def __init__(
        self, gateway: NodeGateway, client: Hashable, ends_at: float, outcome: _Outcome
    ) -> None:
        self._gateway = gateway
        self._client = client
        self._ends_at = ends_at
        self._outcome = outcome

    @property
    def failed(self) -> bool:
        """Whether a call of this request failed that may succeed in another request."""
        return self._outcome.failed

    @property
    def called(self) -> Sequence[tuple[Call, str]]:
        """The first MOST_KEPT calls of contracts that have returned a word, each with it."""
        return self._outcome.called

    def record_failed(self) -> None:
        """Count a call as failed whose result is malformed, or that is not repeated yet."""
        self._outcome.failed = True

    def within(self, seconds: float) -> "NodeSession":
        """Return the same session with an earlier deadline."""
        ends_at = min(self._ends_at, time.monotonic() + seconds)
        return NodeSession(self._gateway, self._client, ends_at, self._outcome)

    def left_s(self) -> float:
        return self._ends_at - time.monotonic()

    def acquire(self, lock: threading.Lock) -> None:
        """Acquire a lock that another request may hold while it makes costly calls.

        Waiting takes one of their places. Raises UpstreamFailed at the deadline.
        """
        if lock.acquire(blocking=False):
            return
        try:
            is_optional = self._outcome.is_optional
            with self._gateway.place(self._client, is_optional=is_optional, is_costly=True):
                if not lock.acquire(timeout=max(self.left_s(), 0.0)):
                    raise UpstreamFailed(TOO_LATE)
        except (UpstreamFailed, Unavailable):
            self._outcome.failed = True
            raise

    def call(self, method: str, *params: object, most_bytes: int = MOST_BYTES) -> Any:
        """Return the result of one call. Raises RpcError, or AnswerTooLarge above `most_bytes`."""
        [result] = self.results([Call(method, params)], most_bytes)
        if isinstance(result, RpcError):
            raise result
        return result

    def batch(self, calls: Sequence[Call], most_bytes: int = MOST_BYTES) -> list[Any]:
        """Return the results in the order of the calls. Raises RpcError if one fails,
        AnswerTooLarge if one, or all together, are above `most_bytes`."""
        results = self._call_node(calls, lambda node: node.batch(calls, self._time_s(), most_bytes))
        refusal = next((result for result in results if isinstance(result, RpcError)), None)
        if refusal is not None:
            raise refusal
        return results

    def results(
        self, calls: Sequence[Call], most_bytes: int = MOST_BYTES, most_in_all: int | None = None
    ) -> list[Any]:
        """Return the results in the order of the calls, with an RpcError in place of the result of
        a call that failed, AnswerTooLarge where its response alone is above `most_bytes`, or those
        before it are above `most_in_all`, by default MOST_BYTES_IN_ALL."""
        if not calls:
            return []

        def read(node: Node) -> list[Any]:
            in_all = MOST_BYTES_IN_ALL if most_in_all is None else most_in_all
            return [*node.results(calls, self._time_s(), most_bytes, in_all)]

        return self._call_node(calls, read)

    def _call_node(self, calls: Sequence[Call], read: Callable[[Node], list[Any]]) -> list[Any]:
        is_optional, costly = self._outcome.is_optional, any(map(is_costly, calls))
        try:
            self._time_s()
            with self._gateway.node_for(
                self._client, is_optional=is_optional, is_costly=costly
            ) as node:
                results = read(node)
        except (UpstreamFailed, Unavailable):
            self._outcome.failed = True
            raise
        if len(self._outcome.called) < MOST_KEPT:
            self._outcome.called += [
                (call, result)
                for call, result in zip(calls, results, strict=True)
                if call.method == "eth_call" and isinstance(result, str) and len(result) == WORD
            ][: MOST_KEPT - len(self._outcome.called)]
        errors = [result for result in results if isinstance(result, RpcError)]
        if any(error.is_transient for error in errors):
            self._outcome.failed = True
        rejected = [e for e in errors if not (e.is_refusal or e.is_missing_state)]
        if rejected:
            log.info("the node rejected a call: %s", rejected[0])
        return results

    def _time_s(self) -> float:
        left_s = self.left_s()
        if left_s <= 0:
            raise NodeTimedOut(TOO_LATE)
        return left_s


def read(
    node: NodeSession, block: BlockId, calls: Sequence[Call], most_bytes: int = MOST_BYTES
) -> list[Any]:
    """Return the results of calls whose parameters name `block`, in their order, with an RpcError
    where a call is refused for another reason than the block's age.

    Raises HistoryUnavailable where the node has the block but not its state, UpstreamFailed where
    it does not have the block, and the errors of NodeSession.
    """
    results = node.results(calls, most_bytes)
    refusals = [result for result in results if isinstance(result, RpcError)]
    if any(refusal.is_missing_state for refusal in refusals):
        raise HistoryUnavailable(
            f"The node does not keep the state of block {block.number}: that needs an archive node."
            " Ask for a newer block, or leave block out."
        )
    if any(refusal.is_missing_block for refusal in refusals):
        raise UpstreamFailed(f"The node does not have block {block.number} now; try again shortly.")
    return results


TIMEOUT_S = 0.5
PAUSE_S = 10.0  # after a node that did not answer in time: others do not wait for it
MOST_HEADER_BYTES = 4 * 1024 * 1024
CACHE_BYTES = 16 * 1024
ENTRY_BYTES = 400
TAGS = ("safe", "finalized")


class Finality(NamedTuple):
    """The numbers of the newest safe and finalized blocks; None where the chain has none, or the
    node does not answer."""

    safe: int | None = None
    finalized: int | None = None


class FinalityReader:
    """The node alone says which blocks are final. It is believed where the blocks that it names are
    indexed ones, or later ones of a chain that has the newest indexed one; a block that was called
    finalized stays so while it is indexed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._cache: SizedCache[Finality] = SizedCache(CACHE_BYTES)
        self._paused_until = 0.0
        self._finalized: BlockId | None = None

    @property
    def is_paused(self) -> bool:
        """Whether the node did not answer just now, and is not asked."""
        return self._clock() < self._paused_until

    def at(
        self, node: NodeSession, newest_block: int, hash_at: Callable[[int], bytes | None]
    ) -> Finality:
        """Return the finality while `newest_block` is the newest indexed block, and no block above
        it. `hash_at` returns the hash of an indexed block by its number."""
        cached = self._cache.get(newest_block)
        if cached is not None:
            return cached
        known = self._finalized
        if known and hash_at(known.number) != known.hash:
            known = self._finalized = None
        before = Finality(None, min(known.number, newest_block)) if known else Finality()
        if self.is_paused:
            return before
        numbers = (*TAGS, "latest", hex(newest_block))
        calls = [Call("eth_getBlockByNumber", (number, False)) for number in numbers]
        try:
            results = node.within(TIMEOUT_S).results(calls, MOST_HEADER_BYTES)
            safe, finalized, latest, newest = map(_block_in, results)
            for block in filter(None, (safe, finalized)):
                of_chain = block if block.number <= newest_block else newest
                is_above_head = latest is not None and block.number > latest.number
                if (
                    is_above_head
                    or of_chain is None
                    or hash_at(of_chain.number) != of_chain.hash
                    or (finalized is not None and finalized.number > block.number)
                ):
                    node.record_failed()
                    return before
        except Unavailable:
            return before
        except UpstreamFailed:
            self._paused_until = self._clock() + PAUSE_S
            return before
        except (TypeError, KeyError, BadHex):
            node.record_failed()
            return before
        if finalized and (before.finalized is None or finalized.number > before.finalized):
            number = min(finalized.number, newest_block)
            if (hash_ := hash_at(number)) is not None:
                self._finalized = BlockId(number, hash_)
                before = Finality(None, number)
        read = Finality(
            safe and max(min(safe.number, newest_block), before.finalized or 0), before.finalized
        )
        if not any(isinstance(result, RpcError) and result.is_transient for result in results):
            self._cache.store(newest_block, read, ENTRY_BYTES)
        return read


def _block_in(result: Any) -> BlockId | None:
    """Return the block in a result; None for null and an error. Raises TypeError, KeyError and
    BadHex."""
    if result is None or isinstance(result, RpcError):
        return None
    return BlockId(quantity(result["number"]), data(result["hash"], 32))
