"""Addresses: what the index has of one, of many, what they hold, what they are called."""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from scan.errors import NotFound
from scan.queries import balances
from scan.queries.balances import Balance, Head
from scan.queries.pages import Page
from scan.queries.reader import Reader

HELD = {"tokens": "queries/addresses_list_tokens", "items": "queries/addresses_list_items"}


class Address(NamedTuple):
    """`first_seen` and `last_seen` (ISO 8601) are None for an address never seen.

    `recent` has its newest 25 transactions as JSON text.
    """

    balance: Balance
    transaction_count: int
    label: str | None
    first_seen: str | None
    last_seen: str | None
    recent: str


class Summary(NamedTuple):
    """Of an address among many."""

    balance: Balance
    transaction_count: int


def get(reader: Reader, address: bytes) -> Address:
    """Also one that was never seen."""
    *row, head_number, head_hash, unchanged_from = reader.row(
        "queries/addresses_get", address=address
    )
    count, label, first_seen, last_seen, recent, *stored = row
    head = Head(head_number, head_hash, unchanged_from)
    [balance] = balances.at_head(reader, [address], [Balance(*stored)], head)
    return Address(balance, count or 0, label, first_seen, last_seen, recent)


def get_many(reader: Reader, addresses: Sequence[bytes]) -> list[Summary]:
    """In the order of `addresses`, which may be any."""
    rows, *head = reader.row("queries/addresses_list", addresses=addresses)
    records = orjson.loads(rows)
    stored = [
        Balance(record["balance"], record["balanceBlock"], record["isContract"])
        for record in records
    ]
    current = balances.at_head(reader, addresses, stored, Head(*head))
    return [
        Summary(balance, record["txCount"])
        for balance, record in zip(current, records, strict=True)
    ]


def held(reader: Reader, kind: str, address: bytes, limit: int, offset: int) -> Page:
    """Its `kind`: tokens or items; raises NotFound for an address never seen."""
    page = Page(*reader.row(HELD[kind], address=address, limit=limit, offset=offset))
    if page.data is None:
        raise unseen()
    return page


def is_seen(reader: Reader, address: bytes) -> bool:
    return bool(reader.row("queries/addresses_is_seen", address=address)[0])


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
