"""GET and POST /api/v1/decode, POST /api/v1/encode."""

from flask import Blueprint

from scan import json_bodies, parameters
from scan.api.contracts import function_and_arguments
from scan.api.hooks import Api
from scan.extensions.contract_details.decoder.decoding import Encoded, decode
from scan.extensions.contract_details.decoder.encoding import encode
from scan.extensions.contract_details.decoder.parameters import NAMES, encoded_of, encoded_of_query
from scan.hex import to_hex
from scan.http.requests import json_object, query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("decoder", __name__)


@blueprint.get("/decode")
def decode_query() -> Response:
    return _decoded(encoded_of_query(query_arguments(*NAMES)))


@blueprint.post("/decode")
def decode_body() -> Response:
    query_arguments()
    body = json_object()
    json_bodies.only_known(body, NAMES, "field")
    return _decoded(encoded_of(body))


def _decoded(encoded: Encoded) -> Response:
    address, decoding = encoded.address, decode(reader(), encoded)
    return json_value(
        {
            "data": to_hex(decoding.signed or encoded.data),
            "topics": [*map(to_hex, encoded.topics)],
            "address": None if address is None else to_hex(address),
            **decoding.record(),
        }
    )


@blueprint.post("/encode")
def encode_call() -> Response:
    query_arguments()
    body = json_object()
    json_bodies.only_known(body, ("functionName", "args", "address"), "field")
    reader().do_not_cache()
    function, arguments = function_and_arguments(body)
    address = parameters.optional_address(body, "address")
    return json_value(encode(reader(), function, arguments, address).record())


HOOKS = Api(blueprints=(blueprint,))
