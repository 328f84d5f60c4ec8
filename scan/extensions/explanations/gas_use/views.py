"""Where the gas of a transaction went, by call, function and line, and what methods of a contract
use: in the API, and as a tab of the transaction's page."""

from typing import Any

from flask import Blueprint, request

from scan import parameters
from scan.api.blocks_and_transactions import indexed_transaction
from scan.api.hooks import Api
from scan.api.renamed_fields import recording
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.extensions.explanations.gas_use import gas_of_calls
from scan.extensions.explanations.transactions.views import of_trace
from scan.hex import data, to_hex
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import hooks
from scan.pages.records import Record

recorded = recording(__file__)
blueprint = Blueprint("gas_use", __name__)


@blueprint.get("/transactions/<transaction_hash>/gas")
@requires(Prerequisite.NODE)
def get_gas(transaction_hash: str) -> Response:
    record = indexed_transaction(transaction_hash)
    trace, calls = gas_of_calls.transaction_gas(reader(), record)
    functions = [function.record() for function in gas_of_calls.gas_by_function(calls)]
    gas_record = {"functions": functions, "callCount": trace.frame_count}
    return of_trace(record, gas_record, is_truncated=trace.is_truncated, gasUsed=record["gasUsed"])


@blueprint.get("/transactions/<transaction_hash>/gas/lines")
@requires(Prerequisite.NODE)
def get_gas_by_line(transaction_hash: str) -> Response:
    record = indexed_transaction(transaction_hash)
    gas = gas_of_calls.lines_of_transaction(reader(), record)
    gas_record, is_truncated = recorded("gas_by_line", gas), gas.is_truncated
    return of_trace(record, gas_record, is_truncated=is_truncated, gasUsed=record["gasUsed"])


@blueprint.get("/contracts/<address>/gas")
def get_gas_of_methods(address: str) -> Response:
    query_arguments()
    methods = gas_of_calls.contract_gas(reader(), parameters.address(address))
    return json_value({"methods": [method.record() for method in methods]})


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


HOOKS = (
    Api(blueprints=(blueprint,)),
    hooks.Pages(tabs=(hooks.TransactionTab("gas", "Gas", "/gas", read_gas, needs_node=True),)),
)
