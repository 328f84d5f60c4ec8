"""GET /api/v1/contracts/:address/compare/:other."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.contract_details.source_comparison import queries
from scan.hex import to_hex
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("source_comparison", __name__)


@blueprint.get("/contracts/<address>/compare/<other>")
def compare_sources(address: str, other: str) -> Response:
    query_arguments()
    key, other_key = parameters.address(address), parameters.address(other, "other")
    pairs = queries.of(reader(), key, other_key)
    return json_value(
        {
            "address": to_hex(key),
            "other": to_hex(other_key),
            "files": [
                {
                    "path": pair.path,
                    "otherPath": pair.other_path,
                    "status": pair.status,
                    "changes": pair.unified(),
                }
                for pair in pairs
            ],
        }
    )


HOOKS = Api(blueprints=(blueprint,))
