"""Addresses: what the index has of one, of many, what they hold, what they are called."""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import orjson

from scan.errors import HistoryUnavailable
from scan.ethereum.block_parameter import BlockId
from scan.parameters import BIGINT_MAX
from scan.queries import balances
from scan.queries.balances import Balance, Head
from scan.queries.cursors import ADDRESS
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader


def tokens_held(
    reader: Reader, address: bytes, window: Window, token_type: str | None = None
) -> Page:
    """Return the tokens of one type, or of all; an address never seen holds none."""
    filters = {"address": address, "type": token_type}
    traversal = window.traversal("tokens held", filters, (ADDRESS,), has_blocks=False)
    data, count, total, token = reader.row(
        "queries/addresses_list_tokens",
        address=address,
        type=token_type,
        has_type=token_type is not None,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    following = traversal.next(None if token is None else [bytes(token)])
    return Page(data, count, total, following)


class Address(NamedTuple):
    """An address's record; `first_seen` and `last_seen` (ISO 8601) are None if it was never seen.

    `recent` has its newest 25 transactions as JSON text. `delegate` is whose code an account runs
    (EIP-7702), of which it has so many `authorizations`.
    """

    balance: Balance
    transaction_count: int
    label: str | None
    first_seen: str | None
    last_seen: str | None
    recent: str
    delegate: bytes | None
    authorizations: int


class Summary(NamedTuple):
    """A summary is what a list shows of an address."""

    balance: Balance
    transaction_count: int
    delegate: str | None


def tokens_held_at(reader: Reader, address: bytes, window: Window, block: BlockId) -> Page:
    """Return the tokens held after a block, by transfers; may raise HistoryUnavailable."""
    if reader.kept_from is not None and block.number < reader.kept_from.number - 1:
        raise HistoryUnavailable(
            f"What was held then is not known: transfers before block {reader.kept_from.number}"
            " are not kept."
        )
    filters = {"address": address, "block": block.hash}
    traversal = window.traversal("tokens held", filters, (ADDRESS,), has_blocks=False)
    data, count, total, token = reader.row(
        "queries/addresses_list_tokens_at",
        planned_per_call=True,  # few at once: it reads all of them
        address=address,
        block_number=block.number,
        is_from_end=reader.kept_from is not None,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    following = traversal.next(None if token is None else [bytes(token)])
    return Page(data, count, total, following)


def get(reader: Reader, address: bytes, block: BlockId | None = None) -> Address:
    """Return an address, seen or not, with its balance after a block, or at the head."""
    *row, head_number, head_hash, unchanged_from = reader.row(
        "queries/addresses_get", address=address, state_block=block.number if block else BIGINT_MAX
    )
    count, label, first_seen, last_seen, recent, delegate, authorizations, *stored = row
    head = Head(head_number, head_hash, unchanged_from)
    if block is None:
        [balance] = balances.at_head(reader, [address], [Balance(*stored)], head)
    else:
        balance = balances.at_block(reader, address, block)
    delegate = None if delegate is None else bytes(delegate)
    seen = count or 0, label, first_seen, last_seen, recent
    return Address(balance, *seen, delegate, authorizations or 0)


def get_many(reader: Reader, addresses: Sequence[bytes]) -> list[Summary]:
    """Return a summary of each, in the order of `addresses`, which may be any."""
    rows, *head = reader.row("queries/addresses_list", addresses=addresses)
    records = orjson.loads(rows)
    stored = [
        Balance(record["balance"], record["balanceBlock"], record["isContract"])
        for record in records
    ]
    current = balances.at_head(reader, addresses, stored, Head(*head))
    return [
        Summary(balance, record["txCount"], record["delegate"])
        for balance, record in zip(current, records, strict=True)
    ]


def items_held(reader: Reader, address: bytes, window: Window) -> Page:
    """List the BEP721 and BEP1155 items held, those first moved last first; none if never seen."""
    traversal = window.traversal("items held", {"address": address}, has_blocks=False)
    data, count, total, first_ordinal = reader.row(
        "queries/addresses_list_items",
        address=address,
        limit=window.limit,
        offset=window.offset,
        after=traversal.after,
    )
    following = traversal.next(None if first_ordinal is None else [first_ordinal])
    return Page(data, count, total, following)


def names(reader: Reader, addresses: Sequence[bytes]) -> str:
    """Return {address: what is known of it} as JSON text."""
    known: str
    (known,) = reader.row("queries/addresses_list_names", addresses=addresses)
    return known


def parties(reader: Reader, addresses: Sequence[bytes]) -> dict[str, dict[str, Any]]:
    """Return what lists say of each address: label, contract, isContract, token, pool."""
    if not addresses:
        return {}
    (known,) = reader.row("queries/transactions_list_parties", addresses=addresses)
    return cast("dict[str, dict[str, Any]]", orjson.loads(known))


def counts(reader: Reader, address: bytes, most: int) -> dict[str, Any]:
    """Return how many rows the lists of an address have; see the statement."""
    (record,) = reader.row("queries/addresses_get_counts", address=address, most=most)
    return cast("dict[str, Any]", orjson.loads(record))
