"""The head of an address's page, which all its tabs show above them."""

import json
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scan import registry
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.prices import unit_prices
from scan.pages.records import names_of
from scan.queries import addresses, contract_creations, entities
from scan.queries.contract_creations import creation_record
from scan.queries.pages import Window

MAX_HOLDINGS = 5
MESSAGES = "messages_to_l1_by_sender"
# Lists on pages of their own, by the list's name: the title above its link, the page, and the words
# behind the count.
LINKED = {
    "contract_creations_by_factory": ("Contracts created", "/contracts?factory", "by it"),
    "contract_creations_by_creator": (
        *("Contracts created", "/contracts?creator", "by transactions it sent"),
    ),
    **registry.merged("pages", "LINKED"),
}


def address_head(key: bytes) -> dict[str, Any]:
    """Return the values of address_head.html."""
    holdings = addresses.tokens_held(reader(), key, Window(MAX_HOLDINGS, 0))
    account = addresses.get(reader(), key)
    created = contract_creations.indexed(reader(), key) if account.balance.is_contract else None
    counts = entities.counts(reader(), key, (*LINKED, MESSAGES))
    makers = (created.creator, created.factory) if created else (account.delegate,)
    return {
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


def _linked_lists(address: str, counts: Mapping[str, int]) -> dict[str, list[tuple[str, int, str]]]:
    """Return links to lists with entries, each with its count and words, by their titles."""
    links = defaultdict(list)
    for name, (title, path, words) in LINKED.items():
        if name in counts:
            links[title].append((f"{path}={address}", counts[name], words))
    return dict(links)
