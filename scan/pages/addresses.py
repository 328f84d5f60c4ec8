"""Pages of an address: /address/:address with its transactions, transfers, holdings and contract.

Here, too: the head that all tabs of an address show above them, and the tab of the tokens that it
holds, or held after a block or at a day's end.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from io import BytesIO
from typing import Any

import segno
from flask import Blueprint, Response

from scan import parameters
from scan.database.lists import all_links, all_lists
from scan.errors import InvalidParameter, Unavailable
from scan.ethereum.served_chain import BlockId
from scan.ethereum.signatures import checksummed
from scan.hex import data, to_hex
from scan.http.requests import Prerequisite, reader, requires
from scan.pages import hooks
from scan.pages.filtered_lists import UNORDERED, Field, FilteredList, entity_list, filtered_list
from scan.pages.records import NAMELESS, address_of, is_pool, names_of
from scan.pages.site import HEADERS, page
from scan.pages.tabs import list_of_address, requested, titles, with_extensions
from scan.queries import addresses, blocks, contracts, entities, holdings
from scan.queries.contracts import creation_record
from scan.queries.holdings import TooManyTokens, UnitPrices, WorthPage, unit_prices
from scan.queries.pages import Page, Window

FIELDS = (Field("timeTo", "At the end of (UTC)", "day"), Field("block", "After block", "number"))


def holdings_tab(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    """Return the list; `at` is the block that it is of, None for the newest."""
    own = to_hex(key)
    read: list[BlockId] = []
    path, api_path = f"/address/{own}", f"/addresses/{own}/tokens"
    page_of = partial(_page, key, read)
    shown = filtered_list(path, api_path, FIELDS, page_of, tab="tokens", paging=UNORDERED)
    at = read[0].number if read else None
    if at is not None:
        shown = replace(shown, api_arguments={"block": str(at)})
    elif isinstance(shown.source, WorthPage):
        shown = replace(shown, api_arguments={"sort": "worth"})
    return shown, {"at": None if at is None else json.loads(blocks.get(reader(), at) or "null")}


def first_page(shown: hooks.TabList, values: Mapping[str, Any], rows: int) -> Page | None:
    """Return the list's page where it begins with the `rows` largest of the newest holdings."""
    source = shown.source
    if source is None or values["at"] is not None or shown.number > 1 or shown.cursor:
        return None
    return source if source.count >= rows or source.next is None else None


def tokens_held(
    key: bytes, window: Window, prices: UnitPrices | None, most: int | None = None
) -> Page:
    """Return the tokens held, by worth where there are prices, no more than `most` tokens, and,
    for many, a place for their read."""
    if prices is not None:
        try:
            return holdings.tokens_by_worth(reader(), key, window, prices, most)
        except TooManyTokens:
            pass
        except Unavailable:
            reader().do_not_cache()
    return addresses.tokens_held(reader(), key, window)


def _page(key: bytes, read: list[BlockId], window: Window, given: Mapping[str, str]) -> Page:
    block = _block(window, given)
    if block is None:
        return tokens_held(key, window, unit_prices(reader()))
    read.append(block)
    return addresses.tokens_held_at(reader(), key, window._replace(time_to=None), block)


def _block(window: Window, given: Mapping[str, str]) -> BlockId | None:
    """Return the block that the form names; raises InvalidParameter, NotFound."""
    if "block" in given:
        if window.time_to is not None:
            raise InvalidParameter("block: give a day or a block, not both.", field="block")
        return blocks.find(reader(), parameters.block_number_or_hash(given["block"]))
    if window.time_to is None:
        return None
    record = blocks.at_time(reader(), window.time_to)
    if record is None:
        raise reader().not_indexed("No block at or before this day is indexed.")
    newest = json.loads(record)
    return BlockId(newest["number"], data(newest["hash"], 32))


MAX_HOLDINGS = 5


def of_contract(head: Mapping[str, Any]) -> bool:
    return bool(head["account"].balance.is_contract)


_OF_CORE = (
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
    return with_extensions(_OF_CORE, hooks.AddressTab)


def address_head(key: bytes, tab: str, first: Page | None = None) -> dict[str, Any]:
    """Return the values of address_head.html above a tab. `first` is the first page of the tokens
    held, where the tab has read it. A section may return `implementation_name`, the name of the
    contract whose code a proxy runs: the page has it where nothing but the proxy's own source names
    the address."""
    prices = unit_prices(reader())
    held = first or tokens_held(key, Window(MAX_HOLDINGS, 0), prices, holdings.MAX_IN_HEAD)
    account = addresses.get(reader(), key)
    created = contracts.indexed(reader(), key)
    of_tabs = [name for other in address_tabs() for name in (other.list, other.length_name) if name]
    counts = entities.counts(reader(), key, (*all_links(), *of_tabs))
    makers = (created.creator, created.factory) if created else ()
    named = [*map(to_hex, filter(None, makers)), *account.more.values()]
    values = {
        "tab": tab,
        "address": to_hex(key),
        "account": account,
        "creation": creation_record(created),
        "maker_names": (names := names_of([], to_hex(key), *named)),
        "implementation_name": None,
        "holdings": json.loads(held.data)[:MAX_HOLDINGS],
        "holding_count": held.total,
        "worth": held.worth if isinstance(held, WorthPage) else None,
        "prices": prices,
        "counts": counts,
        "linked_lists": _linked_lists(to_hex(key), counts),
    }
    for section in hooks.sections_of(hooks.AddressSection):
        values |= section.read(key, account)
    own = names.get(to_hex(key), NAMELESS)
    has_name = own["label"] or own["token"] or own["pool"]
    values["heading"] = (not has_name and values["implementation_name"]) or own["name"]
    lengths = _lengths(counts) | {"tokens": held.total}
    if account.balance.is_contract:  # the trades of a pool are those in it
        lengths.pop("dex_trades_by_maker", None)
    return {**values, "tab_titles": titles(address_tabs(), tab, values, lengths)}


def _lengths(counts: Mapping[str, int]) -> dict[str, int | None]:
    """Return the lengths of the lists on tabs, where these have all rows."""
    if reader().kept_from is not None:
        return {}
    names = [tab.length_name for tab in address_tabs() if tab.length_name in all_lists()]
    whole = (name for name in names if all_lists()[name].table not in reader().incomplete)
    return {name: counts.get(name, 0) for name in whole}


def _linked_lists(address: str, counts: Mapping[str, int]) -> dict[str, list[tuple[str, int, str]]]:
    """Return links to lists with entries, each with its count and words, by their titles."""
    links = defaultdict(list)
    for name, link in all_links().items():
        if name in counts:
            first = reader().incomplete.get(all_lists()[name].table)
            since = "" if first is None else f", complete from block {first} on"
            shown = (f"{link.page}={address}", counts[name], f"{link.words}{since}")
            links[link.title].append(shown)
    return dict(links)


LISTS = {
    tab: list_of_address(entity, "address", f"/addresses/{{address}}/{tab}", tab)
    for tab, entity in (
        ("transactions", "transactions"),
        ("transfers", "token_transfers"),
        ("trades", "dex_trades"),
    )
}

blueprint = Blueprint("pages_addresses", __name__)


@blueprint.get("/address/<address>")
@requires(Prerequisite.NODE_FIELDS)
def get_address(address: str) -> Response:
    key = address_of(address)
    tab = requested(address_tabs())
    if tab.respond:
        return tab.respond(key)
    shown: hooks.TabList | None
    shown, values = tab.read(key) if tab.template else (_list(tab.name, key), {})
    if shown and "names" not in values:
        values = {**values, "names": names_of(shown.records, to_hex(key))}
    first = first_page(shown, values, MAX_HOLDINGS) if shown and tab.name == "tokens" else None
    error = values.get("error")
    respond = shown.response if shown else partial(page, status_code=error.status if error else 200)
    return respond(
        "address.html",
        **address_head(key, tab.name, first),
        **values,
        tab_template=tab.template or "address_list.html",
        shown=shown,
    )


@blueprint.get("/address/<address>/qr.svg")
def get_qr_code(address: str) -> Response:
    """Return a QR code of the address itself, which wallets scan; it is black on white in both
    themes."""
    code = segno.make(checksummed(to_hex(address_of(address))), error="m", micro=False)
    image = BytesIO()
    code.save(image, kind="svg", scale=6, border=4, light="#fff", xmldecl=False, nl=False)
    return Response(image.getvalue(), headers={**dict(HEADERS), "Content-Type": "image/svg+xml"})


def _list(tab: str, key: bytes) -> FilteredList:
    path, own = f"/address/{to_hex(key)}", to_hex(key)
    if tab == "trades" and is_pool(own):
        return entity_list(
            "dex_trades",
            path,
            f"/dex-trades?pool={own}",
            tab=tab,
            left_out=("dex", "tokenAddress"),
            fixed={"pool": own},
        )
    shown, _ = LISTS[tab](key)
    if tab == "transactions":
        hooks.complete_transactions(shown.records)
    return shown
