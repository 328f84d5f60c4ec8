"""A transaction's details that are read from the node: input, nonce, logs, why it failed."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from scan.contracts.abi_decoding import Decoded
from scan.contracts.transaction_details import DecodedLog
from scan.contracts.transaction_failures import TransactionFailure
from scan.contracts.transaction_summary import Summary
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.records import Record
from scan.pages.transaction_traces import addresses_in
from scan.queries import summaries, transactions

MAX_LOGS = 100


class ShownLog(NamedTuple):
    log_index: int
    address: str
    topics: Sequence[str]
    data: str
    event: Decoded | None


class ShownDetails(NamedTuple):
    """Values are None if the node does not have them; `failure` if the transaction succeeded."""

    nonce: int | None
    gas_limit: int | None
    input: str | None
    method: Decoded | None
    logs: Sequence[ShownLog] | None
    log_count: int | None
    unavailable: str | None
    failure: TransactionFailure | None
    summary: Summary

    def addresses(self) -> Iterator[str]:
        """Addresses to show with their names."""
        for log in self.logs or ():
            yield log.address
            yield from _addresses(log.event)
        yield from _addresses(self.method)
        if self.failure is not None:
            yield from _addresses(self.failure.reason.decoded)
            yield from map(to_hex, self.failure.code_addresses())


def shown_details(transaction: Record) -> ShownDetails:
    details = transactions.details(reader(), transaction)
    failure = transactions.failure(reader(), transaction)
    return ShownDetails(
        details.nonce,
        details.gas_limit,
        None if details.input is None else to_hex(details.input),
        details.method,
        None if details.logs is None else [_shown(log) for log in details.logs[:MAX_LOGS]],
        details.log_count,
        details.unavailable,
        failure,
        summaries.summary(reader(), transaction, details, failure),
    )


def _shown(decoded: DecodedLog) -> ShownLog:
    log = decoded.log
    topics = [to_hex(topic) for topic in log.topics]
    return ShownLog(log.log_index, to_hex(log.address), topics, to_hex(log.data), decoded.event)


def _addresses(decoded: Decoded | None) -> Iterator[str]:
    yield from addresses_in(decoded.arguments if decoded else ())
