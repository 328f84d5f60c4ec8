"""What the call of a transaction is for, on its page."""

from scan import hooks
from scan.extensions.clear_signing.queries import TEMPLATE, Erc7730
from scan.http.requests import reader
from scan.pages.records import Record
from scan.pages.sections import Shown, TransactionSection


def transaction_head(transaction: Record) -> Shown:
    described = reader().sources.get(Erc7730).of_transaction(reader(), transaction)
    return Shown({"clear_signing": described})


HOOKS = hooks.Pages(
    sections=(TransactionSection({"transaction_call": TEMPLATE}, transaction_head),)
)
