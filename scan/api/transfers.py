"""GET /api/v1/token-transfers and /dex-trades; transfers and trades of a token or an address."""

from flask import Blueprint

from scan import parameters
from scan.http.list_responses import entity_list
from scan.http.requests import reader
from scan.http.responses import Response
from scan.queries import tokens

blueprint = Blueprint("transfers", __name__)


@blueprint.get("/token-transfers")
def list_token_transfers() -> Response:
    return entity_list("token_transfers")


@blueprint.get("/tokens/<address>/transfers")
def list_transfers_of_token(address: str) -> Response:
    tokens.get(reader(), parameters.address(address))  # raises NotFound for an unknown token
    return entity_list("token_transfers", tokenAddress=address)


@blueprint.get("/addresses/<address>/transfers")
def list_transfers_of_address(address: str) -> Response:
    return entity_list("token_transfers", address=address)


@blueprint.get("/dex-trades")
def list_dex_trades() -> Response:
    return entity_list("dex_trades")


@blueprint.get("/addresses/<address>/trades")
def list_trades_of_address(address: str) -> Response:
    return entity_list("dex_trades", ("maker",), address=address)
