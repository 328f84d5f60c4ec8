"""The head of an address's page, which all its tabs show above them."""

import json
from typing import Any

from scan.hex import to_hex
from scan.http.requests import reader
from scan.http.services import services
from scan.pages.records import names_of
from scan.queries import addresses, contract_creations, messages_to_l1, user_operations
from scan.queries.contract_creations import creation_record
from scan.queries.pages import Window

MAX_HOLDINGS = 5


def address_head(key: bytes) -> dict[str, Any]:
    """Return the values of address_head.html."""
    holdings = addresses.tokens_held(reader(), key, Window(MAX_HOLDINGS, 0))
    account = addresses.get(reader(), key)
    created = contract_creations.indexed(reader(), key) if account.balance.is_contract else None
    makers = (created.creator, created.factory) if created else (account.delegate,)
    return {
        "address": to_hex(key),
        "account": account,
        "creation": creation_record(created),
        "maker_names": names_of([], *(to_hex(maker) for maker in makers if maker)),
        "holdings": json.loads(holdings.data),
        "holding_count": holdings.total,
        "sends_messages": bool(messages_to_l1.page(reader(), Window(1, 0), sender=key).total),
        "prices": services().prices.read(reader()).prices,
        "operation_counts": user_operations.counts_of(reader(), key),
    }
