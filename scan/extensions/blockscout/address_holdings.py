"""The tokens that addresses hold."""

import orjson

from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.lists import (
    Position,
    Record,
    address,
    first_window,
    list_response,
    path_address,
)
from scan.extensions.blockscout.objects import Object
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.token_objects import TokenObjects, TokenTypes, token_types
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import addresses
from scan.queries.pages import Window

MOST_BALANCES = 1000  # in the list that has no pages
TOKEN = "token_contract_address_hash"

blueprint = routes("address_holdings")


@blueprint.path("/addresses/<address_hash>/token-balances")
def list_token_balances(address_hash: str) -> Response:
    page = addresses.tokens_held(reader(), path_address(address_hash), Window(MOST_BALANCES, 0))
    return json_value(_balances(orjson.loads(page.data)))


@blueprint.path("/addresses/<address_hash>/tokens")
def list_tokens(address_hash: str) -> Response:
    """Return balances in the order of the tokens' addresses."""
    types = token_types()
    records, following = tokens_held(path_address(address_hash), types)
    return list_response(_balances(types.of(records, "type")), following)


def tokens_held(key: bytes, types: TokenTypes) -> tuple[list[Record], Position | None]:
    after = address(TOKEN)
    window = first_window()._replace(position=None if after is None else (after,))
    page = addresses.tokens_held(reader(), key, window, types.only)
    records = orjson.loads(page.data)
    if page.next is None:
        return records, None
    return records, {TOKEN: checksummed(records[-1]["tokenAddress"])}


def _balances(records: list[Record]) -> list[Object]:
    known = TokenObjects(record["tokenAddress"] for record in records)
    return [
        {
            "token": known.of(record["tokenAddress"]),
            "token_id": None,
            "token_instance": None,
            "value": record["balance"],
        }
        for record in records
    ]
