"""Atom feeds below pages: of an address, a token, verified contracts, and those of extensions.

An entry's id is of the chain and of the block that has what it tells, so that after a fork no entry
says something else than the one of the same id did.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

import orjson
from flask import Blueprint, Response, request

from scan.errors import NotFound, Unavailable
from scan.extensions.decoding.decoding import add_methods, contexts
from scan.hex import to_hex
from scan.http.current_request import query_arguments, reader
from scan.pages.formatting import (
    amount,
    as_json,
    grouped,
    short_address,
    short_amount,
    short_id,
    short_name,
)
from scan.pages.hooks import AddressTab, Pages, tabs_of
from scan.pages.records import Record, address_of, names_of
from scan.pages.site import HEADERS, site
from scan.queries import contracts, entities, tokens, transactions
from scan.queries.list_pages import Window

EntryRecord = Mapping[str, Any]
Names = Mapping[str, Any]
MAX_VALUE = 200  # characters of an argument
OUTCOMES = {True: "", False: "Failed: ", None: "Status not known: "}


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


def transaction_entry(chain: Chain, record: EntryRecord) -> Entry:
    """Return the entry of a transaction, whose `method` is set if it is a call."""
    value = f"{short_amount(record['value'])} {chain.symbol}"
    is_creation = transactions.creates_contract(record)
    what = record.get("method") or ("Creation" if is_creation else "Payment")
    to = record["toAddress"] or record["contractAddress"]
    recipient = "a new contract" if is_creation and to is None else chain.name_of(to)
    ends = f"from {chain.name_of(record['fromAddress'])} to {recipient}"
    return Entry(
        chain.id_of("transaction", record["blockHash"], record["hash"]),
        f"{OUTCOMES[transactions.outcome(record)]}{short_name(what)}, {value} {ends}",
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


def transfer_entry(chain: Chain, record: EntryRecord, context: EntryRecord) -> Entry:
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


def log_entry(chain: Chain, record: EntryRecord, context: EntryRecord) -> Entry:
    """Return the entry of a log, with its event where that is known."""
    event = record["event"]
    arguments = event["arguments"] if event else ()
    named_values = [(a["name"] or a["type"], _text(a["value"])) for a in arguments]
    brief = ", ".join(f"{name} {value}" for name, value in named_values[:3])
    title = f"{short_name(event['name'])}: {brief}" if event else "Unknown event"
    raw = [*record["topics"], f"Data {_text(record['data'])}"]
    return Entry(
        chain.id_of("log", context["blockHash"], record["logIndex"]),
        title,
        f"/tx/{record['transactionHash']}",
        record["timestamp"],
        (record["blockNumber"], record["transactionIndex"], record["logIndex"]),
        [
            *([f"{name}: {value}" for name, value in named_values] if event else raw),
            f"Block {grouped(record['blockNumber'])}",
        ],
    )


def verified_entry(chain: Chain, record: EntryRecord) -> Entry:
    return Entry(
        chain.id_of("verified", record["address"], record["verifiedAt"]),
        f"{short_name(record['contractName'])} at {short_address(record['address'])}",
        f"/address/{record['address']}",
        record["verifiedAt"],
        (),
        [
            f"Contract {record['address']}",
            f"Match {record['match']}",
            f"Compiler {short_name(record['compilerVersion'])}",
        ],
    )


def _text(value: object) -> str:
    text = value if isinstance(value, str) else "not certain" if value is None else as_json(value)
    return short_name(text, MAX_VALUE) if text else "“”"


WINDOW = Window(50, 0)
ATTEMPTS = 3  # a block may be indexed between two statements
ATOM = "application/atom+xml; charset=utf-8"

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

blueprint = Blueprint("pages_feeds", __name__)


@blueprint.get("/address/<address>/feed")
def address_feed(address: str) -> Response:
    address_text = to_hex(address_of(address))

    def read() -> list[Entry]:
        sent = _records("transactions", address=address_text)
        moved = _records("token_transfers", address=address_text)
        add_methods(reader(), sent)
        chain, context_of = _chain([*sent, *moved], address_text), _contexts(moved)
        entries = [transaction_entry(chain, record) for record in sent]
        entries += [transfer_entry(chain, r, context_of[r["transactionHash"]]) for r in moved]
        return sorted(entries, key=lambda entry: entry.position, reverse=True)[: WINDOW.limit]

    title = f"Transactions and transfers of {short_address(address_text)}"
    return _feed(title, f"/address/{address_text}", read)


@blueprint.get("/token/<address>/feed")
def token_feed(address: str) -> Response:
    key = address_of(address)
    token = to_hex(key)
    if tokens.type_of(reader(), key) is None:
        raise reader().not_indexed("No token is indexed at this address.")

    def read() -> list[Entry]:
        moved = _records("token_transfers", tokenAddress=token)
        chain, context_of = _chain(moved, token), _contexts(moved)
        return [transfer_entry(chain, r, context_of[r["transactionHash"]]) for r in moved]

    return _feed(f"Transfers of the token {short_address(token)}", f"/token/{token}", read)


@blueprint.get("/address/<address>/<name>/feed")
def tab_feed(address: str, name: str) -> Response:
    """Return the feed of a tab: that of a contract's events."""
    feed = next((tab.feed for tab in tabs_of(AddressTab) if tab.name == name), None)
    if feed is None:
        raise NotFound("There is no such feed.")
    key = address_of(address)
    text = to_hex(key)

    def read() -> list[Entry]:
        logs = feed(reader(), key, WINDOW)
        chain, context_of = _chain([], text), _contexts(logs)
        return [log_entry(chain, log, context_of[log["transactionHash"]]) for log in logs]

    title = f"{name.capitalize()} of {short_address(text)}"
    return _feed(title, f"/address/{text}?tab={name}", read)


@blueprint.get("/verified-contracts/feed")
def verified_contracts_feed() -> Response:
    def read() -> list[Entry]:
        records = orjson.loads(contracts.verified_page(reader(), WINDOW).data)
        return [verified_entry(_chain([]), record) for record in records]

    return _feed("Verified contracts", "/verified-contracts", read)


def _records(entity: str, **filters: str) -> list[Record]:
    records: list[Record] = orjson.loads(entities.page(reader(), entity, WINDOW, filters).data)
    return records


def _contexts(records: Sequence[Record]) -> Any:
    return contexts(reader(), (record["transactionHash"] for record in records))


def _chain(records: Sequence[Record], *addresses: str) -> Chain:
    chain = site().chain()
    return Chain(chain.id or "", chain.symbol, names_of(records, *addresses))


def _feed(title: str, path: str, read: Callable[[], list[Entry]]) -> Response:
    """Return a feed with what `read` returns from one version of the index, newest first; `path` is
    that of the page with the same."""
    query_arguments()
    for _ in range(ATTEMPTS):
        reader().versions.clear()
        entries = read()
        if len(reader().versions) <= 1:
            break
    else:
        raise Unavailable("The chain advanced meanwhile; try again shortly.", retry_after_s=1)
    chain = site().chain()
    newest = site().indexed_block.position_of(reader().versions)
    about: dict[str, Any] = {"title": title, "page": path, "own": request.path.lower()}
    about["id"] = Chain(chain.id or "", "", {}).id_of("feed", path)
    about["updated"] = max((entry.updated for entry in entries), default="1970-01-01T00:00:00Z")
    text = site().render("feed.xml", chain, newest=newest, entries=entries, **about)
    headers = {**dict(HEADERS), "Content-Type": ATOM}
    return Response(_NOT_XML.sub("\ufffd", text), headers=headers)


def feeds_of_page(path: str, are_all_stored: bool) -> Iterator[tuple[str, str]]:
    if path == "/verified-contracts":
        yield f"{path}/feed", "Verified contracts"
    elif path.startswith("/token/") and len(path) == len("/token/") + 42:
        yield f"{path}/feed", "Transfers"
    elif path.startswith("/address/") and len(path) == len("/address/") + 42:
        yield f"{path}/feed", "Transactions and transfers"
        if are_all_stored:
            yield f"{path}/events/feed", "Events"


HOOKS = Pages(blueprints=(blueprint,), feeds=feeds_of_page)
