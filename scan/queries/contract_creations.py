"""Creations of contracts: creator, transaction and creation code."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.traces import is_creation, walk_calls
from scan.ethereum.transaction_reader import Content, IndexedTransaction, TransactionUnavailable
from scan.hex import to_hex
from scan.queries.filters import Value
from scan.queries.pages import Page, Window, filtered_page
from scan.queries.reader import Reader

# Filters that look each contract up, in 4 to 20 us in memory, and the most look-ups for a page.
LOOKED_UP = frozenset({"verified", "proxy"})
MAX_LOOKED_UP = 16_384
TRACER = {"tracer": "callTracer"}


class ContractCreation(NamedTuple):
    """Addresses, hashes and code are hex. `creator` sent the transaction; `factory` is the contract
    that created this one, None where the transaction itself did."""

    address: str
    creator: str
    factory: str | None
    transaction_hash: str
    block_number: str
    timestamp: str  # Unix time
    code: str


class IndexedCreation(NamedTuple):
    """A creation as indexed, without code: addresses and hash in bytes, the time in ISO 8601."""

    creator: bytes
    factory: bytes | None
    transaction_hash: bytes
    block_number: int
    timestamp: str


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
    }


def of_contracts(reader: Reader, addresses: Sequence[bytes]) -> list[ContractCreation]:
    """Return the creations of contracts, in the order of `addresses`; one that neither a
    transaction nor a trace shows is left out. Raises UpstreamFailed, Unavailable.
    """
    [records] = reader.row("queries/contracts_get_creations", addresses=addresses)
    rows = orjson.loads(records)
    creations = _by_transactions(reader, [row for row in rows if row["hash"] is not None])
    in_blocks = defaultdict(list)
    for row in rows:
        if row["hash"] is None:
            in_blocks[row["blockNumber"]].append(row)
    for in_block in in_blocks.values():
        creations |= _by_traces(reader, in_block)
    return [creations[row["address"]] for row in rows if row["address"] in creations]


def _by_transactions(
    reader: Reader, rows: Sequence[Mapping[str, Any]]
) -> dict[str, ContractCreation]:
    needed = [
        IndexedTransaction(row["hash"], int(row["blockNumber"]), row["blockHash"], None)
        for row in rows
    ]
    try:
        sent = reader.sources.node_transactions.read(
            reader.node, [(indexed, Content.INPUT) for indexed in needed]
        )
    except TransactionUnavailable:
        raise UpstreamFailed("The node does not give the transaction.") from None
    codes = {row["hash"]: to_hex(sent[row["hash"]].input) for row in rows}
    return {
        row["address"]: _creation(row, row["from"], None, row["hash"], codes[row["hash"]])
        for row in rows
    }


def _by_traces(reader: Reader, rows: Sequence[Mapping[str, Any]]) -> dict[str, ContractCreation]:
    """Return the creations in the block where the code was first seen; none without traces."""
    if reader.sources.traces == "off":
        return {}
    number = hex(int(rows[0]["blockNumber"]))
    whole, traces = reader.node.results(
        [
            Call("eth_getBlockByNumber", (number, True)),
            Call("debug_traceBlockByNumber", (number, TRACER)),
        ]
    )
    if isinstance(traces, RpcError) and traces.is_missing_method:
        return {}
    try:
        if whole["hash"] != rows[0]["blockHash"]:
            raise TypeError
        by_address = {row["address"]: row for row in rows}
        creations = {}
        for transaction, trace in zip(whole["transactions"], traces, strict=True):
            if trace.get("result") is None:  # the node did not trace this transaction
                reader.do_not_cache()
                continue
            for frame in walk_calls(trace["result"]):
                row = by_address.get(str(frame.call.get("to")).lower())
                if row and not frame.undone and is_creation(frame.call["type"]):
                    creations[row["address"]] = _creation(
                        row,
                        transaction["from"],
                        str(frame.call["from"]).lower(),
                        transaction["hash"],
                        str(frame.call["input"]),
                    )
        return creations
    except (KeyError, TypeError, AttributeError, ValueError):
        reader.do_not_cache()  # refused, malformed, or of another chain: a later answer may be good
        return {}


def _creation(
    row: Mapping[str, Any], creator: str, factory: str | None, transaction_hash: str, code: str
) -> ContractCreation:
    address, number, timestamp = row["address"], row["blockNumber"], row["timestamp"]
    return ContractCreation(address, creator, factory, transaction_hash, number, timestamp, code)
