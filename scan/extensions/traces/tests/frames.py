"""Frames of calls, made by hand, in both forms that nodes have."""

from scan.ethereum.blocks import DecodedBlock, DecodedTransaction
from scan.extensions.traces.traces import (
    read_call_trace,
    read_call_traces,
    read_flat_trace,
    read_flat_traces,
)
from scan.hex import data, quantity, to_hex

BLOCK_HASH = bytes.fromhex("bb" * 32)


def at(number):
    return f"0x{number:040x}"


SENDER, PURSE, LIBRARY, MADE, PAID, NESTED = map(at, range(1, 7))


def a_transaction(index, outermost, *, status=True):
    """The one whose own call is `outermost`."""
    to = data(outermost["to"])
    parties = (None, to) if outermost["type"] == "CREATE" else (to, None)
    amounts = quantity(outermost["value"]), 1, 50_000
    sender = data(outermost["from"])
    return DecodedTransaction(index, bytes([index]) * 32, sender, *parties, *amounts, status, 0)


def a_block(*statuses, outermost=None):
    own = outermost or outer()
    transactions = [a_transaction(n, own, status=s) for n, s in enumerate(statuses or (True,))]
    return DecodedBlock(7, BLOCK_HASH, bytes(32), 0, bytes(20), 0, 0, transactions, [])


def frame(kind, sender, to, value=0, **more):
    return {"type": kind, "from": sender, "to": to, "value": hex(value), **more}


def flat_of(outermost, index=0):
    """The same calls as trace_block has them."""
    traces = []

    def add(call, path):
        inner = call.get("calls", [])
        kind, value = call["type"], call["value"]
        trace = {
            "blockHash": to_hex(BLOCK_HASH),
            "transactionHash": to_hex(bytes([index]) * 32),
            "transactionPosition": index,
            "traceAddress": path,
            "subtraces": len(inner),
        }
        if "error" in call:
            trace["error"] = call["error"]
        if kind.startswith("CREATE"):
            action = {"from": call["from"], "value": value, "creationMethod": kind.lower()}
            result = None if "error" in call else {"address": call["to"], "code": "0x"}
            traces.append({**trace, "type": "create", "action": action, "result": result})
        elif kind == "SELFDESTRUCT":
            action = {"address": call["from"], "refundAddress": call["to"], "balance": value}
            traces.append({**trace, "type": "suicide", "action": action, "result": None})
        else:
            action = {"from": call["from"], "to": call["to"], "value": value}
            action["callType"] = kind.lower()
            traces.append({**trace, "type": "call", "action": action, "result": {"output": "0x"}})
        for position, child in enumerate(inner):
            add(child, [*path, position])

    add(outermost, [])
    return traces


def both(outermost, *, status=True):
    """What either form gives, which has to be the same."""
    block = a_block(status, outermost=outermost)
    hash_ = to_hex(block.transactions[0].hash)
    geth = read_call_traces(block, [{"txHash": hash_, "result": outermost}])
    flat = flat_of(outermost)
    assert geth == read_flat_traces(block, flat)
    assert geth == read_call_trace(block, block.transactions[0], outermost)
    assert geth == read_flat_trace(block, block.transactions[0], flat)
    assert geth == read_flat_traces(block, flat[::-1])  # in whatever order
    return geth


def moved(traces):
    indexes = [t.transfer_index for t in traces.transfers]
    assert indexes == sorted({*indexes}) and 0 not in indexes
    return [
        (t.type.name.lower(), to_hex(t.from_address), to_hex(t.to_address), t.value)
        for t in traces.transfers
    ]


def outer(*calls, **more):
    return frame("CALL", SENDER, PURSE, 100, calls=list(calls), **more)
