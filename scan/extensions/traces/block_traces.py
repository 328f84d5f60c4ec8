"""Internal transfers and created contracts, from a node's traces of blocks and transactions, with
the code by which a contract created another."""

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, takewhile
from typing import Any

from scan.ethereum import client, request_node
from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.ethereum.node_errors import Retries
from scan.ethereum.served_chain import BlockId
from scan.ethereum.sparse_tables import InternalTransfer
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.traces import step_traces, trace_checks, transaction_traces
from scan.extensions.traces.traces import (
    BlockTraces,
    read_call_trace,
    read_call_traces,
    read_flat_trace,
    read_flat_traces,
    result_of,
)
from scan.extensions.traces.transaction_traces import or_pruned
from scan.hex import BadHex, quantity, to_hex
from scan.indexer import hooks
from scan.verification.hooks import CreationInput

log = logging.getLogger(__name__)

TRACE_TIMEOUT_S = 10.0  # of one block or transaction; a node's own limit is 5 s by default (geth)
# Transactions of a block that the node fails to trace, after which no more are requested: many
# would hold up the head for as many time-outs.
MOST_UNTRACED = 4
MAX_TRANSFERS = 50_000  # of one read(), which returns fewer blocks beyond that
# With callTracer, as flat traces, and by debug_traceTransaction without a tracer.
TRACERS = ("debug", "trace", "steps")
METHODS = {"debug": "debug_traceBlockByHash", "trace": "trace_block"}
CALL_TRACER = {"tracer": "callTracer"}
NEWEST = {
    "debug": client.Call("debug_traceBlockByNumber", ("latest", CALL_TRACER)),
    "trace": client.Call("trace_block", ("latest",)),
}
STEPS = {"disableMemory": True, "disableStorage": True}
# The bound on a transaction's trace: 100,000 calls, or some 80,000 steps. Larger ones are not read.
MAX_TRACE_BYTES = 32 * 1024 * 1024


class IncompleteTraces(BlockTraces):
    """Traces that lack transfers or created contracts."""


UNTRACED = hooks.TracedBlock([], [], False)


class TraceRefused(client.NodeError):
    """The node refuses the traces of a block, or has false ones."""


class _Late(client.RpcError):
    """No answer in time, in place of a trace."""


def _parent(block: DecodedBlock) -> BlockId:
    return BlockId(block.number - 1, block.parent_hash)


def _is_failed(entry: Any) -> bool:
    """Return whether an entry of a block's traces has an error in place of a transaction's trace,
    as after geth's time-out."""
    return isinstance(entry, dict) and bool(entry.get("error")) and "result" not in entry


class NodeTraceReader(hooks.TraceReader):
    """Reads traces, and remembers which methods the node offers."""

    def __init__(self, node: client.Node, large_lock: threading.Lock, traces: str) -> None:
        self._node = node
        self._balances = trace_checks.SpenderBalances(node)
        self._access_lists = trace_checks.AccessLists(node)
        self._large_lock = large_lock  # held while a large response is read and decoded
        self._tracers: tuple[str, ...] = TRACERS if traces == "auto" else ()
        self._has_traced = False
        # The hashes of blocks that a tracer failed at before it traced any.
        self._failed_blocks: dict[str, set[bytes]] = defaultdict(set)
        self._slow_blocks: set[bytes] = set()  # hashes; traced by transactions alone

    @property
    def can_trace(self) -> bool:
        return bool(self._tracers)

    def read(self, blocks: list[DecodedBlock]) -> list[hooks.TracedBlock]:
        tracers = self._tracers  # other threads may remove one meanwhile
        if not tracers:
            return super().read(blocks)
        with_code = [block for block in blocks if block.ran_code]
        traced = {b.number: hooks.TracedBlock([], [], None) for b in blocks if not b.ran_code}
        if tracers == ("steps",):
            for block in with_code:
                traced[block.number] = self._verified("steps", block, None)
        elif with_code:
            transfers = 0
            slow = [block for block in with_code if block.hash in self._slow_blocks]
            others = [block for block in with_code if block.hash not in self._slow_blocks]
            late = ((b, client.AnswerTooLarge(0, "it took too long before")) for b in slow)
            for block, answer in chain(self._block_traces(tracers[0], others), late):
                if self._is_unsupported(tracers[0], block, answer):
                    log.info("the node does not offer %s: %s", METHODS[tracers[0]], answer)
                    self._tracers = tuple(t for t in self._tracers if t != tracers[0])
                    return self.read(blocks)
                traced[block.number] = self._verified(tracers[0], block, answer)
                transfers += len(traced[block.number].transfers)
                if transfers > MAX_TRANSFERS:
                    break
        leading = takewhile(lambda block: block.number in traced, blocks)
        read = [completed_by_logs(block, traced[block.number]) for block in leading]
        return read or self.read(blocks[:1])

    def without_traces(self, block: DecodedBlock) -> hooks.TracedBlock:
        return completed_by_logs(block, super().without_traces(block))

    def _verified(self, tracer: str, block: DecodedBlock, answer: Any) -> hooks.TracedBlock:
        """Return a block's traces. Where they are refused, those of this block alone are read
        again, TRACE_ATTEMPTS times in all: other blocks were read together with it."""
        retries = Retries()
        for _ in range(hooks.TRACE_ATTEMPTS - 1):
            try:
                return self._read_traces(tracer, block, answer)
            except TraceRefused as error:
                self._node.rest()
                time.sleep(retries.pause_s(error))
            if tracer != "steps" and block.hash not in self._slow_blocks:
                [(_, answer)] = self._block_traces(tracer, [block])
        return self._read_traces(tracer, block, answer, is_last=True)

    def _read_traces(
        self, tracer: str, block: DecodedBlock, answer: Any, *, is_last: bool = False
    ) -> hooks.TracedBlock:
        """Return a block's traces, UNTRACED where the node will never trace it. Raises TraceRefused
        where the node refuses, or transactions or proven balances contradict it, unless this
        `is_last`."""
        entries = answer if tracer == "debug" and isinstance(answer, list) else []
        is_cut = (
            isinstance(answer, client.AnswerTooLarge)
            or any(_is_failed(entry) for entry in entries)
            or (is_last and isinstance(answer, client.RpcError))
        )
        try:
            if tracer == "steps" or is_cut:
                traced = self._of_transactions(tracer, block, answer, is_last)
            elif self._is_traced(block, answer, is_last):
                self._has_traced = True
                read = read_call_traces if tracer == "debug" else read_flat_traces
                traces = read(block, answer)
                traced = hooks.TracedBlock(
                    traces.created,
                    traces.transfers,
                    True,
                    traces.failed,
                    traces.destroyed,
                    traces.called,
                    delegated=traces.delegated,
                )
            else:
                return UNTRACED
            traced = traced._replace(transfers=self._true_transfers(block, traced.transfers))
            if block.coin_logs and traced.is_complete:
                trace_checks.require_logged(block, traced.transfers)
            leading, known = _up_to_unknown(block, traced)
            balances = self._balances.before(leading, known)
            trace_checks.require_spendable(leading, known.transfers, balances)
            recorded = self._access_lists.read(leading, known)
            trace_checks.require_recorded(leading, known.transfers, recorded)
            return traced
        except trace_checks.ContradictingTraces as error:
            _require_last(block, error, is_last)
            return UNTRACED

    def _true_transfers(
        self, block: DecodedBlock, transfers: list[InternalTransfer]
    ) -> list[InternalTransfer]:
        """Return the transfers without false_destructions(), for which hardly any block needs
        balances."""
        doubtful = trace_checks.doubtful_destructions(block, transfers)
        if not doubtful:
            return transfers
        senders = [] if block.coin_logs else sorted({t.from_address for t in doubtful})
        senders = senders[: trace_checks.MOST_DOUBTFUL]
        ends = BlockId(block.number, block.hash), _parent(block)
        calls = [client.Call("eth_getBalance", (to_hex(s), at)) for s in senders for at in ends]
        gained = {}
        try:
            read = [*map(quantity, self._node.results(calls, trace_checks.BALANCES_TIMEOUT_S))]
            gained = {s: read[2 * n] - read[2 * n + 1] for n, s in enumerate(senders)}
        except (client.NodeError, BadHex) as error:
            log.warning(
                "block %d: what is doubtful in its traces is left out: %s", block.number, error
            )
        false = trace_checks.false_destructions(block, transfers, doubtful, gained)
        return [transfer for transfer in transfers if transfer not in false]

    def _block_traces(
        self, tracer: str, blocks: list[DecodedBlock]
    ) -> Iterator[tuple[DecodedBlock, Any]]:
        """Yield blocks with their traces, or with AnswerTooLarge, also where tracing times out."""
        method, is_debug = METHODS[tracer], tracer == "debug"
        parameters = [
            (to_hex(b.hash), CALL_TRACER) if is_debug else (hex(b.number),) for b in blocks
        ]
        calls = [client.Call(method, of_block) for of_block in parameters]
        timeout_s = TRACE_TIMEOUT_S if len(blocks) == 1 else None
        read_count = 0
        try:
            for answer in self._node.results(calls, timeout_s, client.MAX_ANSWER_BYTES):
                block = blocks[read_count]
                read_count += 1
                yield block, or_pruned(answer, _parent(block), self._node.results)
        except client.TimedOut as error:
            if len(blocks) == 1:
                self._slow_blocks.add(blocks[0].hash)
                yield blocks[0], client.AnswerTooLarge(0, str(error))
                return
            for block in blocks[read_count:]:
                yield from self._block_traces(tracer, [block])

    def _of_transactions(
        self, tracer: str, block: DecodedBlock, block_answer: Any, is_last: bool
    ) -> hooks.TracedBlock:
        """Trace a block by its transactions, where the block's own trace is too large or refused,
        or has errors in place of some entries, of which the others are taken."""
        entries = block_answer if isinstance(block_answer, list) else []
        is_refused = isinstance(block_answer, client.RpcError) and not isinstance(
            block_answer, client.AnswerTooLarge
        )
        created: list[bytes] = []
        destroyed: tuple[bytes, ...] = ()
        called: frozenset[bytes] = frozenset()
        delegated: dict[tuple[bytes, bytes], bytes | None] = {}
        transfers: list[InternalTransfer] = []
        failed: frozenset[int] = frozenset()
        unknown = set[int]()
        failures = 0
        read = {"debug": read_call_trace, "trace": read_flat_trace, "steps": _read_steps}[tracer]
        for transaction in filter(lambda transaction: transaction.ran_code, block.transactions):
            index, traces = transaction.transaction_index, None
            with self._large_lock:
                answer = None
                if index < len(entries) and not _is_failed(entries[index]):
                    answer = result_of(transaction, block, entries[index])
                elif failures < MOST_UNTRACED:
                    answer = self._transaction_trace(tracer, transaction.hash)
                    answer = or_pruned(answer, _parent(block), self._node.results)
                if tracer == "steps" and self._is_unsupported(tracer, block, answer):
                    log.info("the node does not trace transactions: %s", answer)
                    self._tracers = ()
                    return UNTRACED
                if isinstance(answer, client.AnswerTooLarge):
                    hash_ = to_hex(transaction.hash)
                    log.warning("transaction %s cannot be traced: %s", hash_, answer.message)
                elif answer is not None and self._is_traced(block, answer, is_last):
                    traces = read(block, transaction, answer)
                    created += traces.created
                    destroyed += traces.destroyed
                    called |= traces.called
                    delegated |= traces.delegated
                    transfers += traces.transfers
                    failed |= traces.failed
                    self._has_traced = self._has_traced or not is_refused
                else:
                    has_state = not getattr(answer, "is_missing_state", False)
                    is_over = isinstance(answer, _Late) or not has_state
                    failures += MOST_UNTRACED if is_over else 1
            if traces is None or isinstance(traces, IncompleteTraces):
                unknown.add(index)
        if not unknown:
            return hooks.TracedBlock(
                created, transfers, True, failed, destroyed, called, delegated=delegated
            )
        # What the unknown ones moved would tell whether these moved anything.
        doubtful = trace_checks.doubtful_destructions(block, transfers)
        unknown.update(transfer.transaction_index for transfer in doubtful)
        known = frozenset(t.transaction_index for t in block.transactions) - unknown
        if not any(t.ran_code for t in block.transactions if t.transaction_index in known):
            known = frozenset()
        moved = [transfer for transfer in transfers if transfer.transaction_index in known]
        return hooks.TracedBlock(created, moved, False, failed, destroyed, called, known)

    def _transaction_trace(self, tracer: str, transaction_hash: bytes) -> Any:
        hash_ = to_hex(transaction_hash)
        call = {
            "steps": client.Call("debug_traceTransaction", (hash_, STEPS)),
            "debug": client.Call("debug_traceTransaction", (hash_, CALL_TRACER)),
            "trace": client.Call("trace_transaction", (hash_,)),
        }[tracer]
        try:
            [answer] = self._node.results([call], TRACE_TIMEOUT_S, MAX_TRACE_BYTES)
        except client.TimedOut as error:
            return _Late(0, str(error))
        return answer

    def _is_unsupported(self, tracer: str, block: DecodedBlock, answer: Any) -> bool:
        """Return whether the node has no such method, or has failed at several blocks from the
        start and at its newest one. A node that has pruned old state is not unsupported: it may
        trace new blocks."""
        if tracer not in self._tracers:  # as another thread has found meanwhile
            return True
        entries = answer if tracer == "debug" and isinstance(answer, list) else ()
        if any(isinstance(e, dict) and "structLogs" in (e.get("result") or ()) for e in entries):
            return True  # the node ignores the tracer without an error
        if not isinstance(answer, client.RpcError) or isinstance(answer, client.AnswerTooLarge):
            return False
        if self._has_traced or answer.is_missing_state:
            return False
        self._failed_blocks[tracer].add(block.hash)
        if answer.is_missing_method or len(self._failed_blocks[tracer]) < hooks.TRACE_ATTEMPTS:
            return answer.is_missing_method
        if (newest := NEWEST.get(tracer)) is None:
            return True
        try:
            [answer] = self._node.results([newest], TRACE_TIMEOUT_S, client.MAX_ANSWER_BYTES)
        except client.TimedOut as error:
            answer = client.AnswerTooLarge(0, str(error))
        is_large = isinstance(answer, client.AnswerTooLarge)
        self._has_traced = is_large or (isinstance(answer, list) and len(answer) > 0)
        return not self._has_traced

    def _is_traced(self, block: DecodedBlock, answer: Any, is_last: bool) -> bool:
        """Return whether an answer has traces; False if the node will never trace the block. Raises
        TraceRefused if a retry may succeed."""
        if isinstance(answer, list | dict):
            return True
        if not (isinstance(answer, client.RpcError) and answer.is_missing_state):
            _require_last(block, answer, is_last)
        return False


def _require_last(block: DecodedBlock, reason: object, is_last: bool) -> None:
    """Log that a block has no traces. Raises TraceRefused where that is not the last attempt."""
    if not is_last:
        raise TraceRefused(f"the node cannot trace block {block.number} now: {reason}")
    log.warning("block %d cannot be traced: %s", block.number, reason)


def _up_to_unknown(
    block: DecodedBlock, traced: hooks.TracedBlock
) -> tuple[DecodedBlock, hooks.TracedBlock]:
    """Return what can be compared with balances: where some traces are unknown, the transactions up
    to the first of these, which may have paid anybody."""
    if traced.is_complete is not False:
        return block, traced
    leading = [*takewhile(lambda t: t.transaction_index in traced.known, block.transactions)]
    transfers = [t for t in traced.transfers if t.transaction_index < len(leading)]
    return block._replace(transactions=leading), traced._replace(transfers=transfers)


def completed_by_logs(block: DecodedBlock, traced: hooks.TracedBlock) -> hooks.TracedBlock:
    """Return the traces; where they are not complete, with the transfers by logs of coin, if the
    block has such logs (EIP-7708)."""
    if traced.is_complete or not block.coin_logs:
        return traced
    return traced._replace(transfers=trace_checks.logged_transfers(block), known=frozenset())


def _read_steps(block: DecodedBlock, transaction: DecodedTransaction, answer: Any) -> BlockTraces:
    if not block.has_statuses and answer.get("failed") is True:
        return BlockTraces([], [], frozenset((transaction.transaction_index,)))
    try:
        frame, is_complete = step_traces.read_steps(transaction, answer["structLogs"])
    except (BadHex, KeyError, TypeError, IndexError, ValueError) as error:
        hash_ = to_hex(transaction.hash)
        log.warning("the steps of transaction %s cannot be read: %r", hash_, error)
        return IncompleteTraces([], [])
    traces = read_call_trace(block, transaction, frame)
    return traces if is_complete else IncompleteTraces(*traces)


_KIND = transaction_traces.CALL_TRACE._replace(cache_bytes=transaction_traces.CACHE_BYTES // 8)


class TracedInputs:
    """Reads the input of creations from traces."""

    def __init__(self, traces: str) -> None:
        """`traces` is as SCAN_TRACES."""
        self._traces = transaction_traces.TransactionTraces(traces)

    def input_of(
        self, node: request_node.NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None:
        """Return the input of the transaction's last creation at an address; None if there is none,
        or its trace was cut. Raises what TransactionTraces.read() does."""
        trace: transaction_traces.TransactionTrace = self._traces.read(node, indexed, _KIND)
        return trace.creation_input(address)


HOOKS = (hooks.BlockTraces(reader=NodeTraceReader), CreationInput(reader=TracedInputs))
