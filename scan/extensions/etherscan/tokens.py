"""Tokens in Blockscout's form: of an address, one token, and its holders."""

import orjson

from scan.errors import NotFound
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.http.requests import reader
from scan.queries import tokens
from scan.queries.addresses import tokens_held
from scan.queries.pages import Window

NO_TOKENS = "No tokens found"
NO_CONTRACT = "Contract address not found"


def token_list(parameters: Parameters) -> Reply:
    """Return the tokens that an address holds."""
    limit, offset = parameters.limit_and_offset()
    page = tokens_held(reader(), parameters.address(), Window(limit, offset))
    rows = [renamed("held_token", token) for token in orjson.loads(page.data)]
    return rows_reply(rows, NO_TOKENS)


def get_token(parameters: Parameters) -> Reply:
    try:
        record = orjson.loads(tokens.get(reader(), parameters.address("contractaddress")))
    except NotFound:
        raise Failure(NO_CONTRACT) from None
    return Reply(renamed("token_details", record))


def get_token_holders(parameters: Parameters) -> Reply:
    limit, offset = parameters.limit_and_offset()
    address = parameters.address("contractaddress")
    try:
        page = tokens.holders(reader(), address, Window(limit, offset))
    except NotFound:
        raise Failure(NO_CONTRACT) from None
    holders = orjson.loads(page.data)
    rows = [renamed("holder_in_blockscouts_form", holder) for holder in holders]
    return rows_reply(rows, NO_TOKENS, page.total)
