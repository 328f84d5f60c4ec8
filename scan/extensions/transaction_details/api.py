"""Views of what happened in a transaction: trace, state changes, gas by line; of a sender's pending
transactions, of a contract's gas and storage. The readers that they need live as long as the
process.
"""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.blocks_and_transactions import indexed_transaction
from scan.api.hooks import Api
from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.extensions.transaction_details.decoding import recorded
from scan.extensions.transaction_details.details import ALL_LOGS, details
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.explanations.transaction_failures import (
    TransactionFailures,
)
from scan.extensions.transaction_details.gas_use import gas_use
from scan.extensions.transaction_details.pending_transactions import queries as pending_transactions
from scan.extensions.transaction_details.storage import contract_storage, layout
from scan.hex import to_hex
from scan.http import hooks, requests


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and what explains them."""
    of_node = details(requests.reader(), record, ALL_LOGS)
    return of_node.record() | explanations.fields(record, of_node)


blueprint = Blueprint("transaction_details", __name__)


@blueprint.get("/transactions/<transaction_hash>/trace")
@requests.requires(requests.Prerequisite.NODE)
def get_trace(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    trace, frames = explanations.calls(requests.reader(), record)
    shown = {"frames": [frame.record() for frame in frames], "frameCount": trace.frame_count}
    return _of_trace(record, shown, is_truncated=trace.is_truncated)


@blueprint.get("/transactions/<transaction_hash>/state-changes")
@requests.requires(requests.Prerequisite.NODE)
def get_state_changes(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    changes = explanations.state_changes(requests.reader(), record)
    shown = recorded("state_changes", changes)
    return _of_trace(record, shown, is_truncated=changes.is_truncated)


@blueprint.get("/transactions/<transaction_hash>/gas")
@requests.requires(requests.Prerequisite.NODE)
def get_gas(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    gas = gas_use.transaction_gas(requests.reader(), record)
    functions = [function.record() for function in gas_use.gas_by_function(gas.calls)]
    shown = {"functions": functions, "callCount": gas.call_count}
    return _of_trace(record, shown, is_truncated=gas.is_truncated, gasUsed=record["gasUsed"])


@blueprint.get("/transactions/<transaction_hash>/gas/lines")
@requests.requires(requests.Prerequisite.NODE)
def get_gas_by_line(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    lines = gas_use.lines_of_transaction(requests.reader(), record)
    gas_used = {"gasUsed": record["gasUsed"]}
    return requests.json_value({**_place_of(record), **gas_used, **lines.record()})


def _of_trace(
    record: Mapping[str, Any], shown: Mapping[str, Any], *, is_truncated: bool, **more: Any
) -> requests.Response:
    """Return what a node's trace shows, which nothing proves, with `more` that the index has."""
    ends = {"truncated": is_truncated, "unproven": [*shown]}
    return requests.json_value({**_place_of(record), **more, **shown, **ends})


def _place_of(record: Mapping[str, Any]) -> dict[str, Any]:
    place = {"transactionHash": record["hash"], "blockNumber": record["blockNumber"]}
    return {**place, "blockHash": record["blockHash"]}


@blueprint.get("/contracts/<address>/gas")
def get_gas_of_methods(address: str) -> requests.Response:
    requests.query_arguments()
    methods = gas_use.contract_gas(requests.reader(), parameters.address(address))
    return requests.json_value({"methods": [method.record() for method in methods]})


@blueprint.get("/addresses/<address>/pending-transactions")
@requests.requires(requests.Prerequisite.NODE)
def list_pending(address: str) -> requests.Response:
    requests.query_arguments()
    sender = parameters.address(address)
    listed = pending_transactions.sender_transactions(requests.reader(), sender)
    value = {"pendingTransactions": listed.records, "total": listed.total, "reason": listed.reason}
    return requests.json_value(value)


@blueprint.get("/contracts/<address>/storage")
@requests.requires(requests.Prerequisite.NODE)
def get_storage(address: str) -> requests.Response:
    arguments = requests.query_arguments("block", "variable", "compare")
    key = parameters.address(address)
    variable = arguments.get("variable")
    other = None
    if variable is not None:
        variable = parameters.text(variable, "variable", most=contract_storage.MAX_PATH)
    if "compare" in arguments:
        other = parameters.address(arguments["compare"], "compare")
    block = requests.block_argument(arguments)
    storage = contract_storage.get(requests.reader(), key, block, variable, other)
    layouts = [
        {"address": to_hex(known.address), "contractName": known.contract_name}
        for known in storage.layouts
    ]
    return requests.json_value(
        {
            "address": to_hex(key),
            "blockNumber": storage.block.number,
            "blockHash": to_hex(storage.block.hash),
            "layouts": layouts,
            **recorded("storage", storage),
        }
    )


HOOKS = (
    Api(transaction_fields=transaction_fields, blueprints=(blueprint,)),
    hooks.Service(make=lambda core: ContractAbis(core.reads)),
    hooks.Service(make=lambda core: TransactionFailures(core.writes)),
    hooks.Service(make=lambda core: layout.StorageLayouts(core.reads)),
)
