"""Pages of addresses and tokens: /address/:address with its transactions, transfers, holdings and
contract; /tokens, /token-transfers, /trades and /token/:address with its transfers and holders.

All tabs of an address show its head above them. The tab of the tokens that it holds also shows
those that it held after a block or at a day's end.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from io import BytesIO
from typing import Any

import orjson
import segno
from flask import Blueprint, Response, request

from scan import parameters
from scan.database.lists import all_links, all_lists
from scan.errors import NotFound, Unavailable
from scan.ethereum.checksums import checksummed
from scan.ethereum.served_chain import BlockId
from scan.hex import data, to_hex
from scan.http.current_request import reader
from scan.http.prerequisites import Prerequisite, requires
from scan.pages import formatting, hooks
from scan.pages.filtered_lists import UNORDERED, Field, FilteredList, entity_list, filtered_list
from scan.pages.records import NAMELESS, Record, address_of, names_of
from scan.pages.site import HEADERS, page, site
from scan.pages.tabs import page_tabs, requested, titles
from scan.queries import addresses, blocks, contracts, filter_values, holdings, tokens
from scan.queries.list_pages import Page, Window

FIELDS = (Field("timeTo", "As of day (UTC)", "day"), Field("block", "As of block", "number"))


def holdings_tab(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    """Return the list; `at` is the block that it is of, None for the newest."""
    address = to_hex(key)
    block: BlockId | None = None

    def page_of(window: Window, arguments: Mapping[str, str]) -> Page:
        nonlocal block
        if "block" in arguments:
            is_one = window.time_to is None
            parameters.require(is_one, "block", "block: give a day or a block, not both.")
            block = blocks.find(reader(), parameters.block_number_or_hash(arguments["block"]))
        elif window.time_to is not None:
            record = blocks.at_time(reader(), window.time_to)
            text = reader().indexed(record, "No block at or before this day is indexed.")
            newest = orjson.loads(text)
            block = BlockId(newest["number"], data(newest["hash"], 32))
        else:
            return tokens_held(key, window, holdings.unit_prices(reader()))
        return addresses.tokens_held_at(reader(), key, window._replace(time_to=None), block)

    path, api_path = f"/address/{address}", f"/addresses/{address}/tokens"
    token_list = filtered_list(path, api_path, FIELDS, page_of, tab="tokens", paging=UNORDERED)
    at = block and block.number
    if at is not None:
        token_list = replace(token_list, api_arguments={"block": str(at)})
    elif isinstance(token_list.source, holdings.WorthPage):
        token_list = replace(token_list, api_arguments={"sort": "worth"})
    return token_list, {
        "at": None if at is None else orjson.loads(blocks.get(reader(), at) or "null")
    }


def first_page(token_list: hooks.TabList, values: Mapping[str, Any], rows: int) -> Page | None:
    """Return the list's page where it begins with the `rows` largest of the newest holdings."""
    source = token_list.source
    if source is None or values["at"] is not None or token_list.number > 1 or token_list.cursor:
        return None
    return source if source.count >= rows or source.next is None else None


def tokens_held(
    key: bytes, window: Window, prices: holdings.UnitPrices | None, most: int | None = None
) -> Page:
    """Return the tokens held, by worth where there are prices, no more than `most` tokens, and,
    for many, a place for their read."""
    if prices is not None:
        try:
            return holdings.tokens_by_worth(reader(), key, window, prices, most)
        except holdings.TooManyTokens:
            pass
        except Unavailable:
            reader().do_not_cache()
    return addresses.tokens_held(reader(), key, window)


MAX_HOLDINGS = 5


def is_of_contract(head: Mapping[str, Any]) -> bool:
    return bool(head["account"].balance.is_contract)


_OF_ADDRESSES = (
    hooks.Tab("transactions", "Transactions", 10, counted="transactions_by_address"),
    hooks.Tab("transfers", "Token transfers", 30, counted="token_transfers_by_address"),
    hooks.Tab("trades", "Trades", 50, counted="dex_trades_by_maker"),
    hooks.Tab(
        "tokens",
        "Tokens",
        60,
        counted="tokens",
        template="address_tokens.html",
        read=holdings_tab,
        group=hooks.HOLDINGS,
    ),
)


@cache
def address_tabs() -> Sequence[hooks.Tab]:
    return page_tabs(_OF_ADDRESSES, hooks.AddressTab)


def _account(key: bytes) -> addresses.Address:
    return addresses.get(reader(), key, lists=_counted_lists())


def address_head(
    key: bytes,
    tab: str,
    first: Page | None = None,
    records: Sequence[Record] = (),
    more: Iterable[str] = (),
    account: addresses.Address | None = None,
) -> dict[str, Any]:
    """Return the values of address_head.html above a tab, with the names of the addresses in the
    `records` of its list, and of `more`. `first` is the first page of the tokens held, and
    `account` the address, where they have been read."""
    prices = holdings.unit_prices(reader())
    held = first or tokens_held(key, Window(MAX_HOLDINGS, 0), prices, holdings.MAX_IN_HEAD)
    account = account or _account(key)
    counts, created = account.counts, account.creation
    makers = (created.creator, created.factory) if created else ()
    sections = [section.read(key, account) for section in hooks.sections_of(hooks.AddressSection)]
    of_sections = (address for section in sections for address in section.addresses)
    others = (*map(to_hex, filter(None, makers)), *of_sections, *more)
    names = names_of((*records, dict(account.more)), to_hex(key), *others)
    linked_lists = defaultdict(list)  # those with entries, each with its count and words, by title
    for name, link in all_links().items():
        if name in counts:
            first_block = reader().incomplete.get(all_lists()[name].table)
            since = "" if first_block is None else f", complete from block {first_block} on"
            entry = (f"{link.page}={to_hex(key)}", counts[name], f"{link.words}{since}")
            linked_lists[link.title].append(entry)
    values = {
        "tab": tab,
        "address": to_hex(key),
        "account": account,
        "creation": contracts.creation_record(created),
        "head_names": names,  # a tab may have others
        "names": names,
        "heading": names.get(to_hex(key), NAMELESS)["name"],
        "is_proxy": False,  # a section knows
        "holdings": orjson.loads(held.data)[:MAX_HOLDINGS],
        "holding_count": held.total,
        "worth": held.worth if isinstance(held, holdings.WorthPage) else None,
        "prices": prices,
        "counts": counts,
        "linked_lists": linked_lists,
    }
    for section in sections:
        values |= section.values
    lengths = {"tokens": held.total}
    if reader().kept_from_of(key) is None:  # the lengths of lists that have all rows
        for name in _counted_lists():
            if name in all_lists() and all_lists()[name].table not in reader().incomplete:
                lengths[name] = counts.get(name, 0)
    if account.balance.is_contract:  # the trades of a pool are those in it
        lengths.pop("dex_trades_by_maker", None)
    # Without a tab in the query the page opens on the first with rows.
    values["base_tab"] = "transactions" if _first_with_rows(account).name == "transactions" else ""
    return {**values, "tab_titles": titles(address_tabs(), tab, values, lengths)}


def _first_with_rows(account: addresses.Address) -> hooks.Tab:
    """Return the first of an address's tabs whose list has entries, else its contract's, else the
    first of all."""
    tabs = address_tabs()
    counted = (tab for tab in tabs if account.counts.get(tab.length_name))
    of_code = (tab for tab in tabs if tab.group == hooks.CONTRACT and account.balance.is_contract)
    return next(counted, None) or next(of_code, tabs[0])


@cache
def _counted_lists() -> Sequence[str]:
    """Return the names of the lists whose lengths the page has on its tabs or as links."""
    of_tabs = (name for tab in address_tabs() for name in (tab.list, tab.length_name) if name)
    return (*all_links(), *of_tabs)


ENTITIES = {"transactions": "transactions", "transfers": "token_transfers", "trades": "dex_trades"}

blueprint = Blueprint("pages_addresses_and_tokens", __name__)


@blueprint.get("/address/<address>")
@requires(Prerequisite.NODE_FIELDS)
def get_address(address: str) -> Response:
    key = address_of(address)
    tab, account = requested(address_tabs()), None
    if not request.args:
        account = _account(key)
        tab = _first_with_rows(account)
    if tab.respond:
        return tab.respond(key)
    tab_list: hooks.TabList | None
    tab_list, values = tab.read(key) if tab.template else (_list(tab.name, key), {})
    if account and isinstance(tab_list, FilteredList) and tab.name != "transactions":
        tab_list = replace(tab_list, arguments={"tab": tab.name, **tab_list.arguments})
    first, records = None, []
    if tab_list and tab.name == "tokens":
        first = first_page(tab_list, values, MAX_HOLDINGS)
    if tab_list and "names" not in values:
        records = tab_list.records
    head = address_head(key, tab.name, first, records, account=account)
    error = values.get("error")
    respond = (
        tab_list.response if tab_list else partial(page, status_code=error.status if error else 200)
    )
    return respond("address.html", **{**head, **values}, tab_template=tab.template, shown=tab_list)


@blueprint.get("/address/<address>/qr.svg")
def get_qr_code(address: str) -> Response:
    """Return a QR code of the address itself, which wallets scan; it is black on white in both
    themes."""
    code = segno.make(checksummed(to_hex(address_of(address))), error="m", micro=False)
    image = BytesIO()
    code.save(image, kind="svg", scale=6, border=4, light="#fff", xmldecl=False, nl=False)
    return Response(image.getvalue(), headers={**dict(HEADERS), "Content-Type": "image/svg+xml"})


def _list(tab: str, key: bytes) -> FilteredList:
    address = to_hex(key)
    path, api_path, fixed = f"/address/{address}", f"/addresses/{address}/{tab}", "address"
    left_out: Sequence[str] = ("maker",)
    if tab == "trades" and names_of((), address).get(address, NAMELESS)["pool"]:
        api_path, fixed, left_out = f"/dex-trades?pool={address}", "pool", ("dex", "tokenAddress")
    tab_list = entity_list(
        ENTITIES[tab], path, api_path, tab=tab, left_out=left_out, fixed={fixed: address}
    )
    if tab == "transactions":
        hooks.complete_transactions(reader(), tab_list.records, address)
    elif tab == "transfers":
        hooks.complete_transfers(reader(), tab_list.records)
    return tab_list


_OF_TOKENS = (
    hooks.Tab("transfers", "Transfers", 10, counted="transferCount"),
    hooks.Tab("holders", "Holders", 20, counted="holderCount"),
)

SHARE_PLACES = 2


@blueprint.get("/tokens")
def list_tokens() -> Response:
    standards = {name: site().chain().standard(name) for name in filter_values.TOKEN_TYPES}
    # Errors of the fields stand in the form, those of the order are the page's.
    order = {key: request.args[key] for key in ("sort", "orderBy") if key in request.args}
    listing = tokens.listing(order)
    token_list = filtered_list(
        "/tokens",
        "/tokens",
        (
            Field("q", "Name, symbol or address", "text"),
            Field("tokenType", "Standard", "token_type", standards),
        ),
        lambda window, given: tokens.listing({**order, **given}).page(reader(), window),
        more=("sort", "orderBy"),
        paging=UNORDERED,
        is_by_size=True,
    )
    return token_list.response("tokens.html", tokens=token_list, listing=listing)


@blueprint.get("/token-transfers")
def list_token_transfers() -> Response:
    transfers = entity_list("token_transfers", "/token-transfers", "/token-transfers")
    hooks.complete_transfers(reader(), transfers.records)
    return transfers.show("token_transfers.html", prices=holdings.unit_prices(reader()))


@blueprint.get("/trades")
def list_trades() -> Response:
    trades = entity_list("dex_trades", "/trades", "/dex-trades")
    return trades.show("trades.html", prices=holdings.unit_prices(reader()))


@blueprint.get("/token/<address>")
def get_token(address: str) -> Response:
    key = address_of(address)
    try:
        token = orjson.loads(tokens.detail(reader(), key))
    except NotFound:
        if tokens.records_of(reader(), [key], ended=True):  # its transfers still link here
            return Response(status=302, headers={"Location": f"/address/{to_hex(key)}"})
        raise
    open_tab = requested(_token_tabs())
    tab = open_tab.name
    tab_list: hooks.TabList | None
    tab_list, values = open_tab.read(key) if open_tab.template else (_token_list(tab, key), {})
    # With a filter by address, transfers show their direction for this holder.
    holder = tab_list.filter("address").lower() if tab_list else None
    records = tab_list.records if tab_list else []
    is_past = any(tab_list.filter(field.key) for field in FIELDS) if tab_list else False
    respond = page if tab_list is None else tab_list.response
    prices = holdings.unit_prices(reader())
    charts = sorted(hooks.sections_of(hooks.TokenChart), key=lambda section: section.place)
    drawn = (chart for section in charts if (chart := section.read(token, prices)))
    creation = contracts.creation_record(contracts.indexed(reader(), key))
    return respond(
        "token.html",
        token=token,
        creation=creation,
        change=tokens.holder_change(reader(), key),
        creator_names=names_of([], str(creation["creator"])) if creation else {},
        tab=tab,
        tab_titles=titles(
            _token_tabs(), tab, token, token if reader().kept_from_of(key) is None else {}
        ),
        tab_template=open_tab.template,
        prices=prices,
        first_chart=None if request.args else next(drawn, None),
        shown=tab_list,
        shares=[
            None  # of an older block, whose supply is not known
            if is_past
            else formatting.percent(record.get("balance", 0), token["totalSupply"], SHARE_PLACES)
            for record in records
        ],
        holder=holder,
        ranked_share=formatting.percent(token.get("rankedSupply", 0), token["totalSupply"]),
        **(values or {"names": names_of(records, to_hex(key))}),
    )


@cache
def _token_tabs() -> Sequence[hooks.Tab]:
    return page_tabs(_OF_TOKENS, hooks.TokenTab)


def _token_list(tab: str, token: bytes) -> FilteredList:
    path, api_path = f"/token/{to_hex(token)}", f"/tokens/{to_hex(token)}/{tab}"
    if tab == "transfers":
        left_out = ("tokenType",)
        fixed = {"tokenAddress": to_hex(token)}
        transfers = entity_list(
            "token_transfers", path, api_path, tab=tab, left_out=left_out, fixed=fixed
        )
        hooks.complete_transfers(reader(), transfers.records)
        return transfers
    past_holders = reader().sources.get(tokens.PastHolders)

    def read(window: Window, given: Mapping[str, str]) -> Page:
        past = tokens.past(given.get("block"), window.time_to)
        if past is None:
            return tokens.holders(reader(), token, window)
        return past_holders.open(reader(), token, past, window.cursor).page(window)

    return filtered_list(
        path,
        api_path,
        FIELDS if past_holders.is_there else (),
        read,
        tab=tab,
        paging=UNORDERED,
        is_by_size=True,
    )
