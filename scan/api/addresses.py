"""GET /api/v1/accounts, /addresses, /addresses/:address, and its /history, /balances, /tokens and
/items."""

from collections.abc import Mapping
from typing import Any

import orjson
from flask import Blueprint

from scan import parameters
from scan.errors import InvalidParameter
from scan.hex import to_hex
from scan.http.list_pages import list_body, next_link, window_of
from scan.http.list_responses import LISTED, list_response
from scan.http.requests import block_argument, query_arguments, reader
from scan.http.responses import Response, json_value
from scan.queries import (
    accounts,
    addresses,
    balance_history,
    contract_creations,
    history,
    tokens,
)
from scan.queries.accounts import AccountPage
from scan.queries.contract_creations import creation_record
from scan.queries.entities import RANGE
from scan.queries.history import HistoryFilter, HistoryPage
from scan.queries.pages import Page, Window

blueprint = Blueprint("addresses", __name__)

MOST_ADDRESSES = 100
DEFAULT_POINTS = 40
INCLUDED = ("token",)
OF_TOKEN = (
    *("address", "name", "symbol", "decimals", "type"),
    *("totalSupply", "holderCount", "transferCount"),
)


@blueprint.get("/addresses")
def list_addresses() -> Response:
    arguments = query_arguments("addresses", "include")
    keys = _addresses(arguments)
    included: dict[str, Any] = {}
    if "include" in arguments:
        parameters.one_of(arguments["include"], "include", INCLUDED)
        included = tokens.by_addresses(reader(), keys)
    rows = [
        {
            "address": to_hex(key),
            "balance": summary.balance.required_wei(),
            "balanceBlock": summary.balance.block,
            "txCount": summary.transaction_count,
            "isContract": summary.balance.is_contract,
            **({"delegate": summary.delegate} if summary.delegate else {}),
            **({"token": _token(included.get(to_hex(key)))} if "include" in arguments else {}),
        }
        for key, summary in zip(keys, addresses.get_many(reader(), keys), strict=True)
    ]
    return json_value({"addresses": rows})


def _token(record: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if record is None else {name: record[name] for name in OF_TOKEN}


@blueprint.get("/accounts")
def list_accounts() -> Response:
    """Return addresses by balance, the largest first."""
    arguments = query_arguments(*LISTED)
    return list_response(
        "accounts",
        arguments,
        lambda window: accounts.page(reader(), window),
        body=_accounts_body,
    )


def _accounts_body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    assert isinstance(page, AccountPage)
    return list_body(name, page, arguments, complete=page.reason is None, reason=page.reason)


def _addresses(arguments: Mapping[str, str]) -> list[bytes]:
    """Return the requested addresses; raises InvalidParameter for more than MOST_ADDRESSES."""
    given = arguments.get("addresses", "").split(",")
    if len(given) > MOST_ADDRESSES:
        raise InvalidParameter(
            f"addresses must be at most {MOST_ADDRESSES} addresses, separated by commas.",
            field="addresses",
        )
    return [parameters.address(text.strip(), "addresses") for text in given]


@blueprint.get("/addresses/<address>")
def get_address(address: str) -> Response:
    block = block_argument(query_arguments("block"))
    key = parameters.address(address)
    account = addresses.get(reader(), key, block)
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
        "creation": None,
    }
    if account.delegate is not None:
        detail["delegate"] = to_hex(account.delegate)
    if account.balance.is_contract:
        detail["creation"] = creation_record(contract_creations.indexed(reader(), key))
    return json_value(detail)


@blueprint.get("/addresses/<address>/tokens")
def list_tokens_held(address: str) -> Response:
    arguments = query_arguments(*LISTED, "block")
    block, key = block_argument(arguments), parameters.address(address)

    def read(window: Window) -> Page:
        if block is None:
            return addresses.tokens_held(reader(), key, window)
        return addresses.tokens_held_at(reader(), key, window, block)

    def read_for_file(window: Window) -> Page:
        if block is not None:
            raise InvalidParameter("A file has the newest state; leave out block.", field="block")
        return addresses.tokens_held(reader(), key, window)

    return list_response(
        "tokens", arguments, read, read_for_file=read_for_file, kind="tokenBalances", own=key
    )


@blueprint.get("/addresses/<address>/items")
def list_items_held(address: str) -> Response:
    key = parameters.address(address)
    return list_response(
        "items",
        query_arguments(*LISTED),
        lambda window: addresses.items_held(reader(), key, window),
        kind="itemBalances",
        own=key,
    )


@blueprint.get("/addresses/<address>/history")
def list_history(address: str) -> Response:
    arguments = query_arguments(
        *HistoryFilter._fields, *RANGE, "group", "orderBy", "limit", "cursor", "format"
    )
    key, filters = parameters.address(address), history.read_filter(arguments)
    is_grouped = "group" in arguments
    if is_grouped:
        parameters.one_of(arguments["group"], "group", history.GROUPS)
    return list_response(
        "history",
        arguments,
        lambda window: history.page(reader(), key, window, filters, is_grouped=is_grouped),
        kind="historyEntries" if is_grouped else "",
        own=key,
        body=_history_body,
    )


@blueprint.get("/addresses/<address>/balances")
def list_balances(address: str) -> Response:
    arguments = query_arguments("points", "token", "cursor", "blockTo", "timeTo")
    points = parameters.integer_text(
        arguments, "points", default=DEFAULT_POINTS, least=1, most=parameters.MAX_LIMIT
    )
    token = parameters.optional_address(arguments, "token")
    key = parameters.address(address)
    read = balance_history.page(reader(), key, points, token, window_of(arguments))
    unexplained = read.check.unexplained
    response = json_value(
        {
            "balances": read.points,
            "symbol": read.symbol,
            "decimals": read.decimals,
            "complete": read.check.reason is None,
            "reason": read.check.reason,
            "unexplained": None if unexplained is None else str(unexplained),
            "next": read.next,
            **({} if read.at is None else {"at": read.at}),
        }
    )
    if read.next is not None:
        response.headers["Link"] = next_link(read.next, arguments)
    return response


def _history_body(name: str, page: Page, arguments: Mapping[str, str]) -> Response:
    assert isinstance(page, HistoryPage)
    unexplained = None if page.unexplained is None else str(page.unexplained)
    return list_body(
        name,
        page,
        arguments,
        complete=page.reason is None,
        reason=page.reason,
        unexplained=unexplained,
        **({"explanation": page.explanation} if page.explanation else {}),
    )
