"""What contracts hashed in a transaction, by a tracer in JavaScript that the node runs (geth,
Erigon, reth, anvil): keys of mappings that no argument or log has are among it."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers.step_tracers import bounded
from scan.extensions.internal_transfers.transaction_traces import TraceKind, TransactionTraces
from scan.hex import data

# A step takes the tracer some us; a million gas may be 240,000 steps.
MAX_GAS = 1_500_000
MAX_MS = 1_000
MAX_VALUES = 1_000
MOST_BYTES = 320  # of one that is kept: a key and a slot have 64, a string as a key more
TIMEOUT_S = 3.0
ENTRY_BYTES = 100
CACHE_BYTES = 4 * 1024 * 1024

_TRACER = """{
    known: {}, values: [],
    step: function(log, db) {
        if (log.op.toNumber() !== 32 || this.values.length >= MAX_VALUES) return;
        var start = parseInt(log.stack.peek(0).toString(10), 10);
        var size = parseInt(log.stack.peek(1).toString(10), 10);
        if (!(size > 32 && size <= MOST_BYTES && start + size <= log.memory.length())) return;
        var value = toHex(log.memory.slice(start, start + size));
        if (this.known[value]) return;
        this.known[value] = true;
        this.values.push(value);
    },
    fault: function(log, db) {},
    result: function(context, db) { return this.values; }
}"""
TRACER = bounded(_TRACER, MAX_MS, MAX_VALUES=MAX_VALUES, MOST_BYTES=MOST_BYTES)
WAYS = (("debug_traceTransaction", TRACER),)
HashedValues = Sequence[bytes]


def _read(_indexed: IndexedTransaction, _method: str, answer: Any) -> HashedValues:
    return read_values(answer)


def read_values(answer: Sequence[Any]) -> HashedValues:
    """Read the tracer's result. Raises BadHex, ValueError where it is malformed."""
    values = [data(value) for value in answer[:MAX_VALUES]]
    if any(len(value) > MOST_BYTES for value in values):
        raise ValueError("a value is longer than the tracer returns")
    return values


def _size_of(values: HashedValues) -> int:
    return ENTRY_BYTES + sum(ENTRY_BYTES + len(value) for value in values)


HASHED_VALUES = TraceKind(
    "hashed", WAYS, lambda _, answer: isinstance(answer, list), _read, _size_of, CACHE_BYTES
)


def read(
    traces: TransactionTraces, node: NodeSession, sent: IndexedTransaction, gas_used: int
) -> HashedValues:
    """Return what contracts hashed in a transaction; nothing of one above MAX_GAS. Raises as
    TransactionTraces.read() does."""
    if gas_used > MAX_GAS:
        return ()
    values: HashedValues = traces.read(node.within(TIMEOUT_S), sent, HASHED_VALUES)
    return values
