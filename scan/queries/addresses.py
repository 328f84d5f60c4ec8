"""Addresses: records of one or many, the tokens and items that they hold, names, counts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import orjson

from scan.errors import HistoryUnavailable
from scan.ethereum.block_parameter import BlockId
from scan.hex import to_hex
from scan.parameters import BIGINT_MAX
from scan.queries import balances, older_tokens
from scan.queries.balances import Balance, Head
from scan.queries.cursors import ADDRESS
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader

# What queries/addresses_list returns besides the fields that extensions add.
OF_SUMMARY = ("address", "balance", "balanceBlock", "isCurrent", "txCount", "isContract")


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
    if reader.first_block:
        records = orjson.loads(data)
        older_tokens.correct_balances(reader, records, holder=to_hex(address))
        data = orjson.dumps(records).decode()
    return Page(data, count, total, following)


class Address(NamedTuple):
    """An address's record; `first_seen` and `last_seen` (ISO 8601) are None if it was never seen.

    `recent` has its newest 25 transactions as JSON text, `more` the fields that extensions add.
    """

    balance: Balance
    transaction_count: int
    label: str | None
    first_seen: str | None
    last_seen: str | None
    recent: str
    more: Mapping[str, Any]


class Summary(NamedTuple):
    """The values of an address that lists show; `more` has those of extensions."""

    balance: Balance
    transaction_count: int
    more: Mapping[str, Any]


def tokens_held_at(reader: Reader, address: bytes, window: Window, block: BlockId) -> Page:
    """Return the tokens held after a block, computed from transfers; raises HistoryUnavailable
    where these are not kept."""
    if reader.kept_from is not None and block.number < reader.kept_from.number - 1:
        raise HistoryUnavailable(
            f"The tokens held then are not known: transfers before block {reader.kept_from.number}"
            " are not kept."
        )
    filters = {"address": address, "block": block.hash}
    traversal = window.traversal("tokens held", filters, (ADDRESS,), has_blocks=False)
    data, count, total, token = reader.row(
        "queries/addresses_list_tokens_at",
        planned_per_call=True,  # so that few run at once: each reads all the transfers
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
    """Return an address, seen or not, with its balance after `block`, or at the head."""
    *row, head_number, head_hash = reader.row(
        "queries/addresses_get", address=address, state_block=block.number if block else BIGINT_MAX
    )
    count, label, first_seen, last_seen, recent, more, *stored = row
    head = Head(head_number, head_hash)
    if block is None:
        [balance] = balances.at_head(reader, [address], [balances.stored(*stored)], head)
    else:
        balance = balances.at_block(reader, address, block)
    seen = count or 0, label, first_seen, last_seen, recent
    return Address(balance, *seen, orjson.loads(more))


def get_many(reader: Reader, addresses: Sequence[bytes]) -> list[Summary]:
    """Return the summaries of addresses, seen or not, in their order."""
    rows, *head = reader.row("queries/addresses_list", addresses=addresses)
    records = orjson.loads(rows)
    of_index = [
        balances.stored(
            *(record[name] for name in ("balance", "balanceBlock", "isContract", "isCurrent"))
        )
        for record in records
    ]
    current = balances.at_head(reader, addresses, of_index, Head(*head))
    return [
        Summary(
            balance,
            record["txCount"],
            {name: record[name] for name in record if name not in OF_SUMMARY},
        )
        for balance, record in zip(current, records, strict=True)
    ]


def names(reader: Reader, addresses: Sequence[bytes]) -> str:
    """Return {address: {label, token, contract, pool}} as JSON text, of addresses with a name."""
    known: str
    (known,) = reader.row("queries/addresses_list_names", addresses=list(addresses))
    return known


def parties(reader: Reader, addresses: Sequence[bytes]) -> dict[str, dict[str, Any]]:
    """Return {label, contract, isContract, token, pool} of each address, and what extensions
    add."""
    if not addresses:
        return {}
    # A tuple would be written as a record, not as an array.
    (known,) = reader.row("queries/transactions_list_parties", addresses=list(addresses))
    return cast("dict[str, dict[str, Any]]", orjson.loads(known))


def counts(reader: Reader, address: bytes, most: int) -> dict[str, Any]:
    """Return the lengths of an address's lists, some up to `most` + 1; see the statement."""
    (record,) = reader.row("queries/addresses_get_counts", address=address, most=most)
    return cast("dict[str, Any]", orjson.loads(record))
