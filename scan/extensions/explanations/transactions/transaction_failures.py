"""Why transactions failed: read from the node once, kept undecoded, decoded for each request; in
lists as far as this is stored, without the node.

A trace has the exact failure, which never changes and is kept in the table transaction_failures; it
is kept undecoded, as ABIs are verified and imported later. Where the node has no trace, the same
call is made on the state of the block before, which differs where transactions of the same block
changed what the call reads.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.api.renamed_fields import recording
from scan.cached_values import SizedCache
from scan.contracts import revert_reasons
from scan.contracts.abi_decoding import AbiIndex, DecodingBudget
from scan.contracts.revert_reasons import NO_REASON, UNKNOWN, Reason, decode_reason, selectors_of
from scan.database import connection, errors
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, RpcError
from scan.ethereum.node_errors import (
    MAX_DATA,
    OUT_OF_GAS,
    REVERT,
    CallFailure,
    kind_of,
    reverted_with,
)
from scan.ethereum.request_node import NodeSession
from scan.ethereum.served_chain import BlockId
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import contract_abis
from scan.extensions.decoding.details import MAX_CONTRACTS
from scan.extensions.explanations.transactions import failure_locations
from scan.extensions.traces.transaction_traces import TransactionTrace, TransactionTraces
from scan.hex import data, to_hex
from scan.queries import blocks, transactions
from scan.queries.reader import Reader, Sources

recorded = recording(__file__)

log = logging.getLogger(__name__)

TIMEOUT_S = 4.0
MAX_RESPONSE_BYTES = 256 * 1024
CACHE_BYTES = 4 * 1024 * 1024
ENTRY_BYTES = 1000
MAX_CAUSES = 3  # of a failure, inside of each other, that are told
KEPT = 100_000  # failures in the table; the oldest are deleted first

SUCCEEDS = (
    "the node has no trace of it, and the same call succeeds on the state of the block before"
)
NO_STATE = "the node has neither a trace of it nor the state of the block before"


class TransactionFailure(NamedTuple):
    """Why a transaction failed. `function` is the signature of the function that failed, None where
    it is unknown. `is_approximate`: the reason is that of a call on the state of the block before.
    `is_passing`: another request may give more. `location` is the line of the source, where it was
    looked for."""

    reason: Reason
    failure: CallFailure | None = None
    function: str | None = None
    is_approximate: bool = False
    is_passing: bool = False
    location: failure_locations.Location | None = None

    def record(self) -> dict[str, Any]:
        failure, reverting = self.failure, None
        if failure is not None and not self.is_approximate:  # a trace alone shows the call
            reverting = recorded("reverting", failure) | {
                "depth": len(failure.trace_address),
                "methodId": to_hex(failure.selector) if len(failure.selector) == 4 else None,
                "function": self.function,
            }
        return {
            **self.reason.record(),
            "reverting": reverting,
            "location": None if self.location is None else self.location.record(),
            "approximate": self.is_approximate,
        }

    def code_addresses(self) -> tuple[bytes, ...]:
        return () if self.failure is None else self.failure.code_addresses


class _Unknown(NamedTuple):
    """Why the reason of a failure is unknown. `is_final`: the node would answer the same again."""

    reason: str
    is_final: bool


class TransactionFailures:
    """Why transactions failed; the reasons that cannot be stored are cached."""

    def __init__(self, database: connection.Database) -> None:
        """Write to `database`."""
        self._database = database
        self._approximate: SizedCache[CallFailure | _Unknown] = SizedCache(CACHE_BYTES)

    def read(self, reader: Reader, record: Mapping[str, Any]) -> TransactionFailure:
        """Return why an indexed transaction failed. Raises Unavailable if the database is
        unavailable."""
        node = reader.node.within(TIMEOUT_S)
        indexed = transactions.indexed(record)
        exact = _kept(reader, indexed)
        try:
            exact = exact or self._traced(reader, node, indexed)
            key = indexed.hash, indexed.block_hash
            call_failure = exact or self._approximate.get(key)
            if call_failure is None:
                call_failure = _call(reader, node, indexed, record)
                if not isinstance(call_failure, _Unknown) or call_failure.is_final:
                    self._approximate.store(key, call_failure, ENTRY_BYTES + MAX_DATA)
        except (UpstreamFailed, Unavailable) as error:
            if not node.failed and not isinstance(error, UpstreamFailed):
                raise  # the database is unavailable
            clause = error.message[:1].lower() + error.message[1:].rstrip(".")
            call_failure = _Unknown(clause, is_final=False)
        if isinstance(call_failure, _Unknown):
            reason = Reason(UNKNOWN, f"The reason is not known: {call_failure.reason}.")
            return TransactionFailure(reason, is_passing=not call_failure.is_final)
        return _decoded(reader.sources, node, record, call_failure, is_approximate=exact is None)

    def _traced(
        self, reader: Reader, node: NodeSession, indexed: IndexedTransaction
    ) -> CallFailure | None:
        """Return the failure by the trace; None where the node has no trace, or one that does not
        disclose it."""
        try:
            failure = reader.sources.get(TransactionTraces).calls(node, indexed).failure
        except TracesUnavailable:
            return None
        if failure is not None:
            self._keep(indexed, failure)
        return failure

    def _keep(self, indexed: IndexedTransaction, failure: CallFailure) -> None:
        """Store a failure. Where the database takes no writes now, log a warning: the next request
        reads the failure from the node again."""
        try:
            with self._database.transaction() as tx:
                tx.execute(
                    "contracts/transaction_failures_put",
                    transaction_hash=data(indexed.hash),
                    block_hash=data(indexed.block_hash),
                    kind=failure.kind,
                    words=failure.words.replace("\0", ""),
                    returned=failure.data,
                    data_size=failure.data_size,
                    type=failure.type,
                    trace_address=[*failure.trace_address],
                    selector=failure.selector,
                    code_addresses=[*failure.code_addresses],
                    address=failure.address,
                    kept=KEPT,
                )
        except (Unavailable, errors.Conflict) as error:
            log.warning("why %s failed cannot be kept: %s", indexed.hash, error)


def _call(
    reader: Reader, node: NodeSession, indexed: IndexedTransaction, record: Mapping[str, Any]
) -> CallFailure | _Unknown:
    """Return the failure of the same call on the state of the block before, which is read by number
    where that is not indexed: the result is approximate."""
    contents = reader.sources.transaction_contents
    sent = contents.transaction(node, indexed, with_receipts=False)
    call = {
        "from": record["fromAddress"],
        "gas": hex(sent.gas_limit),
        "value": hex(int(record["value"])),
        "data": to_hex(sent.input),
        **({} if indexed.to_address is None else {"to": indexed.to_address}),
    }
    number = max(indexed.block_number - 1, 0)
    block = BlockId.of(number, blocks.hash_at(reader, number)) or hex(number)
    try:
        node.call("eth_call", call, block, most_bytes=MAX_RESPONSE_BYTES)
        return _Unknown(SUCCEEDS, is_final=True)
    except AnswerTooLarge:
        return _Unknown("the contract returned too much data", is_final=True)
    except RpcError as error:
        return _failure_of(error)


def _kept(reader: Reader, indexed: IndexedTransaction) -> CallFailure | None:
    row = reader.sources.database.row(
        "contracts/transaction_failures_find",
        transaction_hash=data(indexed.hash),
        block_hash=data(indexed.block_hash),
    )
    if row is None:
        return None
    kind, words, returned, size, type_, trace_address, selector, codes, address = row
    return CallFailure(
        kind,
        words,
        bytes(returned),
        size,
        type_,
        tuple(trace_address),
        bytes(selector),
        tuple(map(bytes, codes)),
        address and bytes(address),
    )


def _decoded(
    sources: Sources,
    node: NodeSession,
    record: Mapping[str, Any],
    failure: CallFailure,
    *,
    is_approximate: bool,
) -> TransactionFailure:
    abis, budget = sources.get(contract_abis.ContractAbis), DecodingBudget()
    codes = failure.code_addresses
    if not codes and record["toAddress"] is not None:
        codes = (data(record["toAddress"], 20),)
    contracts = abis.find_at_or_now(codes, contract_abis.block_of(record), node, budget)
    imported = abis.imported(selectors_of([failure]))
    declared = [abi for code in codes if code in contracts for abi in contracts[code].abis]
    reason = decode_reason(failure, declared, imported, budget)
    if not is_approximate and failure.kind == REVERT:
        inner = _with_inner_call(sources, node, record, failure, reason, declared, budget)
        reason = inner or reason
    contract = contracts.get(failure.address or b"", contract_abis.NO_CONTRACT)
    function = abis.function_text(failure.selector, contract)
    if reason.kind == NO_REASON and function is None and lacks(contract, failure.selector):
        sentence = f"The contract has no function {to_hex(failure.selector)}."
        reason = reason._replace(sentence=f"{reason.sentence} {sentence}")
    if reason.kind == OUT_OF_GAS:
        limit = f" of {int(record['gasLimit']):,}" if record["gasLimit"] else ""
        sentence = f"Out of gas: the transaction's limit{limit} was too low."
        if failure.trace_address:
            sentence = "A call inside the transaction ran out of gas."
        reason = reason._replace(sentence=sentence)
    return TransactionFailure(reason, failure, function, is_approximate)


def _with_inner_call(
    sources: Sources,
    node: NodeSession,
    record: Mapping[str, Any],
    failure: CallFailure,
    reason: Reason,
    declared: Sequence[AbiIndex],
    budget: DecodingBudget,
) -> Reason | None:
    """Return the reason by the ABIs of all contracts in the trace, with why the last call inside
    failed, and the last one inside of that; None where there is none, or no trace."""
    abis, block = sources.get(contract_abis.ContractAbis), contract_abis.block_of(record)
    trace = trace_now(sources, node, record)
    causes = _causes(trace, failure) if trace else ()
    if trace is None or (not causes and not revert_reasons.may_pass_on(reason.decoded)):
        return None
    codes = dict.fromkeys(frame.to_address for frame in trace.frames if frame.to_address)
    emitters = {contract_abis.Emitter(code, block) for code in [*codes][:MAX_CONTRACTS]}
    contracts = abis.contracts(emitters, budget)
    others = [abi for contract in contracts.values() for abi in contract.abis]
    imported = abis.imported(selectors_of([failure, *(cause for _, cause in causes)]))
    passed = [cause.data for _, cause in causes]
    reason = inner = decode_reason(failure, [*declared, *others], imported, budget, passed)
    sentences = [reason.sentence.removesuffix(".")]
    for code, cause in causes:
        if inner.decoded is not None and any(a.errors for a in inner.decoded.arguments):
            break  # it passes on why
        of = contracts.get(contract_abis.Emitter(code or b"", block))
        inner = decode_reason(cause, [*(of.abis if of else ()), *others], imported, budget, passed)
        sentences.append(f"A call inside of it {inner.predicate}")
    is_told = len(sentences) > 1
    return reason._replace(sentence=f"{'. '.join(sentences)}." if is_told else reason.sentence)


def trace_now(
    sources: Sources, node: NodeSession, record: Mapping[str, Any]
) -> TransactionTrace | None:
    """Return a transaction's calls, None where the node does not give them now."""
    try:
        return sources.get(TransactionTraces).calls(node, transactions.indexed(record))
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        if isinstance(error, Unavailable) and not node.failed:
            raise  # the database is unavailable
        return None


def _causes(
    trace: TransactionTrace, failure: CallFailure
) -> Sequence[tuple[bytes | None, CallFailure]]:
    """Return the failures inside of a call that failed, with the address of the code: that of its
    last call, if nothing succeeded after it, and so on inwards; of those that say nothing of their
    own the innermost. Nothing where the trace is cut, which may lack later calls."""
    last = {f.trace_address[:-1]: f for f in trace.frames if f.trace_address}
    causes: list[tuple[bytes | None, CallFailure]] = []
    said, path = failure.data, failure.trace_address
    while not trace.is_truncated and (inner := last.get(path)) is not None and inner.failure:
        if causes and causes[-1][1].kind == REVERT and not causes[-1][1].data:
            causes.pop()
        if not said or inner.failure.data != said:
            causes.append((inner.to_address, inner.failure))
        said, path = inner.failure.data, inner.trace_address
    return causes[:MAX_CAUSES]


def lacks(contract: contract_abis.Contract, selector: bytes) -> bool:
    """Return whether a contract is verified and certainly has no function with this selector."""
    return (
        len(selector) == 4
        and bool(contract.abis)
        and not contract.delegates
        and not any(selector in abi.functions for abi in contract.abis)
    )


def _failure_of(error: RpcError) -> CallFailure | _Unknown:
    """Return the failure in an error of eth_call, or why it is unknown where the node refused the
    call for reasons of its own."""
    if error.is_missing_state or error.is_missing_block:
        return _Unknown(NO_STATE, is_final=True)
    failure = reverted_with(error.data)
    if failure is not None:
        return failure
    kind = kind_of(error.message)
    if not error.is_refusal or kind == "insufficient_balance":
        return _Unknown("the node has no trace of it, and refuses the same call", is_final=False)
    return CallFailure(kind, error.message[:200] if kind == "other" else "")


MAX_LISTED_DATA = 1024  # bytes that are read of what a contract reverted with


def add_reasons(reader: Reader, transactions: Sequence[dict[str, Any]]) -> None:
    """Set `reason` of each failed transaction: a clause, or "" where nothing is known of it."""
    failed = [record for record in transactions if not record["status"]]
    if not failed:
        return
    failures = _stored(reader, failed)
    emitters = {
        record["hash"]: [
            contract_abis.Emitter(code, contract_abis.block_of(record))
            for code in failures[record["hash"]].code_addresses
        ]
        for record in failed
        if record["hash"] in failures
    }
    abis, budget = reader.sources.get(contract_abis.ContractAbis), DecodingBudget()
    contracts = abis.contracts({e for codes in emitters.values() for e in codes}, budget)
    imported = abis.imported(selectors_of([*failures.values()]))
    for record in failed:
        failure = failures.get(record["hash"])
        if failure is not None:
            ran = (contracts[code] for code in emitters[record["hash"]] if code in contracts)
            declared = [abi for contract in ran for abi in contract.abis]
            record["reason"] = decode_reason(failure, declared, imported, budget).phrase
        else:
            record["reason"] = "used all its gas" if record["gasUsed"] == record["gasLimit"] else ""


def _stored(reader: Reader, failed: Sequence[Mapping[str, Any]]) -> dict[str, CallFailure]:
    """Return the stored failures by the transaction's hash."""
    (rows,) = reader.row(
        "queries/transaction_failures_list",
        hashes=[data(record["hash"], 32) for record in failed],
        block_hashes=[data(record["blockHash"], 32) for record in failed],
        most=MAX_LISTED_DATA,
    )
    return {
        hash_: CallFailure(
            kind, words, data(returned), size, code_addresses=tuple(map(data, codes))
        )
        for hash_, (kind, words, returned, size, codes) in orjson.loads(rows).items()
    }
