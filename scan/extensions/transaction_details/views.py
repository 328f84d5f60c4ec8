"""Views of what happened in a transaction: trace, state changes, gas by line; of a sender's pending
transactions, of a contract's gas and storage. The parts of a transaction's page: the call, the
input and the events, the gas of its calls; methods in lists; the page of a transaction that is not
indexed, as the node has it or what became of it; the tabs of an address with its pending
transactions, and of a contract with its variables. The readers that they need live as long as the
process.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint, Response, request

from scan import parameters
from scan.api.blocks_and_transactions import indexed_transaction
from scan.api.hooks import Api
from scan.errors import ScanError, TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.transaction_details import decoding
from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.extensions.transaction_details.details import ALL_LOGS, LogWindow, details
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.explanations import transaction_failures
from scan.extensions.transaction_details.gas_use import gas_of_calls
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.extensions.transaction_details.pending_transactions.queries import MAX_UINT64, Fate
from scan.extensions.transaction_details.storage import layout, slots, variable_values
from scan.hex import data, to_hex
from scan.http import requests
from scan.http.hooks import Service
from scan.http.requests import block_argument, query_arguments, reader
from scan.pages import addresses_and_tokens, hooks, tabs
from scan.pages.records import Record, address_of, addresses_in, names_of
from scan.pages.site import page


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and what explains them."""
    of_node = details(requests.reader(), record, ALL_LOGS)
    explained = explanations.fields(record, of_node)
    return {
        **of_node.record(),
        **explained,
        "unproven": [*of_node.unproven, *explained["unproven"]],
    }


blueprint = Blueprint("transaction_details", __name__)


@blueprint.get("/transactions/<transaction_hash>/trace")
@requests.requires(requests.Prerequisite.NODE)
def get_trace(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    trace, frames = explanations.calls(requests.reader(), record)
    trace_record = {"frames": [frame.record() for frame in frames], "frameCount": trace.frame_count}
    return _of_trace(record, trace_record, is_truncated=trace.is_truncated)


@blueprint.get("/transactions/<transaction_hash>/state-changes")
@requests.requires(requests.Prerequisite.NODE)
def get_state_changes(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    changes = explanations.state_changes(requests.reader(), record)
    changes_record = decoding.recorded("state_changes", changes)
    return _of_trace(record, changes_record, is_truncated=changes.is_truncated)


@blueprint.get("/transactions/<transaction_hash>/gas")
@requests.requires(requests.Prerequisite.NODE)
def get_gas(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    trace, calls = gas_of_calls.transaction_gas(requests.reader(), record)
    functions = [function.record() for function in gas_of_calls.gas_by_function(calls)]
    gas_record = {"functions": functions, "callCount": trace.frame_count}
    return _of_trace(record, gas_record, is_truncated=trace.is_truncated, gasUsed=record["gasUsed"])


@blueprint.get("/transactions/<transaction_hash>/gas/lines")
@requests.requires(requests.Prerequisite.NODE)
def get_gas_by_line(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    gas = gas_of_calls.lines_of_transaction(requests.reader(), record)
    gas_record, is_truncated = decoding.recorded("gas_by_line", gas), gas.is_truncated
    return _of_trace(record, gas_record, is_truncated=is_truncated, gasUsed=record["gasUsed"])


def _of_trace(
    record: Mapping[str, Any], of_trace: Mapping[str, Any], *, is_truncated: bool, **more: Any
) -> requests.Response:
    """Return what a node's trace shows, which nothing proves, with `more` that the index has."""
    return requests.json_value(
        {
            "transactionHash": record["hash"],
            "blockNumber": record["blockNumber"],
            "blockHash": record["blockHash"],
            **more,
            **of_trace,
            "truncated": is_truncated,
            "unproven": [*of_trace],
        }
    )


@blueprint.get("/contracts/<address>/gas")
def get_gas_of_methods(address: str) -> requests.Response:
    requests.query_arguments()
    methods = gas_of_calls.contract_gas(requests.reader(), parameters.address(address))
    return requests.json_value({"methods": [method.record() for method in methods]})


@blueprint.get("/addresses/<address>/pending-transactions")
@requests.requires(requests.Prerequisite.NODE)
def list_pending(address: str) -> requests.Response:
    requests.query_arguments()
    sender = parameters.address(address)
    listed = pending_transactions.sender_transactions(requests.reader(), sender)
    value = {"pendingTransactions": listed.records, "total": listed.total, "reason": listed.reason}
    return requests.json_value({**value, "unproven": ("pendingTransactions", "total")})


@blueprint.get("/contracts/<address>/storage")
@requests.requires(requests.Prerequisite.NODE)
def get_storage(address: str) -> requests.Response:
    arguments = requests.query_arguments("block", "variable", "compare")
    key = parameters.address(address)
    variable = arguments.get("variable")
    other = None
    if variable is not None:
        variable = parameters.text(variable, "variable", most=variable_values.MAX_PATH)
    if "compare" in arguments:
        other = parameters.address(arguments["compare"], "compare")
    block = requests.block_argument(arguments)
    storage = variable_values.get(requests.reader(), key, block, variable, other)
    record = decoding.recorded("storage", storage)
    return requests.json_value({"address": to_hex(key), **record})


MAX_LOGS = 100
TEMPLATES = {
    "transaction_call": "transaction_call.html",
    "transaction_end": "transaction_input.html",
}


def transaction_head(transaction: Record) -> hooks.Shown:
    """Return the details, and what explains them."""
    of_node = details(reader(), transaction, LogWindow(most=MAX_LOGS))
    logs = None if of_node.logs is None else of_node.decoded_logs
    explanation = explanations.head(transaction, of_node)
    addresses = [*addresses_in(of_node.method)]
    for log, event in logs or ():
        addresses += [to_hex(log.address), *addresses_in(event)]
    return hooks.Shown(
        {"details": of_node, "logs": logs, **explanation.values},
        [*addresses, *explanation.addresses],
        {} if of_node.log_count is None else {"events": of_node.log_count},
    )


def read_gas(transaction: Record) -> hooks.Shown:
    """Return the values of the tab; `problem` is why there is no gas, `lines_problem` why there are
    no lines where they were requested. `usual` is what other calls of the transaction's own method
    took."""
    gas: dict[str, Any] = {"usual": None, "problem": None, "lines": None, "lines_problem": None}
    try:
        trace, calls = gas_of_calls.transaction_gas(reader(), transaction)
        gas["usual"] = _usual(transaction)
    except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
        reader().do_not_cache()
        return hooks.Shown({"gas": gas | {"problem": error.message}})
    gas |= {
        "boxes": (boxes := gas_of_calls.boxes(calls)),
        "height": gas_of_calls.height(boxes),
        "functions": gas_of_calls.gas_by_function(calls),
        "whole_gas": gas_of_calls.whole_gas(calls),
        "call_count": trace.frame_count,
        "is_truncated": trace.is_truncated,
        "most_levels": gas_of_calls.MAX_DEPTH,
        "least_width": gas_of_calls.LEAST_WIDTH,
    }
    costly = [*gas["functions"]]
    if "lines" in request.args:
        parameters.one_of(request.args["lines"], "lines", ("all",))
        try:
            gas["lines"] = gas_of_calls.lines_of_transaction(reader(), transaction)
            costly += gas["lines"].lines
        except (TracesUnavailable, UpstreamFailed, Unavailable) as error:
            reader().do_not_cache()
            gas["lines_problem"] = error.message
    addresses = [to_hex(part.address) for part in costly if part.address is not None]
    return hooks.Shown({"gas": gas}, addresses)


def _usual(transaction: Record) -> gas_of_calls.MethodGas | None:
    method, to_address = transaction["methodId"], transaction["toAddress"]
    if not method or not to_address:
        return None
    methods = gas_of_calls.contract_gas(reader(), data(to_address, 20))
    return next((usual for usual in methods if usual.method_id == method), None)


def page_of_missing(transaction_hash: bytes) -> Response | None:
    """Return the page; None where the node does not know the transaction either, and the request
    does not name its sender and nonce, as links on the page of a pending one do. Raises
    UpstreamFailed or Unavailable where the node does not say, and the request does not either."""
    try:
        pending = pending_transactions.get(reader(), transaction_hash)
    except (UpstreamFailed, Unavailable) as error:
        if "nonce" not in request.args:
            raise
        return _page_of_gone(transaction_hash, error.message)
    if pending is None:
        return _page_of_gone(transaction_hash) if "nonce" in request.args else None
    sent, method, replaced_by, missing_nonce = pending
    parties = [address for address in (sent.from_address, sent.to_address) if address is not None]
    return page(
        "pending_transaction.html",
        tab=tabs.requested(tabs.tabs()),
        hash=to_hex(transaction_hash),
        sent=sent,
        method=method,
        replaced_by=replaced_by,
        missing_nonce=missing_nonce,
        may_describe=reader().sources.get(decoding.ClearSigning).may_describe(reader()),
        names=names_of((), *map(to_hex, parties), *addresses_in(method)),
    )


def _page_of_gone(transaction_hash: bytes, failure: str | None = None) -> Response:
    """Return the page of what became of a transaction; `failure` is why the node did not say
    whether it has it."""
    sender = address_of(request.args.get("from", ""))
    nonce = parameters.integer_text(request.args, "nonce", default=0, least=0, most=MAX_UINT64)
    gone = pending_transactions.gone(reader(), transaction_hash, sender, nonce, failure)
    return page(
        "gone_transaction.html",
        503 if failure is not None and gone.fate is Fate.UNKNOWN else 404,
        hash=to_hex(transaction_hash),
        sender=to_hex(sender),
        nonce=nonce,
        gone=gone,
        names=names_of((), to_hex(sender)),
    )


def _pending_tab(key: bytes) -> tuple[None, Mapping[str, Any]]:
    """Return the values of address_pending.html."""
    query_arguments("tab")
    listed = pending_transactions.sender_transactions(reader(), key)
    decoding.add_methods(reader(), listed.records)
    return None, {"pending": listed, "names": names_of(listed.records, to_hex(key))}


def sends_transactions(head: Mapping[str, Any]) -> bool:
    """Return whether an address can send transactions, which a contract can only by EIP-7702."""
    account = head["account"]
    return not account.balance.is_contract or "delegate" in account.more


FIELDS = ("variable", "block")


def _read(key: bytes) -> tuple[None, Mapping[str, Any]]:
    fields = {name: request.args.get(name, "").strip() for name in FIELDS}
    values: dict[str, Any] = {
        "fields": fields,
        "most_path": variable_values.MAX_PATH,
        "problem": None,
        "error": None,
    }
    try:
        block = block_argument({"block": fields["block"] or "latest"})
        variable = parameters.text(fields["variable"], "variable", most=variable_values.MAX_PATH)
        storage = variable_values.get(reader(), key, block, variable or None)
    except ScanError as error:
        reader().do_not_cache()
        values |= {"problem": error.message, "names": names_of([], to_hex(key))}
        return None, {**values, "error": error} if any(fields.values()) else values
    addresses = [key, *(layout.address for layout in storage.layouts)]
    pointed_to = [
        variable.value
        for variable in storage.variables
        if slots.is_address(variable.type) and variable.value is not None
    ]
    names = names_of([], *map(to_hex, addresses), *pointed_to)
    return None, {**values, "storage": storage, "names": names}


pending_tab = hooks.AddressTab(
    "pending", "Pending", 58, sends_transactions, template="address_pending.html", read=_pending_tab
)
storage_tab = hooks.AddressTab(
    "storage",
    "Storage",
    120,
    addresses_and_tokens.is_of_contract,
    template="contract_storage.html",
    read=_read,
    group=hooks.CONTRACT,
)
HOOKS = (
    Api(transaction_fields=transaction_fields, blueprints=(blueprint,)),
    Service(make=lambda core: ContractAbis(core.reads)),
    Service(make=lambda core: transaction_failures.TransactionFailures(core.writes)),
    Service(make=lambda core: layout.StorageLayouts(core.reads)),
    hooks.Pages(
        sections=(hooks.TransactionSection(TEMPLATES, transaction_head),),
        tabs=(
            hooks.TransactionTab("events", "Events", opens=True),
            hooks.TransactionTab("gas", "Gas", "/gas", read_gas, needs_node=True),
            pending_tab,
            storage_tab,
        ),
        add_to_transactions=decoding.add_methods,
        page_of_missing=page_of_missing,
    ),
)
