"""What the call of a transaction is for, among the fields of GET /api/v1/transactions/:hash and on
its page, by the descriptors of the operator's folder, which live as long as the process."""

from collections.abc import Mapping
from typing import Any

from scan.api.hooks import Api
from scan.extensions.clear_signing.descriptors import Descriptors
from scan.extensions.clear_signing.queries import TEMPLATE, Described, Erc7730
from scan.extensions.clear_signing.settings import Settings
from scan.extensions.transaction_details.decoding import ClearSigning
from scan.http.hooks import Service
from scan.http.requests import reader
from scan.pages.hooks import Pages, Shown, TransactionSection
from scan.pages.records import Record


def described(transaction: Mapping[str, Any]) -> Described:
    """Return what the call is for."""
    return reader().sources.get(Erc7730).of_transaction(reader(), transaction)


def transaction_fields(transaction: Mapping[str, Any]) -> dict[str, Any]:
    return described(transaction).record()


def transaction_head(transaction: Record) -> Shown:
    return Shown({"clear_signing": described(transaction)})


HOOKS = (
    Api(transaction_fields=transaction_fields),
    Service(
        make=lambda core: Erc7730(Descriptors(core.settings.of(Settings).descriptors)),
        base=ClearSigning,
    ),
    Pages(sections=(TransactionSection({"transaction_call": TEMPLATE}, transaction_head),)),
)
