"""The input of the creation of a contract, in traces that have more, less or nothing of it."""

import pytest

from scan.ethereum import transaction_reader
from scan.extensions.traces import block_traces, transaction_traces

pytestmark = pytest.mark.check

MADE, OTHER = b"\x11" * 20, b"\x22" * 20


def frame(kind, to, data, *, size=None, is_undone=False):
    size = len(data) if size is None else size
    return transaction_traces.TraceFrame(
        (0,), kind, OTHER, to, 0, None, None, data, size, b"", 0, None, is_undone, None
    )


CALL = frame("CALL", MADE, b"call")
FIRST, LAST = (frame(kind, MADE, kind.encode()) for kind in ("CREATE", "CREATE2"))


@pytest.mark.parametrize(
    ("frames", "left_out", "expected"),
    [
        ([CALL, FIRST, CALL], 0, b"CREATE"),
        ([FIRST, LAST], 0, b"CREATE2"),
        ([FIRST, LAST._replace(is_undone=True)], 0, b"CREATE"),
        ([FIRST, frame("CREATE", OTHER, b"other"), frame("CREATE", None, b"failed")], 0, b"CREATE"),
        ([CALL, frame("CREATE", OTHER, b"other")], 0, None),
        ([], 0, None),
        ([FIRST], 1, None),  # the last creation may be among the calls that were left out
        ([FIRST._replace(input_size=9)], 0, None),
    ],
)
def test_the_input_of_the_last_creation_by_a_whole_trace(monkeypatch, frames, left_out, expected):
    trace = transaction_traces.TransactionTrace(frames, len(frames) + left_out, left_out > 0, None)
    monkeypatch.setattr(transaction_traces.TransactionTraces, "read", lambda *_: trace)
    indexed = transaction_reader.IndexedTransaction("0x", 1, "0x", 0, None)
    node = None  # no node is asked
    assert block_traces.TracedInputs("auto").input_of(node, indexed, MADE) == expected
