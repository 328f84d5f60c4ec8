"""The page of a transaction that is not indexed, where the node knows it."""

from flask import Response

from scan import hooks
from scan.extensions.transaction_details.argument_values import addresses_in
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages import transaction_tabs
from scan.pages.records import names_of
from scan.pages.site import page


def page_of_missing(transaction_hash: bytes) -> Response | None:
    """Return the page; None where the node does not know the transaction either."""
    pending = pending_transactions.get(reader(), transaction_hash)
    if pending is None:
        return None
    sent, method = pending
    parties = [address for address in (sent.from_address, sent.to_address) if address is not None]
    return page(
        "pending_transaction.html",
        tab=transaction_tabs.requested(),
        hash=to_hex(transaction_hash),
        sent=sent,
        method=method,
        names=names_of((), *map(to_hex, parties), *addresses_in(method)),
    )


HOOKS = hooks.Pages(page_of_missing=page_of_missing)
