"""User operations (ERC-4337): their lists, and those with a hash."""

from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    return filtered_page(reader, "user_operations", filters, window)


def with_hash(reader: Reader, operation_hash: bytes) -> str:
    """Return the newest records with the hash, a JSON array as text."""
    records: str
    (records,) = reader.row("queries/user_operations_get", hash=operation_hash)
    return records
