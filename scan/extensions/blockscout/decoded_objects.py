"""What is decoded, as Blockscout shows it: calls, errors, events, logs; why transactions failed,
in the words that nodes have for it.
"""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scan.contracts.abi_decoding import Argument, Decoded
from scan.contracts.account_state import ViewCall
from scan.ethereum import blocks, checksums, node_errors
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.token_metadata import balance_of
from scan.extensions.blockscout.address_and_token_objects import (
    NOBODY,
    AddressObjects,
    TokenObjects,
)
from scan.extensions.blockscout.paths import NAMES, Object, Position, Record, renamed
from scan.extensions.explanations.transactions import queries as explanations
from scan.extensions.explanations.transactions import state_changes, transaction_summary
from scan.extensions.explanations.transactions.transaction_failures import TransactionFailure
from scan.extensions.traces import traces, transaction_traces
from scan.hex import data, to_hex
from scan.http.current_request import reader


def call_object(decoded: Decoded | None, calldata: bytes) -> Object | None:
    if decoded is None:
        return None
    return {
        "method_id": calldata[:4].hex(),
        "method_call": f"{decoded.name}({', '.join(map(_declared, decoded.arguments))})",
        "parameters": [_parameter(argument) for argument in decoded.arguments],
    }


def event_object(decoded: Decoded | None, topic: bytes) -> Object | None:
    """Return an event; where it may have several values, these with "or" between them."""
    as_call = call_object(decoded, topic[:4])
    if as_call is None or decoded is None:
        return None
    arguments = [
        {**_parameter(argument), "indexed": argument.indexed} for argument in decoded.arguments
    ]
    readings = [[*map(_parameter, reading.arguments)] for reading in decoded.readings]
    for argument, *alike in zip(arguments, *readings, strict=True) if decoded.alternatives else ():
        values = dict.fromkeys(str(one["value"]) for one in alike)
        argument["value"] = argument["value"] if len(values) == 1 else " or ".join(values)
    # Its declaration in its ABI; of tuples the names of members are not known here.
    inputs = [{"name": a.name, "type": a.type, "indexed": a.indexed} for a in decoded.arguments]
    is_anonymous = keccak256(decoded.signature.encode()) != topic
    abi = {"type": "event", "name": decoded.name, "anonymous": is_anonymous, "inputs": inputs}
    has_tuples = any(argument.type.startswith("(") for argument in decoded.arguments)
    method = None if is_anonymous else as_call["method_id"]  # its first topic is an argument
    fields = {"parameters": arguments, "abi": None if has_tuples else abi}
    return {**as_call, "method_id": method, **fields}


def _declared(argument: Argument) -> str:
    indexed = " indexed" if argument.indexed else ""
    return f"{argument.type}{indexed} {argument.name}".strip()


def _parameter(argument: Argument) -> Mapping[str, Any]:
    value = shown(argument.value, argument.type)
    return {"name": argument.name, "type": argument.type, "value": value}


def shown(value: Any, type_: str) -> Any:
    """Return a value of an ABI type as text, or as arrays of texts, as Blockscout does: tuples are
    arrays, too. What a topic has of an array or a tuple is a hash, which is a text."""
    if isinstance(value, bool):
        return str(value).lower()
    members = [*value.values()] if isinstance(value, Mapping) else value
    if isinstance(members, list | tuple):
        types = _member_types(type_, len(members))
        return [shown(*member) for member in zip(members, types, strict=True)]
    return checksums.checksummed(value) if type_ == "address" and value else str(value)


def _member_types(type_: str, count: int) -> Sequence[str]:
    """Return the types of the `count` members of an array, or of a tuple: `(address,uint256)`."""
    if type_.endswith("]"):
        return [type_[: type_.rindex("[")]] * count
    types, depth = [""], 0
    for character in type_.removesuffix(")")[1:]:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            types.append("")
        else:
            types[-1] += character
    return types


WORDS = NAMES["failures"]
UNKNOWN = "awaiting_internal_transactions"  # as Blockscout says before it knows
MOST_READ = 10  # reasons that a list reads; those of others are shown once they are kept
READ_S = 2.0  # after which it reads no more


class ReasonBounds:
    """The bound of one list."""

    read = MOST_READ


def node_words(failure: node_errors.CallFailure) -> str:
    return failure.words if failure.kind == node_errors.OTHER else WORDS[failure.kind]


def failures(records: Sequence[Record]) -> dict[str, Object]:
    """Return `result` and `revert_reason` of a list's failed transactions, by hash."""
    failed = [record for record in records if not record["status"]]
    failures_by_hash = {record["hash"]: failure_fields(None) for record in failed}
    read, ends_at = 0, time.monotonic() + READ_S
    for record in failed[: reader().sources.get(ReasonBounds).read]:
        failure = explanations.failure(reader(), record)
        failures_by_hash[record["hash"]] = failure_fields(failure)
        if failure is None or failure.is_passing or time.monotonic() > ends_at:
            break  # the node is away or slow, and would be for the others
        read += 1
    if read < len(failed):
        reader().do_not_cache()
    return failures_by_hash


def failure_fields(failure: TransactionFailure | None, *, is_decoded: bool = False) -> Object:
    """Return the fields of a failed transaction; `is_decoded`: with the decoded error instead of
    its data."""
    if failure is None or failure.failure is None:
        return {"result": UNKNOWN, "revert_reason": None}
    cause = failure.failure
    if cause.kind != node_errors.REVERT and not cause.trace_address:
        return {"result": node_words(cause), "revert_reason": None}
    # A call that passes on the failure of one that it made reverts with the same data.
    decoded = call_object(failure.reason.decoded, failure.reason.data[:4]) if is_decoded else None
    raw = {"raw": to_hex(cause.data) if cause.data else None}
    return {"result": WORDS[node_errors.REVERT], "revert_reason": decoded or raw}


NO_TOPICS = (None,) * blocks.MAX_TOPICS


def log_objects(
    records: Sequence[Record], events: Sequence[Decoded | None], context_of: Mapping[str, Record]
) -> list[dict[str, Any]]:
    """Return the objects of logs. Contexts, by the hash of the transaction, have its block's hash
    and the recipient where it is shown."""
    recipients = {key: context.get("toAddress") for key, context in context_of.items()}
    emitters = [record["address"] for record in records]
    objects = AddressObjects([*emitters, *recipients.values()])
    return [
        {
            **renamed("log", record, address=objects.of_optional),
            "smart_contract": objects.of_optional(recipients[record["transactionHash"]]),
            "topics": [*record["topics"], *NO_TOPICS][: blocks.MAX_TOPICS],
            "decoded": event_object(event, data(record["topics"][0]) if record["topics"] else b""),
            "block_hash": context_of[record["transactionHash"]]["blockHash"],
        }
        for record, event in zip(records, events, strict=True)
    ]


def log_position(log: Object) -> Position:
    return {"block_number": log["block_number"], "index": log["index"]}


CALL_TYPES = {name: name.lower() for name in ("CALL", "CALLCODE", "DELEGATECALL", "STATICCALL")}


def trace_objects(record: Record, frames: Sequence[transaction_traces.TraceFrame]) -> list[Object]:
    subtraces = Counter(frame.trace_address[:-1] for frame in frames if frame.trace_address)
    return [_trace(record, frame, subtraces[frame.trace_address]) for frame in frames]


def _trace(record: Record, frame: transaction_traces.TraceFrame, subtraces: int) -> Object:
    creates = traces.is_creation(frame.type)
    action = {
        "from": checksums.checksummed(to_hex(frame.from_address)),
        "gas": hex(frame.gas or 0),
        "value": hex(frame.value),
        "input": to_hex(frame.input),
    }
    if creates:
        action["init"] = action["input"]
    else:
        action["callType"] = CALL_TYPES.get(frame.type, "call")
        if frame.to_address is not None:
            action["to"] = checksums.checksummed(to_hex(frame.to_address))
    trace: Object = {
        "action": action,
        "subtraces": subtraces,
        "traceAddress": [*frame.trace_address],
        "transactionHash": record["hash"],
        "type": frame.type.lower() if creates else "call",
    }
    if frame.type == "SELFDESTRUCT":
        return {**trace, "type": "selfdestruct"}
    if frame.failure is not None:
        return {**trace, "error": node_words(frame.failure)}
    result = {"gasUsed": hex(frame.gas_used or 0), "output": to_hex(frame.output)}
    return {**trace, "result": result}


MOST_BALANCES = 100  # of holders, read from the node for a request


def state_change_objects(
    miner: str,
    accounts: Sequence[state_changes.AccountChange],
    transfers: Sequence[Record],
    read_balances: Callable[[Sequence[ViewCall]], Mapping[ViewCall, Sequence[int]]],
) -> list[Object]:
    """Return the changes of coin balances and of tokens. `read_balances` returns balances before
    and after the block. Where they differ by more than the transfers say, or items were counted,
    those around the transaction are not known, and clients that need them get no row."""
    sums: Counter[tuple[str, str, str | None]] = Counter()
    for transfer in transfers:
        of_token = transfer["tokenAddress"], transfer["tokenId"]
        for side, sign in (("fromAddress", -1), ("toAddress", 1)):
            sums[transfer[side], *of_token] += sign * int(transfer["value"])
    gained = {key: change for key, change in sums.items() if change and key[0] != NOBODY}
    views = {key: (data(key[1]), balance_of(data(key[0]))) for key in gained if key[2] is None}
    balances = read_balances([*views.values()][:MOST_BALANCES]) if views else {}

    def balances_of(key: tuple[str, str, str | None], change: int) -> Sequence[int] | None:
        if key[2] is not None:  # an item of its own has one owner
            is_single = types[key[1]] == "BEP721" and abs(change) == 1
            return (int(change < 0), int(change > 0)) if is_single else None
        before_and_after = balances.get(views[key], (0, 0))
        is_known = before_and_after[1] - before_and_after[0] == change
        return before_and_after if is_known else None

    types = {transfer["tokenAddress"]: transfer["tokenType"] for transfer in transfers}
    owners = [to_hex(account.address) for account in accounts]
    objects = AddressObjects([*owners, *(address for address, _, _ in gained)])
    tokens = TokenObjects(token for _, token, _ in gained)

    def row(address: str, change: int, balances: Sequence[int], **of_token: Any) -> Object:
        before, after = map(str, balances)
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

    of_coin = [
        row(to_hex(a.address), a.gained, a.balance) for a in accounts if a.balance is not None
    ]
    return of_coin + [
        row(key[0], change, around, token=tokens.of(key[1]), token_id=key[2])
        for key, change in gained.items()
        if (around := balances_of(key, change)) is not None
    ]


def summary_object(summary: transaction_summary.Summary) -> dict[str, Any]:
    """Return the template; all but plain text is a variable of its own, since names from the chain
    may contain braces."""
    objects = AddressObjects(part.address for part in summary.parts if part.type == "address")
    template, variables = "", dict[str, dict[str, Any]]()
    for index, part in enumerate(summary.parts):
        if part.type is None and not set(part.text) & set("{}"):
            template = f"{template}{part.text}"
            continue
        name = f"part_{index}"
        template = f"{template}{{{name}}}"
        variables[name] = {"type": "string", "value": part.text}
        if part.type == "address" and part.address is not None:
            variables[name] = {"type": "address", "value": objects.of(part.address)}
    summary_fields = {"summary_template": template, "summary_template_variables": variables}
    return {"success": True, "data": {"summaries": [summary_fields]}}
