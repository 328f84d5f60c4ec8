"""Transactions: their lists, one with what the node has of it, what happened in it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from scan.contracts import transaction_summary
from scan.contracts.failure_reasons import ERROR, UNKNOWN
from scan.contracts.summary_facts import Facts
from scan.contracts.summary_parts import Names
from scan.contracts.transaction_details import TransactionDetails
from scan.contracts.transaction_failures import TransactionFailure
from scan.contracts.transaction_summary import Summary
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.hex import data
from scan.queries import internal_transfers, network
from scan.queries.pages import Form, Page, Window, filtered_page
from scan.queries.reader import Reader

MAX_INTERNAL = 200  # of a transaction's internal transfers, for its summary


class TransactionEvents(NamedTuple):
    """What a page shows of a transaction; lists are JSON as text, shorter than their counts."""

    transfers: str
    transfer_count: int
    trades: str
    trade_count: int


def page(
    reader: Reader,
    window: Window,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
    method: bytes | None = None,
    status: bool | None = None,
    form: Form = "api",
) -> Page:
    """`method` is the selector of the function that was called."""
    keys = {"address": address, "from": sender, "to": recipient}
    also = {"method": method, "status": status}
    return filtered_page(reader, "transactions", {**keys, **also}, window, form=form)


def get(reader: Reader, transaction_hash: bytes) -> str | None:
    """The record as JSON text; None for one that is not indexed."""
    record: str | None
    (record,) = reader.row("queries/transactions_get", hash=transaction_hash)
    return record


def status(reader: Reader, transaction_hash: bytes) -> bool | None:
    """None for one that is not indexed."""
    succeeded: bool | None
    [succeeded] = reader.row("queries/transactions_get_status", hash=transaction_hash)
    return succeeded


def details(reader: Reader, record: Mapping[str, Any]) -> TransactionDetails:
    """What the node has of a transaction, decoded; not cached where asking again may give more."""
    indexed = IndexedTransaction(
        record["hash"], record["blockNumber"], record["blockHash"], record["toAddress"]
    )
    details = reader.sources.transaction_details.read(reader.node, indexed)
    if details.passing:
        reader.do_not_cache()
    return details


def failure(reader: Reader, record: Mapping[str, Any]) -> TransactionFailure | None:
    """Why it failed; None where it succeeded. Not cached where asking again may give more."""
    if record["status"]:
        return None
    failure = reader.sources.transaction_failures.read(reader.node, record)
    if failure.is_passing:
        reader.do_not_cache()
    return failure


def events(reader: Reader, transaction_hash: bytes) -> TransactionEvents:
    return TransactionEvents(*reader.row("queries/transactions_get_events", hash=transaction_hash))


def summary(
    reader: Reader,
    record: Mapping[str, Any],
    details: TransactionDetails,
    failure: TransactionFailure | None,
) -> Summary:
    """What it did, in one sentence; `failure` is why it failed."""
    facts = _facts(reader, record, details)
    if failure is not None:
        facts = facts._replace(error=_reason(failure))
    keys = [data(address, 20) for address in facts.addresses()]
    (parties,) = reader.row("queries/transactions_list_parties", addresses=keys)
    return transaction_summary.summarise(
        facts, Names(orjson.loads(parties), network.coin_symbol(reader))
    )


def _reason(failure: TransactionFailure) -> str | None:
    """In few words: what the contract said, or else a sentence without its end."""
    reason = failure.reason
    if reason.kind == ERROR and reason.decoded is not None:
        return str(reason.decoded.arguments[0].value) or None
    return None if reason.kind == UNKNOWN else reason.sentence.removesuffix(".")


def _facts(reader: Reader, record: Mapping[str, Any], details: TransactionDetails) -> Facts:
    """Without further statements where the input is empty and nothing was emitted, or it failed."""
    if not record["status"] or (details.input == b"" and details.log_count == 0):
        return Facts(record, details, (), 0, (), 0, None)
    key = data(record["hash"], 32)
    stored = events(reader, key)
    internal, is_traced = internal_transfers.of_transaction(
        reader, key, Window(MAX_INTERNAL, 0, "asc")
    )
    is_whole = is_traced and (internal.total or 0) <= MAX_INTERNAL
    return Facts(
        record,
        details,
        orjson.loads(stored.transfers or "[]"),
        stored.transfer_count,
        orjson.loads(stored.trades or "[]"),
        stored.trade_count,
        orjson.loads(internal.data or "[]") if is_whole else None,
    )
