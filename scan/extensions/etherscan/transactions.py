"""Transactions of stored blocks, without the node: rows of lists, completed by what they lack and
by names of functions such as `bid(uint256 _id)`; a transaction with a page of its logs (gettxinfo);
and transactions and receipts in a node's JSON, of Ethereum's own form. What other chains add to
them is not stored.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any

import orjson

from scan.contracts.abi_decoding import DecodingBudget
from scan.contracts.transaction_contents import TooManyBlocks
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum.block_encoding import TRANSACTION_FIELDS
from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.encoded_parts import logs_bloom
from scan.ethereum.forms.form import BLOB_GAS
from scan.ethereum.rlp_and_tries import join_list, keccak256, quantity_item, string_item
from scan.ethereum.stored_blocks import StoredTransaction
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding import details as transaction_details
from scan.extensions.decoding.contract_abis import (
    NO_CONTRACT,
    Block,
    Contract,
    ContractAbis,
    Emitter,
)
from scan.extensions.etherscan.replies import Failure, Parameters, Reply, renamed
from scan.extensions.explanations.transactions import queries as explanations
from scan.extensions.logs import queries as logs
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.parameters import unix_seconds
from scan.queries import blocks, transactions

LONGEST = 1000
MOST_PROXIES, MOST_STATES = 50, 100
PROXIES_TIMEOUT_S = 2.0
PROCESSOR_S = 2.0  # for reading the ABIs of a page of 10,000 rows
_TUPLE = re.compile(r"\(.*\)")


Row = dict[str, Any]


class PageBounds:
    """Of how many proxies of a page the implementations are read, and at how many calls where these
    are more than the first and the last of each."""

    proxies, states = MOST_PROXIES, MOST_STATES


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


def _function_names(rows: Sequence[Row], key: str) -> list[str]:
    """Return the names of the functions that transactions called at the addresses `key`, from the
    verified ABIs of what ran there, or of proxies' implementations."""
    calls = [
        (
            Emitter(
                data(row[key] or "0x"),
                Block(int(row["blockNumber"]), row["blockHash"], int(row["transactionIndex"])),
            ),
            data(row["methodId"] or "0x"),
        )
        for row in rows
    ]
    abis, budget = reader().sources.get(ContractAbis), DecodingBudget(processor_s=PROCESSOR_S)
    contracts = abis.contracts({emitter for emitter, selector in calls if selector}, budget)
    proxies, unread = _proxies({e for e, c in contracts.items() if c.delegates}, budget)
    possible = [proxies.get(e) or [contracts.get(e, NO_CONTRACT)] for e, _ in calls]
    doubtful = {
        IndexedTransaction(row["hash"], *emitter.block, row[key]): emitter.block
        for row, (emitter, _), of in zip(rows, calls, possible, strict=True)
        if any(contract.is_doubtful for contract in of)
    }
    node = reader().node.within(PROXIES_TIMEOUT_S)
    read = transaction_details.traced_abis(reader(), node, doubtful, budget) if doubtful else {}
    traced = {sent.hash: of_trace for sent, of_trace in read.items()}
    unproven = {row["hash"] for row, (e, _) in zip(rows, calls, strict=True) if e in unread}
    unproven = (unproven | {sent.hash for sent in doubtful}) - traced.keys()
    signatures = abis.of_verified_contracts(
        {s for row, (_, s) in zip(rows, calls, strict=True) if s and row["hash"] in unproven}
    )
    names = []
    for row, (emitter, selector), of in zip(rows, calls, possible, strict=True):
        if row["hash"] in traced and traced[row["hash"]].is_passed_on:
            own = contracts[emitter]
            of = [own._replace(abis=(*traced[row["hash"]].lent, *own.abis))]
        of = [one for contract in of for one in contract.readings or (contract,)]
        is_proven = row["hash"] not in unproven
        texts = {_function_name(contract, selector, has_names=is_proven) for contract in of}
        is_known = is_proven or len(signatures.get(selector, ())) == 1
        names.append(texts.pop() if len(texts) == 1 and is_known else "")
    return names


def _proxies(
    called: Collection[Emitter], budget: DecodingBudget
) -> tuple[dict[Emitter, list[Contract]], set[Emitter]]:
    """Return what proxies may have been in the blocks of these calls, for the first of them, and
    the calls whose states are not read: of these, what the first and the last call of the proxy
    were. In between it may have been another one, so that no names of arguments are known."""
    bounds = reader().sources.get(PageBounds)
    by_address: dict[bytes, list[Emitter]] = {}
    for emitter in sorted(called, key=lambda e: (e.block.number, e.block.transaction_index)):
        by_address.setdefault(emitter.address, []).append(emitter)
    first = [*by_address.values()][: bounds.proxies]
    ends = {e: None for emitters in first for e in (emitters[0], emitters[-1])}
    chosen = ends | dict.fromkeys(chain.from_iterable(first))
    try:
        node = reader().node.within(PROXIES_TIMEOUT_S)
        abis = reader().sources.get(ContractAbis)
        read = abis.find_at([*chosen][: max(len(ends), bounds.states)], node, budget)
    except (UpstreamFailed, Unavailable):
        reader().do_not_cache()
        return {}, set()
    states = {
        emitter: [read[emitter]] if emitter in read else [read[emitters[0]], read[emitters[-1]]]
        for emitters in first
        for emitter in emitters
    }
    return states, states.keys() - read.keys()


def _function_name(contract: Contract, selector: bytes, *, has_names: bool = True) -> str:
    entries = (entry for abi in contract.abis for entry in abi.functions.get(selector, ()))
    entry = next((entry for entry in entries if entry.source == "verified"), None)
    if entry is None:
        return ""
    types = (_TUPLE.sub("tuple", abi_type.name) for abi_type in entry.types)
    names = entry.names if has_names else [""] * len(entry.names)
    arguments = (" ".join(pair).strip() for pair in zip(types, names, strict=True))
    text = f"{entry.name}({', '.join(arguments)})"
    return text if len(text) <= LONGEST else ""


def complete_transactions(records: str) -> list[object]:
    rows = _complete(_read(records))
    return [
        _ordered(row | {"functionName": name}, TRANSACTION)
        for row, name in zip(rows, _function_names(rows, "to"), strict=True)
    ]


def complete_transfers(records: str, token_type: str) -> list[object]:
    """Return rows of token transfers; `records` also have `called`, the address that the
    transaction called."""
    rows = _read(records)
    return [
        _ordered(
            row
            | {
                "functionName": name,
                "input": "deprecated",
                "tokenValue": row["value"],
                "tokenDecimal": row["tokenDecimal"] if token_type == "BEP20" else "0",
            },
            TRANSFERS[token_type],
        )
        for row, name in zip(rows, _function_names(rows, "called"), strict=True)
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
    """Return rows with the fields added where `missing` says that their tables lack them."""
    needed = [
        IndexedTransaction(
            row["hash"],
            int(row["blockNumber"]),
            row["blockHash"],
            int(row["transactionIndex"]),
            row["to"] or None,
        )
        for row in rows
        if row["missing"]
    ]
    with_receipts = any(row["missing"] == "all" for row in rows)
    sent = _sent(needed, with_receipts=with_receipts) if needed else {}
    return [row | _node_fields(row, sent[row["hash"]]) if row["missing"] else row for row in rows]


def _sent(
    needed: Sequence[IndexedTransaction], *, with_receipts: bool
) -> Mapping[str, StoredTransaction]:
    contents = reader().sources.transaction_contents
    try:
        return contents.transactions(
            reader().node, needed, with_receipts=with_receipts, with_logs=False
        )
    except TooManyBlocks:
        raise
    except (UpstreamFailed, Unavailable) as error:
        reason = f"The node did not return all transactions of this page. {error.message}"
        raise UpstreamFailed(f"{reason} Try again, or use a smaller offset.") from None


def _node_fields(row: Row, transaction: StoredTransaction) -> Row:
    fields = {"input": to_hex(transaction.input)}
    if row["missing"] != "all":
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
    details = transaction_details.details(reader(), record, transaction_details.NO_LOGS)
    if details.input is None or details.logs is None:
        raise UpstreamFailed(details.unavailable or "The node does not give this transaction.")
    after = parameters.integer("index", -1)
    logs = transaction_details.LogWindow(after, MOST_LOGS + 1).of(details.logs)
    failure = explanations.failure(reader(), record)
    reason = None if failure is None else failure.reason.data
    following = {"index": logs[MOST_LOGS - 1].log_index} if len(logs) > MOST_LOGS else None
    info = {
        **renamed("transaction", record | {"status": transactions.outcome(record)}),
        "timeStamp": str(unix_seconds(record["timestamp"])),
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
    return Reply(info)


Record = Mapping[str, Any]
_MOST = 2**31
_LEGACY_CHAIN = 35  # the least `v` of a transaction for one chain alone (EIP-155)


def _transaction_at(block: str, index: str) -> dict[str, Any] | None:
    number, position = _number(block), _number(index)
    if number is None or position is None:
        return None
    [row] = logs.rows_at(reader(), [(number, position)])
    return None if row is None else _made(_transaction, row["hash"])


def _transaction_count(block: str) -> str | None:
    number = _number(block)
    with suppress(NotFound):
        if number is not None:
            return hex(orjson.loads(blocks.record(reader(), number))["txCount"])
    return None


def _number(text: str) -> int | None:
    """Return a number that the index may have; None for a tag, which is the node's."""
    number = int(text, 16) if text.startswith("0x") else _MOST
    return number if number < _MOST else None


def _made(
    make: Callable[[Record, StoredTransaction], dict[str, Any]], transaction_hash: str
) -> dict[str, Any] | None:
    text = transactions.get(reader(), data(transaction_hash, 32))
    if text is None:
        return None
    record = orjson.loads(text)
    own_fees = {record["feeParts"]["l1"], record["feeParts"]["operator"]} - {None}
    if own_fees or "chainFields" in record or record["type"] not in TRANSACTION_FIELDS:
        return None
    sent = reader().sources.transaction_contents.stored_transaction(transactions.indexed(record))
    return None if sent is None else make(record, sent)


def _transaction(record: Record, sent: StoredTransaction) -> dict[str, Any]:
    v = int(sent.fields.get("v") or "0x0", 16)
    is_of_chain = "chainId" not in sent.fields and v >= _LEGACY_CHAIN
    chain_id = {"chainId": hex((v - _LEGACY_CHAIN) // 2)} if is_of_chain else {}
    return {
        **sent.fields,
        **chain_id,
        "input": to_hex(sent.input),
        "hash": record["hash"],
        **_position(record),
        "from": record["fromAddress"],
        "gasPrice": hex(int(record["gasPrice"])),
    }


def _position(record: Record) -> dict[str, Any]:
    return {
        "blockHash": record["blockHash"],
        "blockNumber": hex(record["blockNumber"]),
        "blockTimestamp": hex(unix_seconds(record["timestamp"])),
        "transactionIndex": hex(record["transactionIndex"]),
    }


def _receipt(record: Record, sent: StoredTransaction) -> dict[str, Any]:
    position, received = _position(record), sent.receipt
    of_log = {**position, "transactionHash": record["hash"]}
    raw = [(log.address, log.topics, log.data) for log in received.logs or ()]
    outcome = {} if received.status is None else {"status": hex(received.status)}
    del position["blockTimestamp"]
    return {
        **received.fields,
        **outcome,
        "cumulativeGasUsed": hex(received.cumulative_gas_used),
        "logs": [
            {
                "address": to_hex(log.address),
                "topics": [*map(to_hex, log.topics)],
                "data": to_hex(log.data),
                **of_log,
                "logIndex": hex(log.log_index),
                "removed": False,
            }
            for log in received.logs or ()
        ],
        "logsBloom": to_hex(logs_bloom(raw)),
        "transactionHash": record["hash"],
        **position,
        "gasUsed": hex(int(record["gasUsed"])),
        "effectiveGasPrice": hex(int(record["gasPrice"])),
        **_blob_gas(record),
        "from": record["fromAddress"],
        "to": record["toAddress"],
        "contractAddress": None if record["toAddress"] else _created(record, sent.nonce),
    }


def _blob_gas(record: Record) -> dict[str, str]:
    hashes: Sequence[str] = record["blobVersionedHashes"] or ()
    if not hashes:
        return {}
    gas = BLOB_GAS * len(hashes)
    price = int(record["feeParts"]["blob"] or 0) // gas
    return {"blobGasUsed": hex(gas), "blobGasPrice": hex(price)}


def _created(record: Record, nonce: int) -> str:
    """Return the address at which a transaction creates a contract, or would have."""
    items = string_item(record["fromAddress"]) + quantity_item(hex(nonce))
    return to_hex(keccak256(join_list([bytes.fromhex(items)]))[12:])


# The results of calls from what is stored; None where the node has to be asked.
MADE: Mapping[str, Callable[..., object]] = {
    "eth_getBlockTransactionCountByNumber": _transaction_count,
    "eth_getTransactionByHash": partial(_made, _transaction),
    "eth_getTransactionByBlockNumberAndIndex": _transaction_at,
    "eth_getTransactionReceipt": partial(_made, _receipt),
}
