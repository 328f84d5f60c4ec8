"""/tokens and /token/:address, with its transfers, holders and items."""

import json
from collections.abc import Sequence
from functools import cache

from flask import Blueprint, Response

from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, FilteredList, entity_list, filtered_list
from scan.pages.formatting import percent
from scan.pages.hooks import Tab, TabList, TokenTab
from scan.pages.records import address_of, names_of
from scan.pages.site import page
from scan.pages.tabs import requested as requested_tab
from scan.pages.tabs import titles, with_extensions
from scan.queries import contracts, tokens
from scan.queries.contracts import creation_record
from scan.queries.holdings import unit_prices

_OF_CORE = (
    Tab("transfers", "Transfers", 10, counted="transferCount"),
    Tab("holders", "Holders", 20, counted="holderCount"),
)

SHARE_PLACES = 2

blueprint = Blueprint("pages_tokens", __name__)


@blueprint.get("/tokens")
def list_tokens() -> Response:
    shown = filtered_list(
        "/tokens",
        "/tokens",
        (),
        lambda window, _: tokens.page(reader(), window),
        paging=UNORDERED,
        is_by_size=True,
    )
    return shown.response("tokens.html", tokens=shown)


@blueprint.get("/token-transfers")
def list_token_transfers() -> Response:
    shown = entity_list("token_transfers", "/token-transfers", "/token-transfers")
    return shown.response(
        "token_transfers.html",
        shown=shown,
        names=names_of(shown.records),
        prices=unit_prices(reader()),
    )


@blueprint.get("/trades")
def list_trades() -> Response:
    shown = entity_list("dex_trades", "/trades", "/dex-trades")
    return shown.response(
        "trades.html", shown=shown, names=names_of(shown.records), prices=unit_prices(reader())
    )


@blueprint.get("/token/<address>")
def get_token(address: str) -> Response:
    key = address_of(address)
    token = json.loads(tokens.get(reader(), key))
    requested = requested_tab(_tabs())
    tab = requested.name
    shown: TabList | None
    shown, values = requested.read(key) if requested.template else (_list(tab, key), {})
    # With a filter by address, transfers show their direction for this holder.
    holder = shown.filter("address").lower() if shown else None
    records = shown.records if shown else []
    respond = page if shown is None else shown.response
    creation = creation_record(contracts.indexed(reader(), key))
    return respond(
        "token.html",
        token=token,
        creation=creation,
        change=tokens.holder_change(reader(), key),
        creator_names=names_of([], str(creation["creator"])) if creation else {},
        tab=tab,
        tab_titles=titles(_tabs(), tab, token, token if reader().kept_from is None else {}),
        tab_template=requested.template,
        prices=unit_prices(reader()),
        shown=shown,
        shares=[
            percent(record.get("balance", 0), token["totalSupply"], SHARE_PLACES)
            for record in records
        ],
        holder=holder,
        **(values or {"names": names_of(records, to_hex(key))}),
    )


@cache
def _tabs() -> Sequence[Tab]:
    return with_extensions(_OF_CORE, TokenTab)


def _list(tab: str, token: bytes) -> FilteredList:
    path, api_path = f"/token/{to_hex(token)}", f"/tokens/{to_hex(token)}/{tab}"
    if tab == "transfers":
        left_out = ("tokenType",)
        own = {"tokenAddress": to_hex(token)}
        return entity_list("token_transfers", path, api_path, left_out=left_out, fixed=own)
    return filtered_list(
        path,
        api_path,
        (),
        lambda window, _: tokens.holders(reader(), token, window),
        tab=tab,
        paging=UNORDERED,
        is_by_size=True,
    )
