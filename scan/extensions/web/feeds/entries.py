"""Entries of feeds. An entry's id is of the chain and of the block that has what it tells, so that
after a fork no entry says something else than the one of the same id did."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from scan.pages.formatting import (
    amount,
    as_json,
    grouped,
    short_address,
    short_amount,
    short_id,
    short_name,
)
from scan.queries.transactions import creates_contract

Record = Mapping[str, Any]
Names = Mapping[str, Any]
MAX_VALUE = 200  # characters of an argument


class Entry(NamedTuple):
    """`position` orders entries of several lists: block, transaction, and log if it is of one.
    `updated` is as in ISO 8601, `lines` are its text."""

    id: UUID
    title: str
    path: str
    updated: str
    position: tuple[int, ...]
    lines: Sequence[str]


class Chain(NamedTuple):
    """What all entries of a feed are of."""

    id: str
    symbol: str
    names: Names

    def id_of(self, *parts: object) -> UUID:
        return uuid5(NAMESPACE_URL, "/".join(["scan", self.id, *map(str, parts)]))

    def name_of(self, address: str | None) -> str:
        name = (self.names.get(address) or {}).get("name") if address else None
        return short_name(name) if name else short_address(address) if address else "nobody"


def of_transaction(chain: Chain, record: Record) -> Entry:
    """Return the entry of a transaction, whose `method` is set if it is a call."""
    value = f"{short_amount(record['value'])} {chain.symbol}"
    is_creation = creates_contract(record)
    what = record.get("method") or ("Creation" if is_creation else "Payment")
    to = record["toAddress"] or record["contractAddress"]
    recipient = "a new contract" if is_creation and to is None else chain.name_of(to)
    ends = f"from {chain.name_of(record['fromAddress'])} to {recipient}"
    return Entry(
        chain.id_of("transaction", record["blockHash"], record["hash"]),
        f"{'' if record['status'] else 'Failed: '}{short_name(what)}, {value} {ends}",
        f"/tx/{record['hash']}",
        record["timestamp"],
        (record["blockNumber"], record["transactionIndex"], -1),
        [
            f"From {record['fromAddress']}",
            f"To {to or 'none'}",
            f"Value {amount(record['value'])} {chain.symbol}",
            f"Fee {amount(record['fee'])} {chain.symbol}",
            f"Block {grouped(record['blockNumber'])}",
        ],
    )


def of_transfer(chain: Chain, record: Record, context: Record) -> Entry:
    """Return the entry of a token's transfer; `context` is that of its transaction."""
    symbol = short_name(record["tokenSymbol"] or "tokens")
    item = record["tokenId"]
    if item is None:
        value = f"{short_amount(record['value'], record['tokenDecimals'] or 0)} {symbol}"
    else:
        value = f"{symbol} #{short_id(item)}"
    ends = f"from {chain.name_of(record['fromAddress'])} to {chain.name_of(record['toAddress'])}"
    log = (record["logIndex"], record["batchIndex"])
    return Entry(
        chain.id_of("transfer", context["blockHash"], *log),
        f"{value} {ends}",
        f"/tx/{record['transactionHash']}",
        record["timestamp"],
        (record["blockNumber"], context["transactionIndex"], *log),
        [
            f"Token {record['tokenAddress']}",
            *([] if item is None else [f"Item {item}"]),
            f"From {record['fromAddress']}",
            f"To {record['toAddress']}",
            f"Amount {amount(record['value'], record['tokenDecimals'] or 0)}",
            f"Block {grouped(record['blockNumber'])}",
        ],
    )


def of_log(chain: Chain, record: Record, context: Record) -> Entry:
    """Return the entry of a log, with its event where that is known."""
    event = record["event"]
    arguments = event["arguments"] if event else ()
    shown = [(a["name"] or a["type"], _text(a["value"])) for a in arguments]
    brief = ", ".join(f"{name} {value}" for name, value in shown[:3])
    title = f"{short_name(event['name'])}: {brief}" if event else "Unknown event"
    raw = [*record["topics"], f"Data {_text(record['data'])}"]
    return Entry(
        chain.id_of("log", context["blockHash"], record["logIndex"]),
        title,
        f"/tx/{record['transactionHash']}",
        record["timestamp"],
        (record["blockNumber"], record["transactionIndex"], record["logIndex"]),
        [
            *([f"{name}: {value}" for name, value in shown] if event else raw),
            f"Block {grouped(record['blockNumber'])}",
        ],
    )


def of_verified(chain: Chain, record: Record) -> Entry:
    match = record["match"]
    return Entry(
        chain.id_of("verified", record["address"], record["verifiedAt"]),
        f"{short_name(record['contractName'])} at {short_address(record['address'])}",
        f"/address/{record['address']}",
        record["verifiedAt"],
        (),
        [
            f"Contract {record['address']}",
            f"Match {match}",
            f"Compiler {short_name(record['compilerVersion'])}",
        ],
    )


def _text(value: object) -> str:
    text = value if isinstance(value, str) else as_json(value)
    return short_name(text, MAX_VALUE) if text else "“”"
