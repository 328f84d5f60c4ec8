"""The details of a transaction: its input, method and logs, decoded."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import Decoded, DecodingBudget
from scan.errors import ClientBusy, Unavailable, UpstreamFailed
from scan.ethereum import blocks
from scan.ethereum.stored_blocks import Receipt, TransactionLog
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import contract_abis, decoding
from scan.hex import data
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

TIMEOUT_S = 4.0
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

    `logs` are all of its logs, `decoded_logs` those of the window. `unavailable` is the reason if
    input or logs are None or not decoded. `is_call`: it called code with a selector. `unproven` are
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

    def record(self) -> dict[str, Any]:
        are_read = self.logs is not None
        return decoding.recorded("details" if are_read else "details_without_logs", self)


MAX_SMALL_GAS = 2_000_000  # a log takes at least 375


class TracedImplementations:
    """The implementations of proxies in a transaction, by its trace: they may have had others
    before it or after it in its block. Without an extension that reads traces, none."""

    def of(
        self, reader: Reader, sent: IndexedTransaction, *, may_read: bool
    ) -> Mapping[bytes, tuple[bytes, ...]]:
        """Return the implementations by proxy; `may_read`: also of a trace not known yet."""
        return {}


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
    called = None if sent.to_address is None or len(calldata) < 4 else data(sent.to_address, 20)
    logs_in_window = window.of(logs or ())
    addresses = dict.fromkeys([*filter(None, [called]), *(log.address for log in logs_in_window)])
    abis, block = reader.sources.get(contract_abis.ContractAbis), contract_abis.block_of(record)
    ran = reader.sources.get(TracedImplementations).of(reader, sent, may_read=False)
    contracts = abis.find_at_or_now([*addresses][:MAX_CONTRACTS], block, node, budget, ran)
    if any(contract.readings for contract in contracts.values()):
        ran = reader.sources.get(TracedImplementations).of(reader, sent, may_read=True)
        of_trace = [address for address, contract in contracts.items() if contract.readings]
        contracts |= abis.find_at_or_now(of_trace, block, node, budget, ran)
    selectors = {log.topics[0][:4] for log in logs_in_window if log.topics} | {calldata[:4]}
    imported, method = abis.imported_if_needed(selectors), None
    contract = contracts.get(called or b"", contract_abis.NO_CONTRACT)
    # Only code logs, but for transfers of coin, which the protocol logs itself.
    has_logs = logs is None or any(log.address != blocks.COIN_EMITTER for log in logs)
    is_call = called is not None and (has_logs or contract.has_code is not False)
    if is_call and called is not None:
        ran_there = (
            contract
            if called in ran
            else abis.of_call(
                contract, contract_abis.Emitter(called, block), calldata, node, budget
            )
        )
        method = decoding.method_of(calldata, ran_there, imported, budget)
    decoded = [
        DecodedLog(log, decoding.event_of(log, contracts.get(log.address), imported, budget))
        for log in logs_in_window
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
        [*_unproven(receipt, contract, (contracts.get(log.address) for log in logs_in_window))],
    )


def _unproven(
    receipt: Receipt,
    called: contract_abis.Contract,
    emitters: Iterable[contract_abis.Contract | None],
) -> Iterator[str]:
    if called.delegates:
        yield "method"
    if not receipt.is_proven:
        yield from ("logs", "logCount")
    elif any(emitter is not None and emitter.delegates for emitter in emitters):
        yield "logs.event"


def bound_work(reader: Reader, record: Mapping[str, Any]) -> None:
    """Hold a place until the request ends where a transaction may have many logs: 12,000 take the
    processor 0.1 s to read, and 0.3 s to decode all."""
    if int(record["gasUsed"]) > MAX_SMALL_GAS:
        reader.hold_processor()
