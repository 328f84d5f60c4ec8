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
from scan.extensions.transaction_details.details import ALL_LOGS, details
from scan.extensions.transaction_details.explanations import queries
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
    return of_node.record() | queries.fields(record, of_node)


blueprint = Blueprint("transaction_details", __name__)


@blueprint.get("/transactions/<transaction_hash>/trace")
@requests.requires(requests.Prerequisite.NODE)
def get_trace(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    trace, frames = explanations.calls(requests.reader(), record)
    return requests.json_value(
        {
            **_place_of(record),
            "frames": [frame.record() for frame in frames],
            "frameCount": trace.frame_count,
            "truncated": trace.is_truncated,
            "unproven": ["frames", "frameCount"],
        }
    )


@blueprint.get("/transactions/<transaction_hash>/state-changes")
@requests.requires(requests.Prerequisite.NODE)
def get_state_changes(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    changes = explanations.state_changes(requests.reader(), record)
    return requests.json_value(
        {
            **_place_of(record),
            "accounts": [account.record() for account in changes.accounts],
            "accountCount": changes.account_count,
            "slotCount": changes.slot_count,
            "truncated": changes.is_truncated,
            "unproven": ["accounts", "accountCount", "slotCount"],
        }
    )


@blueprint.get("/transactions/<transaction_hash>/gas")
@requests.requires(requests.Prerequisite.NODE)
def get_gas(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    gas = gas_use.transaction_gas(requests.reader(), record)
    return requests.json_value(
        {
            **_place_of(record),
            "gasUsed": record["gasUsed"],
            "functions": [function.record() for function in gas_use.gas_by_function(gas.calls)],
            "callCount": gas.call_count,
            "truncated": gas.is_truncated,
            "unproven": ["functions", "callCount"],
        }
    )


@blueprint.get("/transactions/<transaction_hash>/gas/lines")
@requests.requires(requests.Prerequisite.NODE)
def get_gas_by_line(transaction_hash: str) -> requests.Response:
    record = indexed_transaction(transaction_hash)
    lines = gas_use.lines_of_transaction(requests.reader(), record)
    gas_used = {"gasUsed": record["gasUsed"]}
    return requests.json_value({**_place_of(record), **gas_used, **lines.record()})


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
    listed = pending_transactions.sender_transactions(
        requests.reader(), parameters.address(address)
    )
    return requests.json_value(
        {"pendingTransactions": listed.records, "total": listed.total, "reason": listed.reason}
    )


@blueprint.get("/contracts/<address>/storage")
@requests.requires(requests.Prerequisite.NODE)
def get_storage(address: str) -> requests.Response:
    arguments = requests.query_arguments("block", "variable", "compare")
    key, variable, other = parameters.address(address), None, None
    if "variable" in arguments:
        variable = parameters.text(
            arguments["variable"], "variable", most=contract_storage.MAX_PATH
        )
    if "compare" in arguments:
        other = parameters.address(arguments["compare"], "compare")
    storage = contract_storage.get(
        requests.reader(), key, requests.block_argument(arguments), variable, other
    )
    return requests.json_value(
        {
            "address": to_hex(key),
            "blockNumber": storage.block.number,
            "blockHash": to_hex(storage.block.hash),
            "layouts": [
                {"address": to_hex(known.address), "contractName": known.contract_name}
                for known in storage.layouts
            ],
            "variables": [entry.record() for entry in storage.variables],
            "truncated": storage.is_truncated,
            "collisions": [collision.record() for collision in storage.collisions],
        }
    )


HOOKS = (
    Api(transaction_fields=transaction_fields, blueprints=(blueprint,)),
    hooks.Service(make=lambda core: ContractAbis(core.reads)),
    hooks.Service(make=lambda core: TransactionFailures(core.writes)),
    hooks.Service(make=lambda core: layout.StorageLayouts(core.reads)),
)
