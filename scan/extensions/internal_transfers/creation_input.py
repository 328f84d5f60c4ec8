"""The code that created a contract, where a contract created it."""

from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.internal_transfers import transaction_traces
from scan.extensions.internal_transfers.traces import is_creation
from scan.verification.hooks import CreationInput

_KIND = transaction_traces.CALL_TRACE._replace(cache_bytes=transaction_traces.CACHE_BYTES // 8)


class TracedInputs:
    """Reads the input of creations from traces."""

    def __init__(self, traces: str) -> None:
        """`traces` is as SCAN_TRACES."""
        self._traces = transaction_traces.TransactionTraces(traces)

    def input_of(
        self, node: NodeSession, indexed: IndexedTransaction, address: bytes
    ) -> bytes | None:
        """Return the input of the last creation at the address; None if there is none, or the trace
        was cut. Raises as TransactionTraces.calls() does."""
        trace: transaction_traces.TransactionTrace = self._traces.read(node, indexed, _KIND)
        frames = [
            frame
            for frame in trace.frames
            if is_creation(frame.type) and frame.to_address == address and not frame.is_undone
        ]
        is_whole = trace.frame_count == len(trace.frames) and bool(frames)
        if not is_whole or frames[-1].input_size != len(frames[-1].input):
            return None
        return frames[-1].input


HOOKS = CreationInput(reader=TracedInputs)
