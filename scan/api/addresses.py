"""GET /api/v1/addresses, /addresses/:address, and its /tokens and /items."""

from collections.abc import Mapping

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.lists import PAGED, list_body, window_of
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body, json_value
from scan.queries import addresses

blueprint = Blueprint("addresses", __name__)

MOST_ADDRESSES = 100


@blueprint.get("/addresses")
def list_addresses() -> Response:
    keys = _addresses(query_arguments("addresses"))
    rows = [
        {
            "address": to_hex(key),
            "balance": summary.balance.required_wei(),
            "balanceBlock": summary.balance.block,
            "txCount": summary.transaction_count,
            "isContract": summary.balance.is_contract,
        }
        for key, summary in zip(keys, addresses.get_many(reader(), keys), strict=True)
    ]
    return json_value({"addresses": rows})


def _addresses(arguments: Mapping[str, str]) -> list[bytes]:
    """Raises InvalidParameter unless they are 1 to MOST_ADDRESSES."""
    given = arguments.get("addresses", "").split(",")
    if len(given) > MOST_ADDRESSES:
        raise InvalidParameter(
            f"addresses must be at most {MOST_ADDRESSES} addresses, separated by commas.",
            field="addresses",
        )
    return [parameters.address(text.strip(), "addresses") for text in given]


@blueprint.get("/addresses/<address>")
def get_address(address: str) -> Response:
    query_arguments()
    key = parameters.address(address)
    account = addresses.get(reader(), key)
    detail = {
        "address": to_hex(key),
        "balance": account.balance.required_wei(),
        "txCount": account.transaction_count,
        "isContract": account.balance.is_contract,
        "label": account.label,
        "firstSeen": account.first_seen,
        "lastSeen": account.last_seen,
        "balanceBlock": account.balance.block,
        "recentTxs": orjson.Fragment(account.recent),
    }
    return json_body(orjson.dumps(detail))


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    window = window_of(query_arguments(*PAGED))
    key = parameters.address(address)
    return list_body("tokens", addresses.tokens_held(reader(), key, window))


@blueprint.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    window = window_of(query_arguments(*PAGED))
    key = parameters.address(address)
    return list_body("items", addresses.items_held(reader(), key, window))
