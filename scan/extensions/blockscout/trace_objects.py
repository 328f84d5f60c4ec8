"""Traces in the form of trace_transaction, and changes of the state, as Blockscout shows them.

The sentence about a transaction, as a template with variables that clients fill.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from scan.ethereum.signatures import checksummed
from scan.extensions.blockscout.address_and_token_objects import (
    NOBODY,
    AddressObjects,
    TokenObjects,
)
from scan.extensions.blockscout.decoded_objects import node_words
from scan.extensions.blockscout.lists import Record
from scan.extensions.blockscout.routing import Object
from scan.extensions.internal_transfers.traces import is_creation
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.transaction_details.explanations.state_changes import AccountChange
from scan.extensions.transaction_details.explanations.transaction_summary import Summary
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


def state_change_objects(
    miner: str, accounts: Sequence[AccountChange], transfers: Sequence[Record]
) -> list[Object]:
    """Return the changes of coin balances, and what token transfers changed, whose balances are not
    known."""
    changed = [account for account in accounts if account.balance is not None]
    gained = _gained(transfers)
    owners = [to_hex(account.address) for account in changed]
    objects = AddressObjects([*owners, *(address for address, _, _ in gained)])
    tokens = TokenObjects(token for _, token, _ in gained)

    def row(address: str, change: int, balances: Sequence[int] | None, **of_token: Any) -> Object:
        before, after = (None, None) if balances is None else map(str, balances)
        return {
            "address": objects.of(address),
            "balance_before": before,
            "balance_after": after,
            "change": str(change),
            "is_miner": address == miner,
            "token": None,
            "token_id": None,
            "type": "token" if of_token else "coin",
            "ui_multiplier": None,
            **of_token,
        }

    of_coin = [row(to_hex(a.address), a.gained, a.balance) for a in changed]
    return of_coin + [
        row(address, change, None, token=tokens.of(token), token_id=token_id)
        for (address, token, token_id), change in gained.items()
    ]


def _gained(transfers: Sequence[Record]) -> dict[tuple[str, str, str | None], int]:
    """Return what addresses got of tokens, or of their items, negative where they gave it."""
    gained: Counter[tuple[str, str, str | None]] = Counter()
    for transfer in transfers:
        of_token = transfer["tokenAddress"], transfer["tokenId"]
        for side, sign in (("fromAddress", -1), ("toAddress", 1)):
            gained[transfer[side], *of_token] += sign * int(transfer["value"])
    return {key: change for key, change in gained.items() if change and key[0] != NOBODY}


def summary_object(summary: Summary) -> dict[str, Any]:
    """Return the template; all but plain text is a variable of its own, since names from the chain
    may contain braces."""
    objects = AddressObjects(part.address for part in summary.parts if part.type == "address")
    template, variables = "", dict[str, dict[str, Any]]()
    for number, part in enumerate(summary.parts):
        if part.type is None and not set(part.text) & set("{}"):
            template = f"{template}{part.text}"
            continue
        name = f"part_{number}"
        template = f"{template}{{{name}}}"
        variables[name] = {"type": "string", "value": part.text}
        if part.type == "address" and part.address is not None:
            variables[name] = {"type": "address", "value": objects.of(part.address)}
    shown = {"summary_template": template, "summary_template_variables": variables}
    return {"success": True, "data": {"summaries": [shown]}}
