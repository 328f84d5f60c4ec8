"""The gas of calls alone, from a node's trace."""

import pytest

from scan.extensions.explanations.gas_use import gas_of_calls
from scan.extensions.explanations.transactions.trace_decoding import DecodedFrame
from scan.extensions.traces.transaction_traces import TraceFrame

pytestmark = pytest.mark.check

OUTER, INNER = bytes([7]) * 20, bytes([8]) * 20


def call(*path, to=INNER, gas, kind="CALL", data=b"\1\2\3\4"):
    amounts, returned = (0, None, gas), (b"", 0, None, False, None)
    frame = TraceFrame(path, kind, OUTER, to, *amounts, data, len(data), *returned)
    return DecodedFrame(frame, None, None, None, None)


@pytest.mark.parametrize(
    ("count", "own"),
    [(4, [650, 200, 100, 50]), (5, [None, 200, 100, None])],
    ids=["all calls", "without some, of whichever call"],
)
def test_own_gas_is_without_the_calls_inside(count, own):
    calls = call(to=OUTER, gas=1000), call(0, gas=300), call(0, 0, gas=100), call(1, gas=50)
    assert [gas.own for gas in gas_of_calls.gas_of_calls(calls, count)] == own


def test_a_failed_call_of_a_flat_trace_has_no_gas():
    calls = call(to=OUTER, gas=1000), call(0, gas=None), call(1, gas=50)
    known = gas_of_calls.gas_of_calls(calls, 3)
    assert [(gas.own, gas.total) for gas in known] == [(None, 1000), (None, None), (50, 50)]
    of_outer, of_inner = gas_of_calls.gas_by_function(known)
    assert (of_outer.own, of_outer.total, of_inner.own, of_inner.total) == (None, 1000, None, None)
    assert of_outer.record()["ownGas"] is None
    assert gas_of_calls.whole_gas(known) == 1000
    assert [box.call.total for box in gas_of_calls.boxes(known)] == [1000, 50]


def test_a_self_destruction_takes_none():
    calls = call(to=OUTER, gas=1000), call(0, gas=None, kind="SELFDESTRUCT")
    assert [gas.own for gas in gas_of_calls.gas_of_calls(calls, 2)] == [1000, 0]


def test_a_precompiled_contract_is_one_function():
    recover = bytes(19) + b"\1"
    calls = [
        call(to=OUTER, gas=1000),
        *(call(n, to=recover, gas=100, data=bytes([n]) * 128) for n in range(5)),
    ]
    _, of_recover = gas_of_calls.gas_by_function(gas_of_calls.gas_of_calls(calls, 6))
    assert (of_recover.calls, of_recover.selector, of_recover.own) == (5, b"", 500)
