"""GET /api/v1/token-transfers and /dex-trades; transfers and trades of a token or an address."""

from flask import Blueprint

from scan import parameters
from scan.http.list_responses import add_list, entity_list
from scan.http.requests import reader
from scan.http.responses import Response
from scan.queries import tokens

blueprint = Blueprint("transfers", __name__)
add_list(blueprint, "/token-transfers", "token_transfers")
add_list(blueprint, "/addresses/<address>/transfers", "token_transfers")
add_list(blueprint, "/dex-trades", "dex_trades")
add_list(blueprint, "/addresses/<address>/trades", "dex_trades", ("maker",))


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> Response:
    tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    return entity_list("token_transfers", tokenAddress=address)
