"""Addresses: what the index has of one, of many, what they hold, what they are called."""

from collections.abc import Sequence

from scan.errors import NotFound
from scan.queries.pages import Page
from scan.queries.reader import Reader


def tokens_held(
    reader: Reader, address: bytes, limit: int, offset: int, token_type: str | None = None
) -> Page:
    """Of one type, or of all; an address never seen holds none."""
    return Page(
        *reader.row(
            "queries/addresses_list_tokens",
            address=address,
            type=token_type,
            has_type=token_type is not None,
            limit=limit,
            offset=offset,
        )
    )


def items_held(reader: Reader, address: bytes, limit: int, offset: int) -> Page:
    """Of BEP721 and BEP1155, those first moved last first; an address never seen has none."""
    return Page(
        *reader.row("queries/addresses_list_items", address=address, limit=limit, offset=offset)
    )


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
