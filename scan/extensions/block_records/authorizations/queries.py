"""Authorizations (EIP-7702), by which accounts delegate to the code of a contract."""

import json

from scan.parameters import BIGINT_MAX
from scan.queries import transactions
from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    """Return a page; a transaction's authorizations are read from its block alone."""
    blocks = 0, BIGINT_MAX
    transaction_hash = filters.get("transaction")
    if isinstance(transaction_hash, bytes):
        record = transactions.get(reader, transaction_hash)
        block = BIGINT_MAX if record is None else json.loads(record)["blockNumber"]
        blocks = block, block
    return filtered_page(reader, "authorizations", filters, window, blocks=blocks)
