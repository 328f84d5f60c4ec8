"""Where the gas of a transaction went, by call and function, and what methods of a contract
use: in the API, and as a tab of the transaction's page."""

from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.blocks_and_transactions import indexed_transaction
from scan.api.hooks import Api
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.explanations.gas_use import gas_of_calls
from scan.extensions.explanations.transactions.views import of_trace
from scan.hex import data, to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import hooks
from scan.pages.records import Record

blueprint = Blueprint("gas_use", __name__)


@blueprint.get("/transactions/<transaction_hash>/gas")
@requires(Prerequisite.NODE)
def get_gas(transaction_hash: str) -> Response:
    record = indexed_transaction(transaction_hash)
    trace, calls = gas_of_calls.transaction_gas(reader(), record)
    functions = [function.record() for function in gas_of_calls.gas_by_function(calls)]
    gas_record = {"functions": functions, "callCount": trace.frame_count}
    return of_trace(record, gas_record, is_truncated=trace.is_truncated, gasUsed=record["gasUsed"])


@blueprint.get("/contracts/<address>/gas")
def get_gas_of_methods(address: str) -> Response:
    query_arguments()
    methods = gas_of_calls.contract_gas(reader(), parameters.address(address))
    return json_value({"methods": [method.record() for method in methods]})


def read_gas(transaction: Record) -> hooks.Shown:
    """Return the values of the tab; `problem` is why there is no gas, `usual` what other calls of
    the transaction's own method took."""
    gas: dict[str, Any] = {"usual": None, "problem": None}
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
    addresses = [to_hex(f.address) for f in gas["functions"] if f.address is not None]
    return hooks.Shown({"gas": gas}, addresses)


def _usual(transaction: Record) -> gas_of_calls.MethodGas | None:
    method, to_address = transaction["methodId"], transaction["toAddress"]
    if not method or not to_address:
        return None
    methods = gas_of_calls.contract_gas(reader(), data(to_address, 20))
    return next((usual for usual in methods if usual.method_id == method), None)


HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Pages(tabs=(hooks.TransactionTab("gas", "Gas", "/gas", read_gas, needs_node=True),)),
)
