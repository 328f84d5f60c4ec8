"""GET /api/v1/addresses, /addresses/:address, and its /history, /tokens, /items and /internal."""

from collections.abc import Mapping

import orjson
from flask import Blueprint, Response

from scan import parameters
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.requests import query_arguments, reader
from scan.http.responses import json_body, json_value, list_body
from scan.http.services import services
from scan.queries import addresses, history, internal_transfers, network
from scan.queries.history import HistoryFilter
from scan.queries.pages import Window

blueprint = Blueprint("addresses", __name__)

MOST_ADDRESSES = 100
HISTORY_FILTERS = ("types", "direction", "token", "counterparty")
HISTORY_PAGE = ("limit", "cursor")


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
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    key = parameters.address(address)
    return list_body("tokens", addresses.tokens_held(reader(), key, limit, offset))


@blueprint.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    limit, offset = parameters.limit_and_offset(query_arguments(*parameters.PAGED))
    key = parameters.address(address)
    return list_body("items", addresses.items_held(reader(), key, limit, offset))


@blueprint.get("/addresses/<address>/history")
def list_history(address: str) -> Response:
    arguments = query_arguments(*HISTORY_FILTERS, "blockFrom", "blockTo", "orderBy", *HISTORY_PAGE)
    key = parameters.address(address)
    limit, _ = parameters.limit_and_offset(arguments)
    window = Window(
        limit,
        0,
        parameters.one_of(arguments.get("orderBy", "desc"), "orderBy", ("desc", "asc")),
        parameters.integer_text(arguments, "blockFrom", default=0, least=0),
        parameters.integer_text(
            arguments, "blockTo", default=parameters.BIGINT_MAX, least=0
        ),
    )
    found = history.page(
        reader(),
        key,
        window,
        _history_filter(arguments),
        symbol=network.coin_symbol(network.chain_id(reader()), services().settings.coin_symbol),
        cursor=arguments.get("cursor"),
    )
    rest = {
        "total": found.page.total,
        "complete": found.reason is None,
        "reason": found.reason,
        "unexplained": None if found.unexplained_wei is None else str(found.unexplained_wei),
        "next": found.next,
    }
    return json_body(f'{{"history":{found.page.data},{orjson.dumps(rest).decode()[1:]}')


def _history_filter(arguments: Mapping[str, str]) -> HistoryFilter:
    types = history.TYPES
    if "types" in arguments:
        given = [text.strip() for text in arguments["types"].split(",")]
        types = tuple(parameters.one_of(text, "types", history.TYPES) for text in given)
    direction = arguments.get("direction")
    if direction is not None:
        parameters.one_of(direction, "direction", history.DIRECTIONS)
    return HistoryFilter(
        tuple(sorted(set(types))),
        direction,
        parameters.optional_address(arguments, "token"),
        parameters.optional_address(arguments, "counterparty"),
    )


@blueprint.get("/addresses/<address>/internal")
def list_internal_transfers(address: str) -> Response:
    window = Window(*parameters.limit_and_offset(query_arguments(*parameters.PAGED)))
    key = parameters.address(address)
    page = internal_transfers.page(reader(), window, address=key)
    return json_body(
        f'{{"internalTransfers":{page.data},"total":{page.total},'
        f'"untracedBlocks":{page.untraced_blocks}}}'
    )
