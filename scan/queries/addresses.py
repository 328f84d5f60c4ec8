"""Addresses: what the index has of one, of many, what they hold, what they are called."""

from collections.abc import Sequence

from scan.errors import NotFound
from scan.queries.pages import Page
from scan.queries.reader import Reader

HELD = {"tokens": "queries/addresses_list_tokens", "items": "queries/addresses_list_items"}


def held(reader: Reader, kind: str, address: bytes, limit: int, offset: int) -> Page:
    """Its `kind`: tokens or items; none of an address never seen."""
    return Page(*reader.row(HELD[kind], address=address, limit=limit, offset=offset))


def unseen() -> NotFound:
    return NotFound("This address has not been seen in any indexed block.")


def names(reader: Reader, addresses: Sequence[bytes]) -> str:
    """{address: what is known of it} as JSON text."""
    known: str
    (known,) = reader.row("queries/addresses_list_names", addresses=addresses)
    return known


def sample_blocks(reader: Reader, address: bytes, points: int) -> str:
    """[{number, time}] as JSON text: blocks evenly spread from the first it was seen in."""
    blocks: str
    (blocks,) = reader.row("queries/addresses_list_sample_blocks", address=address, points=points)
    return blocks
