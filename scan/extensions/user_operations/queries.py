"""User operations (ERC-4337): their lists, and one with the details in its bundle's calldata."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.contracts.abi_decoding import Decoded, DecodingBudget
from scan.contracts.revert_reasons import UNKNOWN, Reason, decode_reason, selectors_of
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.node_errors import REVERT, CallFailure
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import contract_abis, decoding
from scan.extensions.traces.transaction_traces import TransactionTraces
from scan.extensions.user_operations.calls import (
    MAX_CALLS,
    AccountCall,
    BundledOperation,
    account_calls,
    bundled_operations,
)
from scan.extensions.user_operations.rows import ENTRY_POINTS
from scan.hex import data
from scan.queries import transactions
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader

TIMEOUT_S = 4.0
NOT_IN_CALLDATA = "No call of the entry point with this operation is known."
NO_REASON = "The entry point gave no reason: the call reverted without one, or ran out of gas."

OF_TRACE = ("operation", "calls", "callCount")

Record = Mapping[str, Any]
recorded = recording(__file__)


class UserOperationDetails(NamedTuple):
    """The details of an operation in its bundle; `unavailable` says why they are not known."""

    error: Reason | None
    operation: BundledOperation | None = None
    calls: Sequence[tuple[AccountCall, Decoded | None]] = ()
    call_count: int = 0
    unavailable: str | None = None
    place: tuple[int, int] | None = None  # of its bundle in the transaction, and in its bundle
    unproven: Sequence[str] = ()  # what a trace, or the node's implementation of a proxy, says

    def record(self) -> dict[str, Any]:
        is_decoded = self.operation is not None
        calls = [
            recorded("call", call) | {"function": function and function.record()}
            for call, function in self.calls
        ]
        return {
            "error": None if self.error is None else self.error.record(),
            "operation": recorded("operation", self.operation) if self.operation else None,
            "calls": calls if is_decoded else None,
            "callCount": self.call_count if is_decoded else None,
            "unavailable": self.unavailable,
            "unproven": self.unproven,
        }


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    return filtered_page(reader, "user_operations", filters, window)


def transaction_page(reader: Reader, transaction_hash: bytes, window: Window) -> Page | None:
    """Return a page of a transaction's operations; None if it is not indexed."""
    traversal = window.traversal("transaction's user operations", {"hash": transaction_hash})
    row = reader.row(
        "queries/user_operations_list_by_transaction",
        hash=transaction_hash,
        direction=window.direction,
        **window.page(traversal),
        seen_block=traversal.seen_block,
    )
    return None if row[0] is None else Page.from_row(reader, "user_operations", traversal, row)


def operations_with_hash(reader: Reader, operation_hash: bytes) -> list[dict[str, Any]]:
    """Return the newest records with a hash, up to the number that the statement lists."""
    (text,) = reader.row("queries/user_operations_get", hash=operation_hash)
    records: list[dict[str, Any]] = orjson.loads(text)
    return records


def version(record: Record) -> str:
    """Return the version of the operation's entry point."""
    return ENTRY_POINTS[data(record["entryPoint"], 20)]


def gas_limit(operation: BundledOperation | None) -> str | None:
    """Return the gas that an operation may take, without that of its paymaster."""
    if operation is None:
        return None
    limits = operation.call_gas_limit, operation.verification_gas_limit
    return str(sum(limits) + operation.pre_verification_gas)


def gas_price(record: Record) -> str:
    """Return what was paid for a unit of gas."""
    return str(int(record["fee"]) // max(int(record["gasUsed"]), 1))


def log_count(record: Record) -> int | None:
    """Return how many logs an operation's execution has; None where its first is not known."""
    first = record["firstLogIndex"]
    return None if first is None else int(record["logIndex"] - first)


def details(reader: Reader, record: Record) -> UserOperationDetails:
    """Return the operation as its account signed it, with its calls and why it failed, decoded; the
    response is not cached where a retry may get more."""
    body = transactions.get(reader, data(record["transactionHash"]))
    if body is None:  # a fork has removed it since
        return UserOperationDetails(None, unavailable=NOT_IN_CALLDATA)
    indexed, operation, place = transactions.indexed(orjson.loads(body)), None, None
    try:
        place, operation = _find(record, _bundles(reader, indexed, record["entryPoint"]))
        unavailable = None if operation else NOT_IN_CALLDATA
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        if isinstance(error, Unavailable) and not reader.has_node_failed:
            raise  # the database is unavailable
        unavailable = error.message
        reader.do_not_cache()
    decoded = _decoded(reader, record, indexed, operation)
    of_trace = () if indexed.to_address == record["entryPoint"] else OF_TRACE
    unproven = (*of_trace, *decoded.unproven)
    return decoded._replace(unavailable=unavailable, place=place, unproven=unproven)


def _bundles(reader: Reader, indexed: IndexedTransaction, entry_point: str) -> Iterator[bytes]:
    """Yield the calldata of each call of the entry point that took effect: the transaction's own,
    or those in its trace. A reverted call may contain operations that no account signed."""
    node = reader.node.within(TIMEOUT_S)
    if indexed.to_address == entry_point:
        contents = reader.sources.transaction_contents
        yield contents.transaction(node, indexed, with_receipts=False).input
        return
    address = data(entry_point, 20)
    for frame in reader.sources.get(TransactionTraces).calls(node, indexed).frames:
        is_whole = len(frame.input) == frame.input_size
        if (frame.type, frame.to_address) == ("CALL", address) and is_whole and not frame.is_undone:
            yield frame.input


def _find(
    record: Record, bundles: Iterator[bytes]
) -> tuple[tuple[int, int] | None, BundledOperation | None]:
    """Return the operation of a record and its place, or None; an entry point takes each nonce of
    an account once."""
    sender_and_nonce = data(record["sender"], 20), int(record["nonce"])
    for bundle_index, calldata in enumerate(bundles):
        for index, operation in enumerate(bundled_operations(calldata)):
            if (operation.sender, operation.nonce) == sender_and_nonce:
                return (bundle_index, index), operation
    return None, None


def _decoded(
    reader: Reader, record: Record, indexed: IndexedTransaction, operation: BundledOperation | None
) -> UserOperationDetails:
    budget, abis = DecodingBudget(), reader.sources.get(contract_abis.ContractAbis)
    calls = [] if operation is None else account_calls(operation.sender, operation.call_data)
    first_calls = calls[:MAX_CALLS]
    block = contract_abis.Block(indexed.block_number, indexed.block_hash, indexed.transaction_index)
    addresses = dict.fromkeys([data(record["sender"], 20), *(call.to for call in first_calls)])
    contracts = abis.find_at_or_now(addresses, block, reader.node, budget)
    failure = None
    if record["revertData"] is not None:
        returned = data(record["revertData"])
        failure = CallFailure(REVERT, data=returned, data_size=len(returned))
    errors = selectors_of([failure] if failure else [])
    imported = abis.imported_if_needed({*(call.input[:4] for call in first_calls), *errors})
    functions = [
        decoding.method_of(
            call.input, contracts.get(call.to, contract_abis.NO_CONTRACT), imported, budget
        )
        for call in first_calls
    ]
    error = None
    if failure is not None:
        declared = [abi for contract in contracts.values() for abi in contract.abis]
        error = decode_reason(failure, declared, imported, budget)
    elif not record["success"]:
        error = Reason(UNKNOWN, NO_REASON)
    are_lent = any(contract.delegates for contract in contracts.values())
    return UserOperationDetails(
        error,
        operation,
        [*zip(first_calls, functions, strict=True)],
        len(calls),
        unproven=("calls.function",) if are_lent else (),
    )
