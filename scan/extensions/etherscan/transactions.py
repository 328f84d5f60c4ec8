"""Completes rows of transactions and token transfers with fields from the node and names."""

from collections.abc import Collection, Mapping
from typing import Any

import orjson

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    NodeTransaction,
    TransactionUnavailable,
)
from scan.extensions.etherscan.function_names import FunctionNames
from scan.hex import to_hex
from scan.http.requests import reader

Row = dict[str, Any]

FEW_ROWS = 2_000  # they take 40 ms, 10,000 of them 200

TRANSACTION = (
    "blockNumber", "timeStamp", "hash", "nonce", "blockHash", "transactionIndex", "from", "to",
    "value", "gas", "gasPrice", "isError", "txreceipt_status", "input", "contractAddress",
    "cumulativeGasUsed", "gasUsed", "confirmations", "methodId", "functionName", "L1FeesPaid",
)  # fmt: skip
_TRANSFER = (
    "blockNumber", "timeStamp", "hash", "nonce", "blockHash", "from", "contractAddress", "to",
    "{}", "tokenName", "tokenSymbol", "tokenDecimal", "transactionIndex", "gas", "gasPrice",
    "gasUsed", "cumulativeGasUsed", "input", "methodId", "functionName", "confirmations",
)  # fmt: skip


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
    rows = _complete(_read(records))
    names = FunctionNames(row["to"] for row in rows)
    return [
        _ordered(row | {"functionName": names.name(row["to"], row["methodId"])}, TRANSACTION)
        for row in rows
    ]


def complete_transfers(records: str, token_type: str) -> list[object]:
    """Return rows of token transfers; `records` also have `called`, the address that the
    transaction called."""
    rows = _read(records)
    names = FunctionNames(row["called"] for row in rows)
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


def _read(records: str) -> list[Row]:
    """Parse rows; a page of many takes one of the few places of what takes the processor long."""
    rows: list[Row] = orjson.loads(records)
    if len(rows) > FEW_ROWS:
        reader().hold_processor()
    return rows


def _ordered(row: Row, names: Collection[str]) -> Row:
    """Return a row with its fields in Etherscan's order; only rollups have L1FeesPaid."""
    return {name: row[name] for name in names if name in row or name != "L1FeesPaid"}


def _complete(rows: list[Row]) -> list[Row]:
    """Return rows with the node's fields added where `missing` says that the index lacks them."""
    needed = {}
    for row in rows:
        if row["missing"]:
            number = int(row["blockNumber"])
            key = IndexedTransaction(row["hash"], number, row["blockHash"], row["to"] or None)
            needed[key] = _needed_content(row)
    sent = _read_from_node(needed) if needed else {}
    return [row | _node_fields(row, sent[row["hash"]]) if row["missing"] else row for row in rows]


def _needed_content(row: Row) -> Content:
    return Content.RECEIPT if row["missing"] == "all" else Content.INPUT


def _read_from_node(needed: Mapping[IndexedTransaction, Content]) -> Mapping[str, NodeTransaction]:
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


def _node_fields(row: Row, transaction: NodeTransaction) -> Row:
    fields = {"input": to_hex(transaction.input)}
    if _needed_content(row) == Content.INPUT or transaction.receipt is None:
        return fields
    status = transaction.receipt.status
    return fields | {
        "nonce": str(transaction.nonce),
        "gas": str(transaction.gas_limit),
        "cumulativeGasUsed": str(transaction.receipt.cumulative_gas_used),
        "methodId": fields["input"][:10],
        "txreceipt_status": "" if status is None else str(status),
    }
