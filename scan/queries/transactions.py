"""Transactions: their records and events."""

from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.ethereum.events import ZERO_ADDRESS
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.queries.reader import Reader

MOST_CHANGES = 8


class TransactionEvents(NamedTuple):
    """The transfers and trades of a transaction as JSON text; each list may be shorter than its
    count."""

    transfers: str
    transfer_count: int
    trades: str
    trade_count: int


def outcome(record: Mapping[str, Any]) -> bool | None:
    """Return whether a transaction, given as its record, succeeded; None where nothing tells."""
    return record["status"] if record.get("statusKnown", True) else None


def creates_contract(record: Mapping[str, Any]) -> bool:
    """Return whether a transaction, given as its record, is to create a contract, also where it
    failed. Types with a form of their own may have no recipient and create none."""
    if record["toAddress"] is not None or record["contractAddress"] is not None:
        return record["toAddress"] is None
    type_name = record.get("chainFields", {}).get("typeName")
    return not record["status"] and type_name != "unknown"


def get(reader: Reader, transaction_hash: bytes) -> str | None:
    """Return a transaction's record as JSON text; None if it is not indexed. What is stored of its
    block comes with it."""
    contents = reader.sources.transaction_contents
    record, number, block_hash, digest, body = reader.row(
        "queries/transactions_get", hash=transaction_hash, kept_blocks=contents.newest()
    )
    if body is not None:
        contents.keep(number, block_hash, digest, body)
    return reader.with_incomplete(record, "blockNumber")


def status(reader: Reader, transaction_hash: bytes) -> bool | None:
    """Return whether a transaction succeeded; None if it is not indexed, or nothing tells."""
    succeeded: bool | None
    [succeeded] = reader.row("queries/transactions_get_status", hash=transaction_hash)
    return succeeded


def events(reader: Reader, transaction_hash: bytes) -> TransactionEvents:
    return TransactionEvents(*reader.row("queries/transactions_get_events", hash=transaction_hash))


def adjacent(reader: Reader, transaction_hash: bytes) -> str | None:
    """Return the hashes of the sender's transactions before and after this one, as JSON text; None
    if it is not indexed."""
    text: str | None
    [text] = reader.row("queries/transactions_get_adjacent", hash=transaction_hash)
    return text


def indexed(record: Mapping[str, Any]) -> IndexedTransaction:
    return IndexedTransaction(
        record["hash"],
        record["blockNumber"],
        record["blockHash"],
        record["transactionIndex"],
        record["toAddress"],
    )


def add_moved(
    reader: Reader, records: Sequence[MutableMapping[str, Any]], party: str | None = None
) -> None:
    """Add to records `moved`: what their transactions changed of the tokens of `party` (an address
    as hex; None: of the sender), and where that is nothing, nor of the coin, what the sender had
    made or destroyed for others, which the zero address gave or gained. It has at most eight
    changes, each of a token or an item, with its `change` as text and the `counterparty`, None for
    several; none of a failed transaction, or of one with more than 64 of the party's transfers in
    either direction."""
    for record in records:
        record["moved"] = []
    succeeded = [record for record in records if record["status"]]
    parties = [bytes.fromhex((party or record["fromAddress"])[2:]) for record in succeeded]
    nothing = []
    for record, transfers in zip(succeeded, _moved(reader, succeeded, parties), strict=True):
        if transfers:
            record["moved"] = _changes(transfers)
        is_own = party in (None, record["fromAddress"])
        if transfers == [] and is_own and record["value"] == "0" and record["toAddress"]:
            nothing.append(record)
    if nothing:
        moved = _moved(reader, nothing, [ZERO_ADDRESS] * len(nothing))
        for record, transfers in zip(nothing, moved, strict=True):
            record["moved"] = _changes(transfers or [])


def _moved(
    reader: Reader, records: Sequence[Mapping[str, Any]], parties: Sequence[bytes]
) -> list[Any]:
    [text] = reader.row(
        "queries/transactions_list_moved",
        blocks=[record["blockNumber"] for record in records],
        indexes=[record["transactionIndex"] for record in records],
        parties=parties,
    )
    transfers: list[Any] = orjson.loads(text)
    return transfers


def _changes(transfers: Sequence[tuple[int, str, str | None, str, str]]) -> list[dict[str, Any]]:
    changes: dict[tuple[str, str | None], dict[str, Any]] = {}
    for _, token, token_id, amount, other in sorted(transfers) if transfers[1:] else transfers:
        of_token = {"tokenAddress": token, "tokenId": token_id}
        change = {**of_token, "change": amount, "counterparty": other}
        earlier = changes.setdefault((token, token_id), change)
        if earlier is not change:
            earlier["change"] = str(int(earlier["change"]) + int(amount))
            earlier["counterparty"] = other if other == earlier["counterparty"] else None
    return [change for change in changes.values() if change["change"] != "0"][:MOST_CHANGES]
