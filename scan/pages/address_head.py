"""The head of an address's page, which all its tabs show above them, with links to these."""

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

from flask import Response

from scan import registry
from scan.database.lists import all_lists
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.prices import unit_prices
from scan.pages.records import names_of
from scan.queries import addresses, contract_creations, entities
from scan.queries.contract_creations import creation_record
from scan.queries.pages import Window

MAX_HOLDINGS = 5
MESSAGES = "messages_to_l1_by_sender"
Head = dict[str, Any]


class AddressTab(NamedTuple):
    """A tab of an address's page. `respond` returns the page, for tabs of extensions, which stand
    before the tab `before`, or last. Other tabs link it where `is_linked` is true of the head."""

    name: str
    title: str
    is_linked: Callable[[Head], bool] = lambda _: True
    respond: Callable[[bytes], Response] | None = None
    before: str = ""


def of_contract(head: Head) -> bool:
    return bool(head["account"].balance.is_contract)


_OF_CORE = (
    AddressTab("transactions", "Transactions"),
    AddressTab("history", "History"),
    AddressTab("transfers", "Token transfers"),
    AddressTab("internal", "Internal"),
    AddressTab("trades", "Trades"),
    AddressTab("tokens", "Tokens"),
    AddressTab("items", "NFTs"),
    AddressTab("chart", "Balance"),
    AddressTab("messages", "Messages to L1", lambda head: head["sends_messages"]),
    AddressTab("delegations", "Authorizations", lambda head: bool(head["account"].authorizations)),
    AddressTab("contract", "Contract", of_contract),
    AddressTab("bytecode", "Bytecode", of_contract),
)


@cache
def address_tabs() -> Mapping[str, AddressTab]:
    """Return the core's tabs and ADDRESS_TABS of extensions by their names, in the page's order."""
    tabs = [*_OF_CORE]
    for tab in registry.collected("pages", "ADDRESS_TABS"):
        names = [other.name for other in tabs]
        tabs.insert(names.index(tab.before) if tab.before in names else len(tabs), tab)
    return {tab.name: tab for tab in tabs}


@cache
def _lists() -> Mapping[str, tuple[str, str, str]]:
    """Return lists on pages of their own, by the list's name: the title above its link, the page,
    and the words behind the count."""
    return {
        "contract_creations_by_factory": ("Contracts created", "/contracts?factory", "by it"),
        "contract_creations_by_creator": (
            *("Contracts created", "/contracts?creator", "by transactions it sent"),
        ),
        **registry.merged("pages", "LINKED"),
    }


def _linked(head: Head, current: str) -> list[tuple[str, str]]:
    """Return names and titles of the tabs that the tab `current` links, with its own."""
    tabs = address_tabs().values()
    return [(tab.name, tab.title) for tab in tabs if tab.name == current or tab.is_linked(head)]


def address_head(key: bytes) -> Head:
    """Return the values of address_head.html."""
    holdings = addresses.tokens_held(reader(), key, Window(MAX_HOLDINGS, 0))
    account = addresses.get(reader(), key)
    created = contract_creations.indexed(reader(), key) if account.balance.is_contract else None
    counts = entities.counts(reader(), key, (*_lists(), MESSAGES))
    makers = (created.creator, created.factory) if created else (account.delegate,)
    head = {
        "address": to_hex(key),
        "account": account,
        "creation": creation_record(created),
        "maker_names": names_of([], *(to_hex(maker) for maker in makers if maker)),
        "holdings": json.loads(holdings.data),
        "holding_count": holdings.total,
        "prices": unit_prices(),
        "sends_messages": MESSAGES in counts,
        "linked_lists": _linked_lists(to_hex(key), counts),
    }
    return {**head, "linked_tabs": partial(_linked, head)}


def _linked_lists(address: str, counts: Mapping[str, int]) -> dict[str, list[tuple[str, int, str]]]:
    """Return links to lists with entries, each with its count and words, by their titles."""
    links = defaultdict(list)
    for name, (title, path, words) in _lists().items():
        if name in counts:
            first = reader().incomplete.get(all_lists()[name].table)
            since = "" if first is None else f", complete from block {first} on"
            links[title].append((f"{path}={address}", counts[name], f"{words}{since}"))
    return dict(links)
