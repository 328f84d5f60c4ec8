"""Value that calls, creations and self-destructions moved inside transactions."""

from tests.support.truth.reading import quantity, read_log


def internal_transfers(chain):
    """What calls, creations and self-destructions moved inside transactions."""
    if not chain.traces:
        return logged_transfers(chain)
    return [
        {
            "transactionHash": t["hash"],
            "blockNumber": quantity(block["number"]),
            "transferIndex": index,
            "type": frame["type"].lower(),
            "fromAddress": frame["from"].lower(),
            "toAddress": frame["to"].lower(),
            "value": str(quantity(frame["value"])),
            "timestamp": chain.timestamps[quantity(block["number"])],
            "source": "trace",
            "proven": "blockAccessListHash" in block
            and quantity(frame["value"]) > 0
            and frame["from"].lower() != frame["to"].lower(),
        }
        for block in chain.blocks
        for t in block["transactions"]
        if t["hash"] in chain.traces
        for index, frame in moved_in(chain.traces[t["hash"]])
    ]


def logged_transfers(chain):
    """What logs of coin say was moved inside transactions; the first of a transaction with a
    value to another account is of that value."""
    records = []
    for block in chain.blocks:
        for t in block["transactions"]:
            receipt = chain.receipts[t["hash"]]
            logs = [log for log in map(read_log, receipt["logs"]) if chain.is_coin(log)]
            recipient = (t["to"] or receipt["contractAddress"] or "").lower()
            has_own = quantity(t["value"]) and recipient != t["from"].lower()
            for index, log in enumerate(logs[1:] if has_own else logs, 1):
                records.append(
                    {
                        "transactionHash": t["hash"],
                        "blockNumber": log.block,
                        "transferIndex": index,
                        "type": "transfer",
                        "fromAddress": "0x" + log.topics[1][12:].hex(),
                        "toAddress": "0x" + log.topics[2][12:].hex(),
                        "value": str(log.words()[0]),
                        "timestamp": chain.timestamps[log.block],
                        "source": "log",
                        "proven": True,
                    }
                )
    return records


def moved_in(outermost):
    """The calls of a trace that move value or create, undone ones left out, as they were called,
    and the place of each among all calls."""
    return [
        (index, call)
        for index, (call, around) in enumerate(calls_in(outermost))
        if around is not None and is_movement(call, around)
    ]


def calls_in(frame, around=None, *, undone=False):
    """The calls of a trace and those around them: None of the outermost and of undone ones."""
    undone = undone or bool(frame.get("error"))
    yield frame, None if undone else around
    for call in frame.get("calls", []):
        yield from calls_in(call, frame, undone=undone)


def is_movement(call, around):
    if call["type"] == "SELFDESTRUCT":
        # Anvil reports the transfer before, where a contract destroys itself in its own favour.
        borrowed = around["type"] in ("DELEGATECALL", "CALLCODE")
        if call.get("from") != around["from" if borrowed else "to"]:
            return False
    elif call["type"] != "CALL":
        return call["type"] in ("CREATE", "CREATE2")
    return quantity(call.get("value", "0x0")) > 0


def created_in(frame):
    """Contracts that a call frame and those below it created, undone ones left out."""
    if frame.get("error"):
        return []
    own = [frame["to"].lower()] if frame["type"] in ("CREATE", "CREATE2") else []
    return own + [address for call in frame.get("calls", []) for address in created_in(call)]
