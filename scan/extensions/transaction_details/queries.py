"""The details of a transaction that the node has."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.extensions.transaction_details.details import (
    LogWindow,
    TransactionDetails,
    TransactionDetailsReader,
)
from scan.queries.reader import Reader
from scan.queries.transactions import indexed

MAX_SMALL_GAS = 2_000_000  # a log takes at least 375


def details(reader: Reader, record: Mapping[str, Any], window: LogWindow) -> TransactionDetails:
    """Return the node's details, with the logs of a window decoded; the response is not cached
    where a retry may get more."""
    bound_work(reader, record)
    sources = reader.sources
    details_reader = TransactionDetailsReader(sources.node_transactions, sources.get(ContractAbis))
    details = details_reader.read(reader.node, indexed(record), window)
    if details.passing:
        reader.do_not_cache()
    return details


def bound_work(reader: Reader, record: Mapping[str, Any]) -> None:
    """Hold a place until the request ends where what the node has of a transaction may be large:
    12,000 logs take the processor 0.1 s to read, and 0.3 s to decode all."""
    if int(record["gasUsed"]) > MAX_SMALL_GAS:
        reader.hold_processor()
