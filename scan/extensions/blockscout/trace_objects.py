"""Traces in the form of trace_transaction, and changes of the state, as Blockscout shows them."""

from collections import Counter
from collections.abc import Sequence

from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.blockscout.failure_objects import node_words
from scan.extensions.blockscout.lists import Record
from scan.extensions.blockscout.objects import Object
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.explanations.state_changes import AccountChange
from scan.hex import to_hex

CALL_TYPES = {name: name.lower() for name in ("CALL", "CALLCODE", "DELEGATECALL", "STATICCALL")}


def trace_objects(record: Record, frames: Sequence[TraceFrame]) -> list[Object]:
    subtraces = Counter(frame.trace_address[:-1] for frame in frames if frame.trace_address)
    return [_trace(record, frame, subtraces[frame.trace_address]) for frame in frames]


def _trace(record: Record, frame: TraceFrame, subtraces: int) -> Object:
    creates = is_creation(frame.type)
    action = {
        "from": checksummed(to_hex(frame.from_address)),
        "gas": hex(frame.gas or 0),
        "value": hex(frame.value),
        "input": to_hex(frame.input),
    }
    if creates:
        action["init"] = action["input"]
    else:
        action["callType"] = CALL_TYPES.get(frame.type, "call")
        if frame.to_address is not None:
            action["to"] = checksummed(to_hex(frame.to_address))
    shown: Object = {
        "action": action,
        "subtraces": subtraces,
        "traceAddress": [*frame.trace_address],
        "transactionHash": record["hash"],
        "type": frame.type.lower() if creates else "call",
    }
    if frame.type == "SELFDESTRUCT":
        return {**shown, "type": "selfdestruct"}
    if frame.failure is not None:
        return {**shown, "error": node_words(frame.failure)}
    result = {"gasUsed": hex(frame.gas_used or 0), "output": to_hex(frame.output)}
    return {**shown, "result": result}


def state_change_objects(miner: str, accounts: Sequence[AccountChange]) -> list[Object]:
    """Return the changes of coin balances; those of tokens are in the transaction's transfers."""
    changed = [account for account in accounts if account.balance is not None]
    objects = AddressObjects(to_hex(account.address) for account in changed)
    return [
        {
            "address": objects.of(to_hex(account.address)),
            "balance_before": str(account.balance[0]) if account.balance else None,
            "balance_after": str(account.balance[1]) if account.balance else None,
            "change": str(account.gained),
            "is_miner": to_hex(account.address) == miner,
            "token": None,
            "token_id": None,
            "type": "coin",
            "ui_multiplier": None,
        }
        for account in changed
    ]
