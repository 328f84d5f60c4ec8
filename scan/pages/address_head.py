"""The head of an address's page, which all its tabs show above them."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from scan import registry
from scan.database.lists import all_lists
from scan.hex import to_hex
from scan.hooks import Pages
from scan.http.requests import reader
from scan.pages.prices import unit_prices
from scan.pages.records import names_of
from scan.pages.tabs import HOLDINGS, Tab, titles, with_extensions
from scan.queries import addresses, contract_creations, entities
from scan.queries.contract_creations import creation_record
from scan.queries.pages import Window

MAX_HOLDINGS = 5


def of_contract(head: Mapping[str, Any]) -> bool:
    return bool(head["account"].balance.is_contract)


_OF_CORE = (
    Tab("transactions", "Transactions", 10),
    Tab("transfers", "Token transfers", 30),
    Tab("trades", "Trades", 50),
    Tab("tokens", "Tokens", 60, group=HOLDINGS),
)


@cache
def address_tabs() -> Sequence[Tab]:
    return with_extensions(_OF_CORE, lambda pages: pages.address_tabs)


@cache
def _lists() -> Mapping[str, tuple[str, str, str]]:
    """Return lists on pages of their own, by the list's name: the title above its link, the page,
    and the words behind the count."""
    return {
        "contract_creations_by_factory": ("Contracts created", "/contracts?factory", "by it"),
        "contract_creations_by_creator": (
            *("Contracts created", "/contracts?creator", "by transactions it sent"),
        ),
        **registry.merged(pages.linked_lists for pages in registry.parts(Pages)),
    }


def address_head(key: bytes, tab: str) -> dict[str, Any]:
    """Return the values of address_head.html above a tab."""
    holdings = addresses.tokens_held(reader(), key, Window(MAX_HOLDINGS, 0))
    account = addresses.get(reader(), key)
    created = contract_creations.indexed(reader(), key)
    of_tabs = [other.list for other in address_tabs() if other.list]
    counts = entities.counts(reader(), key, (*_lists(), *of_tabs))
    makers = (created.creator, created.factory) if created else ()
    named = [*map(to_hex, filter(None, makers)), *account.more.values()]
    values = {
        "tab": tab,
        "address": to_hex(key),
        "account": account,
        "creation": creation_record(created),
        "maker_names": names_of([], *named),
        "holdings": json.loads(holdings.data),
        "holding_count": holdings.total,
        "prices": unit_prices(),
        "counts": counts,
        "linked_lists": _linked_lists(to_hex(key), counts),
    }
    for pages in registry.parts(Pages):
        values |= pages.address_facts(key, account)
    return {**values, "tab_titles": titles(address_tabs(), tab, values)}


def _linked_lists(address: str, counts: Mapping[str, int]) -> dict[str, list[tuple[str, int, str]]]:
    """Return links to lists with entries, each with its count and words, by their titles."""
    links = defaultdict(list)
    for name, (title, path, words) in _lists().items():
        if name in counts:
            first = reader().incomplete.get(all_lists()[name].table)
            since = "" if first is None else f", complete from block {first} on"
            links[title].append((f"{path}={address}", counts[name], f"{words}{since}"))
    return dict(links)
