"""What follows from a transaction's details: why it failed, and the sentence about it."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.transaction_details.details import TransactionDetails
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.argument_values import addresses_in
from scan.pages.hooks import Shown
from scan.pages.records import Record


def fields(record: Mapping[str, Any], details: TransactionDetails) -> dict[str, Any]:
    """Return why a transaction failed, which nothing proves, and the sentence about it."""
    failure = explanations.located_failure(reader(), record)
    return {
        "unproven": [] if failure is None else ["error", "summary"],
        "error": None if failure is None else failure.record(),
        "summary": explanations.summary(reader(), record, details, failure).record(),
    }


def head(transaction: Record, details: TransactionDetails) -> Shown:
    """Return the sentence above a transaction, and why it failed."""
    failure = explanations.located_failure(reader(), transaction)
    summary = explanations.summary(reader(), transaction, details, failure)
    addresses: list[str] = []
    if failure is not None:
        addresses = [*addresses_in(failure.reason.decoded), *map(to_hex, failure.code_addresses())]
    return Shown({"sentence": summary.parts, "failure": failure}, addresses)
