"""GET /api/v1/contracts/:address/storage."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.transaction_details.storage import contract_storage
from scan.extensions.transaction_details.storage.variable_paths import MAX_PATH
from scan.hex import to_hex
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import block_argument, query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("storage", __name__)


@blueprint.get("/contracts/<address>/storage")
@requires(Prerequisite.NODE)
def get_storage(address: str) -> Response:
    arguments = query_arguments("block", "variable", "compare")
    key, variable, other = parameters.address(address), None, None
    if "variable" in arguments:
        variable = parameters.text(arguments["variable"], "variable", most=MAX_PATH)
    if "compare" in arguments:
        other = parameters.address(arguments["compare"], "compare")
    storage = contract_storage.get(reader(), key, block_argument(arguments), variable, other)
    return json_value(
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


HOOKS = Api(blueprints=(blueprint,))
