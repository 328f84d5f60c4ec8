"""GET /api/v1/transactions/:hash/gas, its /lines, and /contracts/:address/gas."""

from collections.abc import Mapping
from typing import Any

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.api.transactions import indexed_transaction
from scan.extensions.transaction_details.gas_use import queries
from scan.extensions.transaction_details.gas_use.gas_use import by_function
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("gas_use", __name__)


@blueprint.get("/transactions/<transaction_hash>/gas")
@requires(Prerequisite.NODE)
def get_gas(transaction_hash: str) -> Response:
    record, _ = indexed_transaction(transaction_hash)
    gas = queries.of_transaction(reader(), record)
    return json_value(
        {
            **_of_transaction(record),
            "functions": [function.record() for function in by_function(gas.calls)],
            "callCount": gas.call_count,
            "truncated": gas.is_truncated,
            "unproven": ["functions", "callCount"],
        }
    )


@blueprint.get("/transactions/<transaction_hash>/gas/lines")
@requires(Prerequisite.NODE)
def get_gas_by_line(transaction_hash: str) -> Response:
    record, _ = indexed_transaction(transaction_hash)
    lines = queries.lines_of_transaction(reader(), record)
    return json_value({**_of_transaction(record), **lines.record()})


def _of_transaction(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "transactionHash": record["hash"],
        "blockNumber": record["blockNumber"],
        "blockHash": record["blockHash"],
        "gasUsed": record["gasUsed"],
    }


@blueprint.get("/contracts/<address>/gas")
def get_gas_of_methods(address: str) -> Response:
    query_arguments()
    methods = queries.of_contract(reader(), parameters.address(address))
    return json_value({"methods": [method.record() for method in methods]})


HOOKS = Api(blueprints=(blueprint,))
