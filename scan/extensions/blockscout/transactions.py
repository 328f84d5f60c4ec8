"""Transactions, their transfers, logs, traces and changes of the state; lists of all transfers."""

from collections.abc import Sequence

import orjson

from scan import parameters
from scan.contracts.account_state import ViewCall
from scan.errors import NotFound, UpstreamFailed
from scan.ethereum.served_chain import BlockId
from scan.extensions.blockscout import decoded_objects, paths, transaction_lists
from scan.extensions.blockscout.address_and_token_objects import (
    AddressObjects,
    proxy_fields,
    token_types,
    transfer_objects,
    transfer_position,
)
from scan.extensions.blockscout.paths import Object, Routes, text, timestamp
from scan.extensions.decoding import details as transaction_details
from scan.extensions.decoding.decoding import contexts
from scan.extensions.decoding.details import NO_LOGS, LogWindow, TransactionDetails
from scan.extensions.explanations.transactions import queries as explanations
from scan.hex import data
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.queries import blocks, contracts, network, tokens, transactions

MOST_MOVED = 1000  # transfers whose tokens changed the state
SHOWN_TRANSFERS = 10  # with their transaction
PREVIEW_PRELOADS = ("preload_ens", "preload_metadata")
NOT_INDEXED = "This transaction is not indexed."

blueprint = Routes("transactions")


@blueprint.path("/transactions")
def list_transactions() -> Response:
    """Return transactions of blocks; the list of pending ones, which are not indexed, is empty."""
    kind = paths.one_of("type", ("blob_transaction",))
    type_ = None if kind is None else bytes([transaction_lists.BLOB_TYPE])
    is_pending = paths.one_of("filter", ("validated", "pending")) == "pending"
    window = paths.first_window()._replace(block_to=-1) if is_pending else None
    return transaction_lists.transactions_response(window, type=type_)


@blueprint.path("/transactions/stats")
def get_stats() -> Response:
    """Return the sums of the newest day (UTC); transactions in no block are not indexed."""
    today = network.totals(reader())["today"] or {}
    stats = {
        "transactions_count_24h": str(today.get("transactions", 0)),
        "pending_transactions_count": "0",
        "transaction_fees_sum_24h": today.get("fees", "0"),
        "transaction_fees_avg_24h": today.get("meanFee", "0"),
    }
    return json_value(stats)


@blueprint.path("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    context = contexts(reader(), [record["hash"]])[record["hash"]]
    details = transaction_details.details(reader(), record, NO_LOGS)
    kinds = transaction_lists.kinds_of([record])[record["hash"]]
    method = _method(record, details, kinds)
    listed = transaction_lists.transaction_object(
        record | {"method": method},
        context,
        transaction_lists.transaction_addresses(record),
        kinds=kinds,
        confirmations=record["confirmations"],
        content=details.input,
    )
    transfers, has_more = tokens.transfers_in(reader(), record, SHOWN_TRANSFERS)
    failed = {}
    if not record["status"]:
        failure = explanations.failure(reader(), record)
        failed = decoded_objects.failure_fields(failure, is_decoded=True)
    signed = record.get("authorizations", [])
    fields = {
        **listed,
        **failed,
        "to": _called(listed["to"], record["toAddress"]),
        "decoded_input": decoded_objects.call_object(details.method, details.input or b""),
        "token_transfers": transfer_objects(transfers),
        "token_transfers_overflow": has_more,
        "authorization_list": [*map(transaction_lists.authorization_object, signed)],
    }
    return json_value(fields)


def _method(record: paths.Record, details: TransactionDetails, kinds: Sequence[str]) -> str | None:
    if details.method is not None:
        return details.method.name
    return record["methodId"] if "contract_call" in kinds else None


def _called(recipient: Object | None, address: str | None) -> Object | None:
    """Return the object of the recipient with its implementations, by which clients decode."""
    if recipient is None or address is None or not recipient["is_contract"]:
        return recipient
    _, lookup = contracts.get_with_proxy(reader(), data(address), ())
    if lookup.proxy is None:
        return recipient
    return recipient | proxy_fields(lookup.proxy)


@blueprint.path("/transactions/<transaction_hash>/preview")
def get_preview(transaction_hash: str) -> Response:
    """Return what a link to a transaction shows."""
    record = indexed(transaction_hash)
    with_method, *_ = (paths.flag(n, default=False) for n in ("decode_input", *PREVIEW_PRELOADS))
    objects = transaction_lists.transaction_addresses(record)
    kinds = transaction_lists.kinds_of([record])[record["hash"]]
    method = record["methodId"] if "contract_call" in kinds else None
    if with_method and method:
        method = _method(record, transaction_details.details(reader(), record, NO_LOGS), kinds)
    preview = {
        "from": _previewed(objects, record["fromAddress"]),
        "to": _previewed(objects, record["toAddress"]),
        "method": method,
        "status": paths.FORMATS["outcome"](transactions.outcome(record)),
        "timestamp": timestamp(record["timestamp"]),
    }
    return json_value(preview)


def _previewed(objects: AddressObjects, address: str | None) -> Object | None:
    if address is None:
        return None
    party = objects.of(address)
    return {name: party[name] for name in ("hash", "name", "ens_domain_name", "metadata")}


@blueprint.path("/transactions/<transaction_hash>/token-transfers")
def list_token_transfers(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    paths.require_block(record["blockNumber"])
    log_index = paths.number("index")
    after = (0, -1) if log_index is None else (log_index, paths.number("index_in_batch") or 0)
    records, has_more = tokens.transfers_in(reader(), record, paths.row_count(), after)
    following = transfer_position(records[-1]) if has_more else None
    return paths.list_response(transfer_objects(token_types().of(records, "tokenType")), following)


@blueprint.path("/token-transfers")
def list_all_token_transfers() -> Response:
    return transaction_lists.transfers_response(token_types())


@blueprint.path("/internal-transactions")
def list_all_internal_transactions() -> Response:
    transaction_hash = text("transaction_hash")
    if transaction_hash is None:
        return transaction_lists.internal_transactions_response()
    record = indexed(transaction_hash, "transaction_hash")
    return transaction_lists.internal_of_transaction_response(record, "desc")


@blueprint.path("/transactions/<transaction_hash>/internal-transactions")
def list_internal_transactions(transaction_hash: str) -> Response:
    return transaction_lists.internal_of_transaction_response(indexed(transaction_hash), "asc")


@blueprint.path("/transactions/<transaction_hash>/logs")
def list_logs(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    paths.require_block(record["blockNumber"])
    after, most = paths.number("index"), paths.row_count()
    window = LogWindow(-1 if after is None else after, most + 1)
    details = transaction_details.details(reader(), record, window)
    if details.logs is None:
        raise UpstreamFailed(details.unavailable or "The node does not give these logs.")
    logs = details.decoded_logs[:most]
    of_block = {name: record[name] for name in ("blockNumber", "timestamp")}
    records = [{**log.record(), **of_block, "transactionHash": record["hash"]} for log in logs]
    context_of = {record["hash"]: {"blockHash": record["blockHash"]}}
    items = decoded_objects.log_objects(records, [log.event for log in logs], context_of)
    has_more = len(details.decoded_logs) > most
    return paths.list_response(items, decoded_objects.log_position(items[-1]) if has_more else None)


@blueprint.path("/transactions/<transaction_hash>/raw-trace")
@requires(Prerequisite.NODE)
def get_raw_trace(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    trace, _ = explanations.calls(reader(), record)
    return json_value(decoded_objects.trace_objects(record, trace.frames))


@blueprint.path("/transactions/<transaction_hash>/state-changes")
@requires(Prerequisite.NODE)
def list_state_changes(transaction_hash: str) -> Response:
    """Return the changes of coin balances of as many accounts as a trace has, and of tokens."""
    record = indexed(transaction_hash)
    number = record["blockNumber"]
    accounts = explanations.state_changes(reader(), record).accounts
    block = orjson.loads(blocks.record(reader(), data(record["blockHash"])))
    first = paths.number("state_changes_count") or 0
    moved, _ = tokens.transfers_in(reader(), record, MOST_MOVED)

    def read_balances(views: Sequence[ViewCall]) -> dict[ViewCall, tuple[int, int]]:
        states, node = reader().sources.account_states, reader().node
        before = states.words_at(node, views, BlockId(number - 1, data(block["parentHash"])))
        after = states.words_at(node, views, BlockId(number, data(record["blockHash"])))
        return {view: (before[view], after[view]) for view in before.keys() & after.keys()}

    items = decoded_objects.state_change_objects(block["miner"], accounts, moved, read_balances)
    end = first + paths.row_count()
    following = {"state_changes_count": end} if end < len(items) else None
    return paths.list_response(items[first:end], following)


@blueprint.path("/transactions/<transaction_hash>/summary")
def get_summary(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    details = transaction_details.details(reader(), record, NO_LOGS)
    failure = explanations.failure(reader(), record)
    sentence = explanations.transaction_sentence(reader(), record, details, failure)
    return json_value(decoded_objects.summary_object(sentence))


def indexed(transaction_hash: str, field: str = "transaction_hash_param") -> paths.Record:
    """Return the transaction that a path names; raises NotFound, InvalidParameter."""
    key = parameters.hash32(transaction_hash, field)
    record = transactions.get(reader(), key)
    if record is None:
        raise NotFound(NOT_INDEXED)
    parsed: paths.Record = orjson.loads(record)
    return parsed
