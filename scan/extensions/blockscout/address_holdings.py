"""The tokens and items that addresses hold."""

from collections import defaultdict

import orjson

from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.address_objects import AddressObjects, Object
from scan.extensions.blockscout.lists import (
    ROWS,
    Position,
    Record,
    address,
    amount,
    list_response,
    path_address,
)
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.token_objects import (
    TokenObjects,
    TokenTypes,
    instance_object,
    token_types,
)
from scan.hex import to_hex
from scan.http.requests import reader
from scan.http.responses import Response, json_value
from scan.queries import addresses, items
from scan.queries.pages import Window

MOST_BALANCES = 1000  # in the list that has no pages
ITEMS_OF_COLLECTIONS = 1000  # the newest items, among which those of collections are looked for
SHOWN_ITEMS = 15  # in a collection
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
    records, following = _tokens_held(path_address(address_hash), types)
    return list_response(_balances(types.of(records, "type")), following)


def _tokens_held(key: bytes, types: TokenTypes) -> tuple[list[Record], Position | None]:
    after = address(TOKEN)
    window = Window(ROWS, 0, position=None if after is None else (after,))
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


@blueprint.path("/addresses/<address_hash>/nft")
def list_items(address_hash: str) -> Response:
    """Return items in descending order of their first transfers."""
    key, types = path_address(address_hash), token_types()
    window = Window(ROWS, 0, position=_after_item())
    page = addresses.items_held(reader(), key, window)
    records = orjson.loads(page.data)
    following = None
    if page.next is not None:
        last = records[-1]
        following = {TOKEN: checksummed(last["tokenAddress"]), "token_id": last["tokenId"]}
    return list_response(_instances(to_hex(key), types.of(records, "type")), following)


def _after_item() -> tuple[int] | None:
    token, token_id = address(TOKEN), amount("token_id")
    if token is None or token_id is None:
        return None
    return (items.ordinal(reader(), token, token_id),)


@blueprint.path("/addresses/<address_hash>/nft/collections")
def list_collections(address_hash: str) -> Response:
    """Return collections in the order of their addresses, each with its newest items."""
    key, types = path_address(address_hash), token_types()
    records, following = _tokens_held(key, types)
    collections = [record for record in types.of(records, "type") if record["type"] != "BEP20"]
    held = addresses.items_held(reader(), key, Window(ITEMS_OF_COLLECTIONS, 0))
    by_token: dict[str, list[Record]] = defaultdict(list)
    for record in orjson.loads(held.data):
        if len(by_token[record["tokenAddress"]]) < SHOWN_ITEMS:
            by_token[record["tokenAddress"]].append(record)
    known = TokenObjects(record["tokenAddress"] for record in collections)
    shown = [
        {
            "token": known.of(record["tokenAddress"]),
            "amount": record["balance"],
            "token_instances": _instances(to_hex(key), by_token[record["tokenAddress"]]),
        }
        for record in collections
    ]
    return list_response(shown, following)


def _instances(holder: str, records: list[Record]) -> list[Object]:
    known = TokenObjects(record["tokenAddress"] for record in records)
    owner = AddressObjects([holder]).of(holder) if records else None
    return [
        instance_object(
            record["tokenId"],
            known.of(record["tokenAddress"]),
            owner if record["type"] == "BEP721" else None,
            value=record["balance"],
        )
        for record in records
    ]
