"""Transactions, their transfers, logs, traces and changes of the state; lists of all transfers."""

from collections.abc import Sequence
from typing import Any

import orjson

from scan import parameters
from scan.errors import InvalidParameter, NotFound, UpstreamFailed
from scan.extensions.blockscout.decoded_objects import call_object
from scan.extensions.blockscout.entity_lists import (
    internal_transactions_response,
    transactions_response,
    transfers_response,
)
from scan.extensions.blockscout.lists import ROWS, Record, list_response, number, one_of, text
from scan.extensions.blockscout.log_objects import log_objects
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.summary_objects import summary_object
from scan.extensions.blockscout.token_objects import (
    token_types,
    transfer_objects,
    transfer_position,
)
from scan.extensions.blockscout.trace_objects import state_change_objects, trace_objects
from scan.extensions.blockscout.transaction_objects import (
    authorization_object,
    internal_objects,
    transaction_addresses,
    transaction_object,
)
from scan.extensions.internal_transfers import queries as internal_transfers
from scan.extensions.transaction_details import queries as transaction_details
from scan.extensions.transaction_details.details import NO_LOGS, LogWindow
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.explanations.transaction_failures import TransactionFailure
from scan.extensions.transaction_details.transaction_contexts import contexts
from scan.hex import data, to_hex
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import blocks, network, token_transfers, transactions
from scan.queries.ordinals import ordinal_at
from scan.queries.pages import Window

SHOWN_TRANSFERS = 10  # with their transaction
NOT_INDEXED = "This transaction is not indexed."

blueprint = routes("transactions")


@blueprint.path("/transactions")
def list_transactions() -> Response:
    """Return transactions of blocks; the list of pending ones, which are not indexed, is empty."""
    if one_of("filter", ("validated", "pending")) == "pending":
        return list_response([], None)
    for name in ("type", "method"):
        if text(name):
            raise InvalidParameter(f"Transactions cannot be filtered by {name}.", field=name)
    return transactions_response()


@blueprint.path("/transactions/stats")
def get_stats() -> Response:
    """Return the sums of the newest day (UTC); transactions in no block are not indexed."""
    today = network.totals(reader())["today"] or {}
    return json_value(
        {
            "transactions_count_24h": str(today.get("transactions", 0)),
            "pending_transactions_count": "0",
            "transaction_fees_sum_24h": today.get("fees", "0"),
            "transaction_fees_avg_24h": today.get("meanFee", "0"),
        }
    )


@blueprint.path("/transactions/<transaction_hash>")
def get_transaction(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    context = contexts(reader(), [record["hash"]])[record["hash"]]
    details = transaction_details.details(reader(), record, NO_LOGS)
    failure = explanations.failure(reader(), record)
    shown = transaction_object(
        record,
        context,
        transaction_addresses(record),
        confirmations=record["confirmations"],
        content=details.input,
    )
    transfers, has_more = token_transfers.of_transaction(reader(), record, SHOWN_TRANSFERS)
    decoded = call_object(details.method, details.input or b"")
    authorizations = record.get("authorizations", [])
    return json_value(
        {
            **shown,
            **_failure_fields(failure),
            "decoded_input": decoded,
            "method": details.method.name if details.method else record["methodId"],
            "token_transfers": transfer_objects(transfers),
            "token_transfers_overflow": has_more,
            "authorization_list": [authorization_object(record) for record in authorizations],
        }
    )


def _failure_fields(failure: TransactionFailure | None) -> dict[str, Any]:
    if failure is None:
        return {}
    reason = failure.reason
    raw = {"raw": to_hex(reason.data) if reason.data else None}
    return {
        "result": reason.phrase,
        "revert_reason": call_object(reason.decoded, reason.data[:4]) or raw,
    }


@blueprint.path("/transactions/<transaction_hash>/token-transfers")
def list_token_transfers(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    log_index = number("index")
    after = (0, -1) if log_index is None else (log_index, number("index_in_batch") or 0)
    records, has_more = token_transfers.of_transaction(reader(), record, ROWS, after)
    following = transfer_position(records[-1]) if has_more else None
    return list_response(transfer_objects(token_types().of(records, "tokenType")), following)


@blueprint.path("/token-transfers")
def list_all_token_transfers() -> Response:
    return transfers_response(token_types())


@blueprint.path("/internal-transactions")
def list_all_internal_transactions() -> Response:
    return internal_transactions_response()


@blueprint.path("/transactions/<transaction_hash>/internal-transactions")
def list_internal_transactions(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    window = Window(ROWS, 0, "asc")
    if number("index") is not None:
        ordinal = ordinal_at(
            reader(),
            "internal_transfers",
            record["blockNumber"],
            number("index") or 0,
            transaction_index=record["transactionIndex"],
        )
        window = window._replace(position=(ordinal,))
    page, is_traced = internal_transfers.of_transaction(reader(), data(record["hash"]), window)
    if not is_traced:
        raise NotFound(internal_transfers.without_traces(reader()))
    items, following = internal_objects(orjson.loads(page.data))
    return list_response(items, following if page.next else None)


@blueprint.path("/transactions/<transaction_hash>/logs")
def list_logs(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    after = number("index")
    window = LogWindow(-1 if after is None else after, ROWS + 1)
    details = transaction_details.details(reader(), record, window)
    if details.logs is None:
        raise UpstreamFailed(details.unavailable or "The node does not give these logs.")
    shown = details.decoded_logs[:ROWS]
    records = [
        {**log.record(), **{name: record[name] for name in ("blockNumber", "timestamp")}}
        for log in shown
    ]
    items = log_objects(
        [{**log, "transactionHash": record["hash"]} for log in records],
        [log.event for log in shown],
        {record["hash"]: record["blockHash"]},
    )
    following = None
    if len(details.decoded_logs) > ROWS:
        following = {"block_number": record["blockNumber"], "index": shown[-1].log.log_index}
    return list_response(items, following)


@blueprint.path("/transactions/<transaction_hash>/raw-trace")
@requires(Prerequisite.NODE)
def get_raw_trace(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    trace, _ = explanations.calls(reader(), record)
    return json_value(trace_objects(record, trace.frames))


@blueprint.path("/transactions/<transaction_hash>/state-changes")
@requires(Prerequisite.NODE)
def list_state_changes(transaction_hash: str) -> Response:
    """Return the changes of coin balances, all on one page: of as many accounts as a trace has."""
    record = indexed(transaction_hash)
    accounts: Sequence[Any] = explanations.state_changes(reader(), record).accounts
    block = orjson.loads(blocks.get(reader(), record["blockNumber"]) or "{}")
    return list_response(state_change_objects(block.get("miner", ""), accounts), None)


@blueprint.path("/transactions/<transaction_hash>/summary")
def get_summary(transaction_hash: str) -> Response:
    record = indexed(transaction_hash)
    details = transaction_details.details(reader(), record, NO_LOGS)
    failure = explanations.failure(reader(), record)
    return json_value(summary_object(explanations.summary(reader(), record, details, failure)))


def indexed(transaction_hash: str) -> Record:
    """Return the transaction that a path names; raises NotFound, InvalidParameter."""
    key = parameters.hash32(transaction_hash, "transaction_hash_param")
    record = transactions.get(reader(), key)
    if record is None:
        raise NotFound(NOT_INDEXED)
    parsed: Record = orjson.loads(record)
    return parsed
