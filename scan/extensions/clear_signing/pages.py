"""What the call of a transaction is for, on its page."""

from scan.extensions.clear_signing.queries import TEMPLATE, Erc7730
from scan.http.requests import reader
from scan.pages.hooks import Pages, Shown, TransactionSection
from scan.pages.records import Record


def transaction_head(transaction: Record) -> Shown:
    described = reader().sources.get(Erc7730).of_transaction(reader(), transaction)
    return Shown({"clear_signing": described})


HOOKS = Pages(sections=(TransactionSection({"transaction_call": TEMPLATE}, transaction_head),))
