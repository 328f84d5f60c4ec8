"""The details of a transaction: its input, method and logs, decoded."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain, islice
from operator import attrgetter
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import AbiIndex, Decoded, DecodingBudget
from scan.contracts.revert_reasons import InnerErrors, inner_selectors, may_pass_on
from scan.errors import ClientBusy, Unavailable, UpstreamFailed
from scan.ethereum import blocks
from scan.ethereum.request_node import NodeSession
from scan.ethereum.stored_blocks import Receipt, TransactionLog
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import contract_abis, decoding
from scan.hex import data
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

TIMEOUT_S = 4.0
MOST_TRACED = 25
MAX_LOGS = 20_000
TOO_MANY_LOGS = f"The transaction has more logs than the limit of {MAX_LOGS:,}."
NO_IMPLEMENTATIONS = (
    "The node does not respond; what implementations of proxies declare is not decoded."
)
IMPLEMENTATIONS_OF_NOW = (
    "The node has no state of this block; proxies are decoded by their present implementations."
)
TOO_MUCH_WORK = "Decoding all of this transaction would take too long; it is decoded in part."
MAX_CONTRACTS = 500  # per transaction; logs of further contracts are decoded by standard ABIs only


class LogWindow(NamedTuple):
    """The logs of a transaction that are decoded: `most` after a log's index, None for all."""

    after: int = -1
    most: int | None = None

    def of(self, logs: Sequence[TransactionLog]) -> Sequence[TransactionLog]:
        start = bisect_right(logs, self.after, key=attrgetter("log_index"))
        return logs[start:] if self.most is None else logs[start : start + self.most]


ALL_LOGS, NO_LOGS = LogWindow(), LogWindow(most=0)


class DecodedLog(NamedTuple):
    log: TransactionLog
    event: Decoded | None

    def record(self) -> dict[str, Any]:
        return decoding.recorded("transaction_log", self)


class TransactionDetails(NamedTuple):
    """The parts of a transaction that its row does not have, and nonce and gas limit, which old
    rows may lack.

    `access_list` is that of EIP-2930, None where its type has none. `logs` are all of its logs,
    `decoded_logs` those of the window. `unavailable` is the reason if input or logs are None or not
    decoded. `is_call`: it called code with a selector. `unproven` are
    the fields of the record that the node reports: logs without a proof of their receipt, and what
    was decoded by implementations of proxies.
    """

    nonce: int | None = None
    gas_limit: int | None = None
    input: bytes | None = None
    method: Decoded | None = None
    logs: Sequence[TransactionLog] | None = None
    log_count: int | None = None
    unavailable: str | None = None
    decoded_logs: Sequence[DecodedLog] = ()
    is_call: bool = False
    unproven: Sequence[str] = ()
    access_list: Sequence[Mapping[str, Any]] | None = None

    def record(self) -> dict[str, Any]:
        are_read = self.logs is not None
        return decoding.recorded("details" if are_read else "details_without_logs", self)


MAX_SMALL_GAS = 2_000_000  # a log takes at least 375


Code = tuple[bytes, ...]  # addresses of contracts, of which the first ran


class Content(NamedTuple):
    """What a log has in receipts and in traces."""

    address: bytes
    topics: tuple[bytes, ...]
    data: bytes


def content_of(log: TransactionLog) -> Content:
    return Content(log.address, log.topics, log.data)


class RanCode(NamedTuple):
    """The code that a transaction ran, by its trace: contracts to which the called one passed the
    call on, by the content of logs those that emitted them, and all."""

    called: Code
    emitting: Mapping[Content, Collection[Code]]
    all: Collection[bytes]


NO_TRACE = RanCode((), {}, ())
# Names of events, and of their arguments, by which contracts pass on why a call inside failed.
_REASONS = re.compile(
    r"reason|cause|revert|err|ret|result|fail|exception|caught|inner|low.?level|data", re.IGNORECASE
)


class TracedCode:
    """The code that a transaction ran: its state before and after the block does not say which
    implementation a proxy had in between. Without an extension that reads traces, none."""

    def of(self, reader: Reader, node: NodeSession, sent: IndexedTransaction) -> RanCode | None:
        """Return the code; None where the node has no trace."""
        return None


class ListBounds:
    """Of how many transactions of a list the code that ran is read, of the first ones whose proxies
    may have had another implementation than before and after their block."""

    traced = MOST_TRACED


class TracedAbis(NamedTuple):
    """The ABIs of the code that a transaction ran: whether the called contract passed the call on,
    the ABIs of what it passed it on to, and the contracts that emitted logs, by their content."""

    is_passed_on: bool
    lent: Sequence[AbiIndex]
    emitting: "Emitting"


def traced_abis(
    reader: Reader,
    node: NodeSession,
    sent: Mapping[IndexedTransaction, contract_abis.Block],
    budget: DecodingBudget,
) -> dict[IndexedTransaction, TracedAbis]:
    """Return the ABIs of the code that ran in the first transactions of a list, of those of which
    the node has a trace."""
    abis, traced = reader.sources.get(contract_abis.ContractAbis), reader.sources.get(TracedCode)
    read = {}
    for one, block in islice(sent.items(), reader.sources.get(ListBounds).traced):
        ran = traced.of(reader, node, one)
        if ran is not None:
            read[one] = TracedAbis(bool(ran.called), *_traced(ran, abis, block, budget))
    return read


def details(reader: Reader, record: Mapping[str, Any], window: LogWindow) -> TransactionDetails:
    """Return the details of a transaction, with the logs of a window decoded. Where the node does
    not tell which implementations proxies had, calls and logs are decoded without, and the response
    is not cached. Raises Unavailable if the database is unavailable."""
    bound_work(reader, record)
    sent, node, budget = indexed(record), reader.node.within(TIMEOUT_S), DecodingBudget()
    try:
        transaction = reader.sources.transaction_contents.transaction(node, sent)
    except (UpstreamFailed, Unavailable) as error:
        if isinstance(error, ClientBusy) or (isinstance(error, Unavailable) and not node.failed):
            raise  # the client waits for other requests, or the database is unavailable
        reader.do_not_cache()
        is_call = record["methodId"] is not None and decoding.called_code(reader, [record])[0]
        return TransactionDetails(unavailable=error.message, is_call=is_call)
    calldata, receipt = transaction.input, transaction.receipt
    log_count, logs = receipt.log_count, receipt.logs
    if log_count is not None and log_count > MAX_LOGS:
        logs = None
    target = None if sent.to_address is None else data(sent.to_address, 20)
    called = None if len(calldata) < 4 else target
    logs_in_window = window.of(logs or ())
    emitters = {log.address for log in logs_in_window}
    addresses = dict.fromkeys([*filter(None, [target]), *(log.address for log in logs_in_window)])
    abis, block = reader.sources.get(contract_abis.ContractAbis), contract_abis.block_of(record)
    contracts = {
        emitter.address: contract
        for emitter, contract in abis.contracts(
            {contract_abis.Emitter(a, block) for a in [*addresses][:MAX_CONTRACTS]}, budget
        ).items()
    }
    running = {a for a in emitters | {called} if a in contracts and contracts[a].delegates}
    running |= {
        log.address
        for log in logs_in_window
        if log.address in contracts and contracts[log.address].may_have_run_another(log.topics)
    }
    traced = reader.sources.get(TracedCode)
    of_trace = traced.of(reader, node, sent) if running else None
    ran = of_trace or NO_TRACE
    lent, emitting = _traced(ran, abis, block, budget)
    untraced = {a for a in running if a == called and of_trace is None}
    untraced |= running & {log.address for log in logs_in_window if content_of(log) not in emitting}
    contracts |= abis.find_at_or_now(untraced, block, node, budget)
    selectors = {log.topics[0][:4] for log in logs_in_window if log.topics} | {calldata[:4]}
    imported, method = abis.imported_if_needed(selectors), None
    contract = contracts.get(called or b"", contract_abis.NO_CONTRACT)
    # Only code logs, but for transfers of coin, which the protocol logs itself.
    has_logs = logs is None or any(log.address != blocks.COIN_EMITTER for log in logs)
    is_call = called is not None and (has_logs or contract.has_code is not False)
    if is_call and called is not None:
        ran_there = (
            contract._replace(abis=(*lent, *contract.abis))
            if ran.called
            else abis.of_call(
                contract, contract_abis.Emitter(called, block), calldata, node, budget
            )
        )
        method = decoding.method_of(calldata, ran_there, imported, budget)
    elif called is None and target in contracts:
        method = decoding.method_of(calldata, contracts[target], imported, budget)
    decoded = []
    for log in logs_in_window:
        emitter = contracts.get(log.address, contract_abis.NO_CONTRACT)
        emitter = emitter._replace(readings=tuple(emitting.get(content_of(log), emitter.readings)))
        decoded.append(DecodedLog(log, decoding.event_of(log, emitter, imported, budget)))
    if any(event and _passes_on(event) for _, event in decoded):
        ran = ran if running else traced.of(reader, node, sent) or NO_TRACE
        took_part = {contract_abis.Emitter(code, block) for code in [*ran.all][:MAX_CONTRACTS]}
        others = [abi for of in abis.contracts(took_part, budget).values() for abi in of.abis]
        passed_on = {inner for log, _ in decoded for inner in inner_selectors(log.data)}
        imported = abis.imported_if_needed(passed_on)
        decoded = [
            DecodedLog(log, event and InnerErrors(others, imported, budget).within(event))
            for log, event in decoded
        ]
    unavailable = TOO_MUCH_WORK if budget.is_exceeded else None
    if any(contract.is_of_now for contract in contracts.values()):
        unavailable = unavailable or IMPLEMENTATIONS_OF_NOW
    if node.failed:
        reader.do_not_cache()
        unavailable = NO_IMPLEMENTATIONS
    return TransactionDetails(
        transaction.nonce,
        transaction.gas_limit,
        calldata,
        method,
        logs,
        log_count,
        TOO_MANY_LOGS if logs is None else unavailable,
        decoded,
        is_call,
        [
            *_unproven(
                receipt,
                is_method_of_node=contract.delegates or bool(ran.called),
                is_event_of_node=bool(running & emitters),
            )
        ],
        transaction.fields.get("accessList"),
    )


Emitting = Mapping[Content, Sequence[contract_abis.Contract]]


def _traced(
    ran: RanCode,
    abis: contract_abis.ContractAbis,
    block: contract_abis.Block,
    budget: DecodingBudget,
) -> tuple[Sequence[AbiIndex], Emitting]:
    """Return the ABIs of what the called contract passed the call on to, and the contracts that
    emitted logs, by their content."""
    of_logs = [code for codes in ran.emitting.values() for code in codes]
    emitters = {
        contract_abis.Emitter(code, block)
        for code in [*dict.fromkeys(chain(ran.called, *of_logs))][:MAX_CONTRACTS]
    }
    of = {e.address: contract for e, contract in abis.contracts(emitters, budget).items()}

    def contracts(code: Code) -> list[contract_abis.Contract]:
        return [of[address] for address in code if address in of]

    return contract_abis.ran(abi for of in contracts(ran.called) for abi in of.abis), {
        content: [contract_abis.emitting(contracts(code), content.topics) for code in codes]
        for content, codes in ran.emitting.items()
    }


def _passes_on(event: Decoded) -> bool:
    """Return whether an event may have the error of a contract that emitted nothing."""
    names = (event.name, *(argument.name for argument in event.arguments))
    return may_pass_on(event) and any(map(_REASONS.search, names))


def _unproven(
    receipt: Receipt, *, is_method_of_node: bool, is_event_of_node: bool
) -> Iterator[str]:
    if is_method_of_node:
        yield "method"
    if not receipt.is_proven:
        yield from ("logs", "logCount")
    elif is_event_of_node:
        yield "logs.event"


def bound_work(reader: Reader, record: Mapping[str, Any]) -> None:
    """Hold a place until the request ends where a transaction may have many logs: 12,000 take the
    processor 0.1 s to read, and 0.3 s to decode all."""
    if int(record["gasUsed"]) > MAX_SMALL_GAS:
        reader.hold_processor()
