"""Steps read into the frames that the node's own callTracer gives, for every transaction."""

import pytest

from scan.ethereum.block_decoder import decode_block
from scan.extensions.internal_transfers.step_traces import read_steps
from scan.extensions.internal_transfers.traces import read_call_trace
from scan.hex import BadHex, to_hex
from tests.support.anvil import Anvil
from tests.support.scenario.contracts import creations, failures, purses
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens, wrappers

STEPS = {"disableMemory": True, "disableStorage": True}


@pytest.fixture(scope="module")
def anvil():
    """With every kind of call and creation, and its steps recorded."""
    with Anvil("--steps-tracing") as node:
        stage = Stage(node)
        for act in (honest_tokens, wrappers, creations, failures, purses):
            act(stage)
        yield node


def test_the_steps_show_what_the_tracer_of_calls_shows(anvil):
    compared = created = moved = 0
    for number in range(anvil.head() + 1):
        block = read_block(anvil, number)
        for transaction in block.transactions:
            if not transaction.status:
                continue
            hash_ = to_hex(transaction.hash)
            calls = anvil.call("debug_traceTransaction", hash_, {"tracer": "callTracer"})
            steps = anvil.call("debug_traceTransaction", hash_, STEPS)["structLogs"]
            frame, is_complete = read_steps(transaction, steps)
            expected, found = (read_call_trace(block, transaction, f) for f in (calls, frame))
            assert found.created == expected.created
            if is_complete:
                assert found.transfers == expected.transfers
            else:
                assert not steps or any(step["op"] == "SELFDESTRUCT" for step in steps)
            compared += is_complete
            created += len(found.created)
            moved += len(found.transfers)
    assert compared > 80 and created > 15 and moved > 20


def read_block(anvil, number):
    calls = [
        ("eth_getBlockByNumber", (hex(number), True)),
        ("eth_getBlockReceipts", (hex(number),)),
    ]
    return decode_block(*anvil.batch(calls), number)


MALFORMED = [
    [{"depth": 3, "op": "STOP", "stack": []}],
    [{"depth": 1, "op": "CALL", "stack": ["0x0"]}],
    [{"depth": 1, "op": "CREATE", "stack": 3 * ["0x1"]}],
    [{"depth": 1, "op": "CREATE", "stack": 3 * ["0x1"]}, {"depth": 1, "op": "POP"}],
    [{"depth": 1, "op": "CREATE", "stack": ["what"]}],
    [{"depth": 0, "op": "STOP", "stack": []}],
    [{"op": "STOP"}],
    [7],
    7,
]


@pytest.mark.parametrize("steps", MALFORMED, ids=str)
def test_malformed_steps_are_refused(anvil, steps):
    [transaction, *_] = read_block(anvil, 1).transactions
    with pytest.raises((BadHex, KeyError, TypeError, IndexError, ValueError)):
        read_steps(transaction, steps)
