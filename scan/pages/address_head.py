"""The head of an address's page, which all its tabs show above them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from scan.database.lists import all_links, all_lists
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.holdings import holdings_tab, tokens_held
from scan.pages.hooks import HOLDINGS, AddressSection, AddressTab, Tab, sections_of
from scan.pages.records import NAMELESS, names_of
from scan.pages.tabs import titles, with_extensions
from scan.queries import addresses, contract_creations, entities, holdings
from scan.queries.contract_creations import creation_record
from scan.queries.holdings import WorthPage
from scan.queries.pages import Page, Window
from scan.queries.prices import unit_prices

MAX_HOLDINGS = 5


def of_contract(head: Mapping[str, Any]) -> bool:
    return bool(head["account"].balance.is_contract)


_OF_CORE = (
    Tab("transactions", "Transactions", 10, counted="transactions_by_address"),
    Tab("transfers", "Token transfers", 30, counted="token_transfers_by_address"),
    Tab("trades", "Trades", 50, counted="dex_trades_by_maker"),
    Tab(
        "tokens",
        "Tokens",
        60,
        counted="tokens",
        template="address_tokens.html",
        read=holdings_tab,
        group=HOLDINGS,
    ),
)


@cache
def address_tabs() -> Sequence[Tab]:
    return with_extensions(_OF_CORE, AddressTab)


def address_head(key: bytes, tab: str, first: Page | None = None) -> dict[str, Any]:
    """Return the values of address_head.html above a tab. `first` is the first page of the tokens
    held, where the tab has read it. A section may return `implementation_name`, the name of the
    contract whose code a proxy runs: the page has it where nothing but the proxy's own source names
    the address."""
    prices = unit_prices(reader())
    held = first or tokens_held(key, Window(MAX_HOLDINGS, 0), prices, holdings.MAX_IN_HEAD)
    account = addresses.get(reader(), key)
    created = contract_creations.indexed(reader(), key)
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
    for section in sections_of(AddressSection):
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
