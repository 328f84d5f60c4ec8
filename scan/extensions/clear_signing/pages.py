"""What the call of a transaction is for, on its page."""

from scan import hooks
from scan.extensions.clear_signing.queries import of_transaction
from scan.http.requests import reader
from scan.pages.records import Record
from scan.pages.sections import Shown, TransactionSection


def transaction_head(transaction: Record) -> Shown:
    return Shown({"clear_signing": of_transaction(reader(), transaction)})


HOOKS = hooks.Pages(
    sections=(TransactionSection({"transaction_call": "clear_signing.html"}, transaction_head),)
)
