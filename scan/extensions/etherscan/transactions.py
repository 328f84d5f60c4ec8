"""Names of functions in rows of transactions, such as `bid(uint256 _id)`, by verified ABIs.

Completes rows of transactions and token transfers with fields from the node and names.

module=transaction, action=gettxinfo: a transaction with a page of its logs.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

import orjson

from scan.cached_values import SizedCache
from scan.contracts.abi import AbiError, parse_types, selector, signature_of
from scan.contracts.proxy_contracts import proxy_of_code
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    NodeTransaction,
    TransactionUnavailable,
)
from scan.extensions.etherscan.replies import Failure, Parameters, Reply, renamed
from scan.extensions.transaction_details import details as transaction_details
from scan.extensions.transaction_details.details import NO_LOGS, LogWindow
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.hex import data, to_hex
from scan.http.request_state import services
from scan.http.requests import reader
from scan.queries import transactions

MOST_FUNCTIONS = 2000
LONGEST = 1000
_CACHE_BYTES = 16 * 1024 * 1024
_ENTRY_BYTES = 150  # per name in the cache, besides its text


class KnownFunctionNames:
    """The names of verified contracts' functions that were read before, by contract."""

    def __init__(self) -> None:
        self.cache: SizedCache[Mapping[str, str]] = SizedCache(_CACHE_BYTES)


class FunctionNames:
    """Names of functions, from the verified ABIs of contracts or of clones' implementations."""

    def __init__(self, called: Iterable[str]) -> None:
        self._names: dict[str, Mapping[str, str]] = {}
        contracts = _contracts({bytes.fromhex(address[2:]) for address in called if address})
        proxies = {
            row["address"]: proxy_of_code(data(row["code"])) for row in contracts if row["code"]
        }
        clones = {address: proxy.implementation for address, proxy in proxies.items() if proxy}
        implementations = {*clones.values()}
        for contract in (*contracts, *_contracts(implementations)):
            if contract["codeHash"]:
                self._names[contract["address"]] = _names_of(contract)
        for clone, implementation in clones.items():
            self._names[clone] = self._names.get(to_hex(implementation), {})

    def name(self, address: str, method_id: str) -> str:
        return self._names.get(address, {}).get(method_id, "")


def _contracts(addresses: Collection[bytes]) -> list[dict[str, str]]:
    """Return the rows of verified_contracts_find."""
    if not addresses:
        return []
    [records] = reader().row("queries/verified_contracts_find", addresses=sorted(addresses))
    contracts: list[dict[str, str]] = orjson.loads(records)
    return contracts


def _names_of(verification: Mapping[str, str]) -> Mapping[str, str]:
    key = tuple(verification[name] for name in ("codeHash", "verifiedAddress", "verifiedAt"))
    cache = reader().sources.get(KnownFunctionNames).cache
    names = cache.get(key)
    if names is None:
        names = _signatures(
            services().reads.value(
                "queries/verified_contracts_list_functions",
                code_hash=data(verification["codeHash"]),
                address=data(verification["verifiedAddress"]),
            )
        )
        size = sum(_ENTRY_BYTES + len(name) for name in names.values())
        cache.store(key, names, _ENTRY_BYTES + size)
    return names


def _signatures(functions: Any) -> Mapping[str, str]:
    """Return the signatures of an ABI's functions by selector in hex, without malformed entries."""
    names: dict[str, str] = {}
    for entry in (functions if isinstance(functions, list) else [])[:MOST_FUNCTIONS]:
        try:
            name, inputs = entry["name"], entry.get("inputs", [])
            key = "0x" + selector(signature_of(entry, parse_types(inputs))).hex()
        except (AbiError, KeyError, TypeError, AttributeError):
            continue
        arguments = (f"{item['type']} {item.get('name') or ''}".strip() for item in inputs)
        text = f"{name}({', '.join(arguments)})"
        if len(text) <= LONGEST:
            names.setdefault(key, text)
    return names


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


MOST_LOGS = 50
NOT_INDEXED = "Transaction not found"


def transaction_info(parameters: Parameters) -> Reply:
    """Return a transaction with the logs after `index`; `next_page_params` has the next `index`."""
    body = transactions.get(reader(), parameters.hash32("txhash"))
    if body is None:
        raise Failure(NOT_INDEXED)
    record = orjson.loads(body)
    details = transaction_details.details(reader(), record, NO_LOGS)
    if details.input is None or details.logs is None:
        raise UpstreamFailed(details.unavailable or "The node does not give this transaction.")
    after = parameters.integer("index", -1)
    logs = LogWindow(after, MOST_LOGS + 1).of(details.logs)
    failure = explanations.failure(reader(), record)
    reason = None if failure is None else failure.reason.data
    following = {"index": logs[MOST_LOGS - 1].log_index} if len(logs) > MOST_LOGS else None
    return Reply(
        {
            **renamed("transaction", record),
            "timeStamp": str(_seconds(record["timestamp"])),
            "to": record["toAddress"] or "",
            "input": to_hex(details.input),
            "gasLimit": str(details.gas_limit),
            "logs": [
                {
                    "address": to_hex(log.address),
                    "topics": [
                        to_hex(log.topics[index]) if index < len(log.topics) else None
                        for index in range(MAX_TOPICS)
                    ],
                    "data": to_hex(log.data),
                    "index": str(log.log_index),
                }
                for log in logs[:MOST_LOGS]
            ],
            "revertReason": to_hex(reason) if reason else "",
            "next_page_params": following,
        }
    )


def _seconds(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())
