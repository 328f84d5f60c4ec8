"""Creations of contracts: creator, factory and transaction."""

from typing import NamedTuple

from scan.hex import to_hex
from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader

# Filters that look each contract up, in 4 to 20 us in memory, and the most look-ups for a page.
LOOKED_UP = frozenset({"verified", "proxy"})
MAX_LOOKED_UP = 16_384
# What a trace alone has of a creation by a contract.
OF_TRACES = "creator factory transactionHash blockNumber timestamp".split()


class IndexedCreation(NamedTuple):
    """A creation as indexed, without code: addresses and hash in bytes, the time in ISO 8601."""

    creator: bytes
    factory: bytes | None
    transaction_hash: bytes
    block_number: int
    timestamp: str
    transaction_index: int


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    """Return contracts by their creations; creations by contracts are known of traced blocks."""
    if window.max_entries and not LOOKED_UP.isdisjoint(filters):
        window = window._replace(max_entries=MAX_LOOKED_UP)
    return filtered_page(reader, "contract_creations", filters, window)


def indexed(reader: Reader, address: bytes) -> IndexedCreation | None:
    """Return the creation, or None where neither a transaction nor an indexed trace shows it."""
    creator, factory, transaction_hash, *block = reader.row(
        "queries/contracts_get_creation", address=address
    )
    if creator is None:
        return None
    made_by = None if factory is None else bytes(factory)
    return IndexedCreation(bytes(creator), made_by, bytes(transaction_hash), *block)


def creation_record(creation: IndexedCreation | None) -> dict[str, object] | None:
    return creation and {
        "creator": to_hex(creation.creator),
        "factory": None if creation.factory is None else to_hex(creation.factory),
        "transactionHash": to_hex(creation.transaction_hash),
        "blockNumber": creation.block_number,
        "timestamp": creation.timestamp,
        "unproven": [] if creation.factory is None else OF_TRACES,
    }
