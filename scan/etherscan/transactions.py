"""Completes rows of transactions and token transfers with fields from the node and names."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import orjson
from flask import current_app

from scan.contracts.function_names import function_names
from scan.contracts.proxy_contracts import clone_of
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.sized_cache import SizedCache
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    NodeTransaction,
    TransactionUnavailable,
)
from scan.hex import data, to_hex
from scan.http.requests import reader
from scan.http.services import services

Row = dict[str, Any]

TRANSACTION = (
    "blockNumber", "timeStamp", "hash", "nonce", "blockHash", "transactionIndex", "from", "to",
    "value", "gas", "gasPrice", "isError", "txreceipt_status", "input", "contractAddress",
    "cumulativeGasUsed", "gasUsed", "confirmations", "methodId", "functionName",
)  # fmt: skip
_TRANSFER = (
    "blockNumber", "timeStamp", "hash", "nonce", "blockHash", "from", "contractAddress", "to",
    "{}", "tokenName", "tokenSymbol", "tokenDecimal", "transactionIndex", "gas", "gasPrice",
    "gasUsed", "cumulativeGasUsed", "input", "methodId", "functionName", "confirmations",
)  # fmt: skip
FUNCTION_NAMES = "scan.function_names"  # of the application: by verified contract
_CACHE_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 150  # per name in the cache, besides its text


def new_function_names() -> SizedCache[Mapping[str, str]]:
    return SizedCache(_CACHE_BYTES)


def _transfer(*value: str, without: str = "") -> tuple[str, ...]:
    index = _TRANSFER.index("{}")
    names = (*_TRANSFER[:index], *value, *_TRANSFER[index + 1 :])
    return tuple(name for name in names if name != without)


TRANSFERS = {
    "BEP20": _transfer("value"),
    "BEP721": _transfer("tokenID"),
    "BEP1155": _transfer("tokenID", "tokenValue", without="tokenDecimal"),
}


def complete_transactions(records: str) -> list[object]:
    rows = _complete(orjson.loads(records))
    names = _FunctionNames(row["to"] for row in rows)
    return [
        _ordered(row | {"functionName": names.name(row["to"], row["methodId"])}, TRANSACTION)
        for row in rows
    ]


def complete_transfers(records: str, token_type: str) -> list[object]:
    """`records` have one more key, `called`: the address called by the transaction."""
    rows = orjson.loads(records)
    names = _FunctionNames(row["called"] for row in rows)
    return [
        _ordered(
            row
            | {
                "functionName": names.name(row["called"], row["methodId"]),
                "input": "deprecated",
                "tokenValue": row["value"],
                "tokenDecimal": row["tokenDecimal"] if token_type == "BEP20" else "0",
            },
            TRANSFERS[token_type],
        )
        for row in rows
    ]


def _ordered(row: Row, names: Collection[str]) -> Row:
    return {name: row[name] for name in names}


def _complete(rows: list[Row]) -> list[Row]:
    """Adds fields that `missing` says the index does not have; reads nothing else from the node."""
    needed = {}
    for row in rows:
        if row["missing"]:
            number = int(row["blockNumber"])
            key = IndexedTransaction(row["hash"], number, row["blockHash"], row["to"] or None)
            needed[key] = _content(row)
    sent = _read(needed) if needed else {}
    return [row | _of_node(row, sent[row["hash"]]) if row["missing"] else row for row in rows]


def _content(row: Row) -> Content:
    return Content.RECEIPT if row["missing"] == "all" else Content.INPUT


def _read(needed: Mapping[IndexedTransaction, Content]) -> Mapping[str, NodeTransaction]:
    transactions = reader().sources.node_transactions
    try:
        return transactions.read(reader().node, needed.items())
    except TransactionUnavailable as error:
        reason = str(error)
    except (UpstreamFailed, Unavailable) as error:
        reason = error.message
    raise UpstreamFailed(
        f"The node did not return all transactions of this page. {reason} Try again, or use a"
        " smaller offset."
    )


def _of_node(row: Row, transaction: NodeTransaction) -> Row:
    fields = {"input": to_hex(transaction.input)}
    if _content(row) == Content.INPUT or transaction.receipt is None:
        return fields
    status = transaction.receipt.status
    return fields | {
        "nonce": str(transaction.nonce),
        "gas": str(transaction.gas_limit),
        "cumulativeGasUsed": str(transaction.receipt.cumulative_gas_used),
        "methodId": fields["input"][:10],
        "txreceipt_status": "" if status is None else str(status),
    }


class _FunctionNames:
    """Names of functions, from the verified ABIs of contracts or of clones' implementations."""

    def __init__(self, called: Iterable[str]) -> None:
        self._names: dict[str, Mapping[str, str]] = {}
        contracts = _contracts({bytes.fromhex(address[2:]) for address in called if address})
        clones = {row["address"]: clone_of(data(row["code"])) for row in contracts if row["code"]}
        implementations = {address for address in clones.values() if address is not None}
        for contract in (*contracts, *_contracts(implementations)):
            if contract["codeHash"]:
                self._names[contract["address"]] = _names_of(contract)
        for clone, implementation in clones.items():
            if implementation is not None:
                self._names[clone] = self._names.get(to_hex(implementation), {})

    def name(self, address: str, method_id: str) -> str:
        return self._names.get(address, {}).get(method_id, "")


def _contracts(addresses: Collection[bytes]) -> list[dict[str, str]]:
    """The rows of verified_contracts_find."""
    if not addresses:
        return []
    [records] = reader().row("queries/verified_contracts_find", addresses=sorted(addresses))
    contracts: list[dict[str, str]] = orjson.loads(records)
    return contracts


def _names_of(verification: Mapping[str, str]) -> Mapping[str, str]:
    key = tuple(verification[name] for name in ("codeHash", "verifiedAddress", "verifiedAt"))
    cache: SizedCache[Mapping[str, str]] = current_app.extensions[FUNCTION_NAMES]
    names = cache.get(key)
    if names is None:
        names = function_names(
            services().reads.value(
                "queries/verified_contracts_list_functions",
                code_hash=data(verification["codeHash"]),
                address=data(verification["verifiedAddress"]),
            )
        )
        size = sum(_ENTRY_BYTES + len(name) for name in names.values())
        cache.store(key, names, _ENTRY_BYTES + size)
    return names
