"""module=contract, action=getcontractcreation: creator, transaction and creation code."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.client import Call, RpcError
from scan.ethereum.transaction_reader import Content, IndexedTransaction, TransactionUnavailable
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply
from scan.extensions.internal_transfers.traces import is_creation, walk_calls
from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries.reader import Reader

MOST_CONTRACTS = 5
NO_DATA = "No data found"
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


def contract_creations(parameters: Parameters) -> Reply:
    addresses = parameters.addresses("contractaddresses", MOST_CONTRACTS)
    rows = _of_contracts(reader(), addresses)
    if not rows:
        raise Failure(None, NO_DATA)
    return Reply(
        [
            renamed("creation", creation._asdict()) | {"contractFactory": creation.factory or ""}
            for creation in rows
        ]
    )


def _of_contracts(reader: Reader, addresses: Sequence[bytes]) -> list[ContractCreation]:
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
        raise UpstreamFailed("The node did not return the transaction.") from None
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
