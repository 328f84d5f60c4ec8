"""The details of a transaction that the node has: its input, method and logs, decoded."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import Decoded, DecodingBudget, decode_call_by
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import (
    MAX_LOGS,
    Content,
    IndexedTransaction,
    NodeTransaction,
    TransactionLog,
    TransactionReader,
    TransactionUnavailable,
)
from scan.extensions.transaction_details import contract_abis
from scan.extensions.transaction_details.decoding import decode_call, decode_log, decode_log_by
from scan.hex import data, to_hex
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

TIMEOUT_S = 4.0
TOO_MANY_LOGS = f"The transaction has more logs than the limit of {MAX_LOGS:,}."
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
        return {
            "address": to_hex(self.log.address),
            "topics": [to_hex(topic) for topic in self.log.topics],
            "data": to_hex(self.log.data),
            "logIndex": self.log.log_index,
            "event": None if self.event is None else self.event.record(),
        }


class TransactionDetails(NamedTuple):
    """The parts of a transaction that only the node has. Pages need nonce and gas limit, which old
    records may lack.

    `logs` are all of its logs, `decoded_logs` those of the window that was asked for. `unavailable`
    is the reason if input or logs are None or not decoded. `passing`: another request may succeed.
    """

    nonce: int | None = None
    gas_limit: int | None = None
    input: bytes | None = None
    method: Decoded | None = None
    logs: Sequence[TransactionLog] | None = None
    log_count: int | None = None
    unavailable: str | None = None
    passing: bool = False
    decoded_logs: Sequence[DecodedLog] = ()

    def record(self) -> dict[str, Any]:
        return {
            "input": None if self.input is None else to_hex(self.input),
            "method": None if self.method is None else self.method.record(),
            "logs": None if self.logs is None else [log.record() for log in self.decoded_logs],
            "unavailable": self.unavailable,
            "logCount": self.log_count,
        }


class TransactionDetailsReader:
    """Reads the details of transactions within TIMEOUT_S."""

    def __init__(self, transactions: TransactionReader, abis: contract_abis.ContractAbis) -> None:
        self._transactions = transactions
        self._abis = abis

    def read(
        self, node: NodeSession, indexed: IndexedTransaction, window: LogWindow
    ) -> TransactionDetails:
        """Read the details of a transaction. Raises Unavailable if the database is unavailable."""
        node = node.within(TIMEOUT_S)
        budget = DecodingBudget()
        try:
            transaction = self._transactions.read(node, [(indexed, Content.LOGS)])[indexed.hash]
            shown = window.of(_logs(transaction) or ())
            contracts = self._contracts(node, indexed, transaction, shown, budget)
        except TransactionUnavailable as error:
            return TransactionDetails(unavailable=str(error), passing=True)
        except (UpstreamFailed, Unavailable) as error:
            if not node.failed:
                raise
            return TransactionDetails(unavailable=error.message, passing=True)
        return self._decoded(indexed, transaction, shown, contracts, budget)

    def _contracts(
        self,
        node: NodeSession,
        indexed: IndexedTransaction,
        transaction: NodeTransaction,
        shown: Sequence[TransactionLog],
        budget: DecodingBudget,
    ) -> dict[bytes, contract_abis.Contract]:
        """Return the called contract and those that emitted the shown logs, by address."""
        called_address = _called(indexed, transaction)
        addresses = [log.address for log in shown]
        addresses = [*dict.fromkeys([*([called_address] if called_address else []), *addresses])][
            :MAX_CONTRACTS
        ]
        block = contract_abis.Block(indexed.block_number, indexed.block_hash)
        emitters = [contract_abis.Emitter(address, block) for address in addresses]
        contracts = self._abis.find_at(emitters, node, budget)
        return {emitter.address: contract for emitter, contract in contracts.items()}

    def _decoded(
        self,
        indexed: IndexedTransaction,
        transaction: NodeTransaction,
        shown: Sequence[TransactionLog],
        contracts: Mapping[bytes, contract_abis.Contract],
        budget: DecodingBudget,
    ) -> TransactionDetails:
        called_address, method, calldata = _called(indexed, transaction), None, transaction.input
        if called_address is not None:
            contract = contracts.get(called_address, contract_abis.NO_CONTRACT)
            method = decode_call(calldata, contract.abis, contract.token_type, budget=budget)
        logs = _logs(transaction)
        events = [decode_event(log, contracts.get(log.address), budget) for log in shown]
        undecoded = {
            log.topics[0][:4]
            for log, event in zip(shown, events, strict=True)
            if event is None and log.topics
        }
        if called_address is not None and method is None:
            undecoded.add(calldata[:4])
        signatures = self._abis.imported(undecoded)
        if called_address is not None and method is None:
            method = decode_call_by(calldata, signatures.get(calldata[:4], ()), budget=budget)
        decoded = [
            DecodedLog(log, event or decode_event_by(log, signatures, budget))
            for log, event in zip(shown, events, strict=True)
        ]
        receipt = transaction.receipt
        over = TOO_MUCH_WORK if budget.is_exceeded else None
        return TransactionDetails(
            transaction.nonce,
            transaction.gas_limit,
            calldata,
            method,
            logs,
            None if receipt is None else receipt.log_count,
            TOO_MANY_LOGS if logs is None else over,
            decoded_logs=decoded,
        )


def decode_event(
    log: TransactionLog, contract: contract_abis.Contract | None, budget: DecodingBudget
) -> Decoded | None:
    """Decode a log by the contract's ABIs, or else by standard ABIs."""
    abis, token_type, _ = contract or contract_abis.NO_CONTRACT
    return decode_log(log.topics, log.data, abis, token_type, budget=budget)


def decode_event_by(
    log: TransactionLog, signatures: Mapping[bytes, Sequence[str]], budget: DecodingBudget
) -> Decoded | None:
    """Decode a log by imported signatures."""
    texts = signatures.get(log.topics[0][:4], ()) if log.topics else ()
    return decode_log_by(log.topics, log.data, texts, budget=budget) if texts else None


def _called(indexed: IndexedTransaction, transaction: NodeTransaction) -> bytes | None:
    """Return the called address; None where the transaction calls no function."""
    if indexed.to_address is None or len(transaction.input) < 4:
        return None
    return data(indexed.to_address, 20)


def _logs(transaction: NodeTransaction) -> Sequence[TransactionLog] | None:
    return None if transaction.receipt is None else transaction.receipt.logs


MAX_SMALL_GAS = 2_000_000  # a log takes at least 375


def details(reader: Reader, record: Mapping[str, Any], window: LogWindow) -> TransactionDetails:
    """Return the node's details, with the logs of a window decoded; the response is not cached
    where a retry may get more."""
    bound_work(reader, record)
    sources = reader.sources
    details_reader = TransactionDetailsReader(
        sources.node_transactions, sources.get(contract_abis.ContractAbis)
    )
    details = details_reader.read(reader.node, indexed(record), window)
    if details.passing:
        reader.do_not_cache()
    return details


def bound_work(reader: Reader, record: Mapping[str, Any]) -> None:
    """Hold a place until the request ends where what the node has of a transaction may be large:
    12,000 logs take the processor 0.1 s to read, and 0.3 s to decode all."""
    if int(record["gasUsed"]) > MAX_SMALL_GAS:
        reader.hold_processor()
