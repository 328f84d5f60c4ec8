"""Which statements are planned once for all values, and by which literals their plans differ.

Planning a page's statement takes longer than running it. A parameter in this table stands in the
prepared text itself, since its value decides the shape of the plan; the others are $1, $2, ….
"""

from collections.abc import Mapping
from typing import Any

from psycopg2.extensions import AsIs

from scan.database.statements import Statement, StatementError

_PAGE = ("direction",)
_BLOCKS = ("has_lower", "has_upper", "direction", "limit")
_LIST = ("has_list", "list", "has_lower", "has_upper", "direction", "limit")

LITERALS: Mapping[str, frozenset[str]] = {
    name: frozenset(literals)
    for name, literals in {
        "api/addresses_get": (),
        "api/addresses_is_seen": (),
        "api/addresses_list": (),
        "api/addresses_list_items": ("limit",),
        "api/addresses_list_tokens": ("limit",),
        "api/blocks_get": ("has_number", "has_hash"),
        "api/blocks_list": _PAGE,
        "api/chain_get_status": (),
        "api/dex_trades_list": _PAGE,
        "api/dex_trades_list_by_party": ("has_maker", "has_dex", *_LIST),
        "api/internal_transfers_list": _PAGE,
        "api/internal_transfers_list_by_address": ("has_from", "has_to", *_LIST),
        "api/internal_transfers_list_by_party": ("has_from", "has_to", *_LIST),
        "api/internal_transfers_list_by_transaction": ("limit",),
        "api/logs_list": _PAGE,
        "api/logs_list_by_key": ("has_address", "has_topic0", "has_rest", "has_total", *_LIST),
        "api/network_get_stats": (),
        "api/search_list": (),
        "api/token_items_get": (),
        "api/token_transfers_list": _PAGE,
        "api/token_transfers_list_by_address": ("has_from", "has_to", "has_token", *_LIST),
        "api/token_transfers_list_by_party": ("has_from", "has_to", "has_token", *_LIST),
        "api/token_transfers_list_by_item": ("limit",),
        "api/tokens_get": (),
        "api/tokens_list": ("direction", "limit"),
        "api/tokens_list_holders": ("limit",),
        "api/tokens_list_items": ("limit",),
        "api/transactions_get": (),
        "api/transactions_list": _PAGE,
        "api/transactions_list_by_address": ("has_from", "has_to", *_LIST),
        "api/transactions_list_by_party": ("has_from", "has_to", *_LIST),
        "contracts/contracts_find": (),
        "contracts/signatures_find": (),
        "etherscan/balances_get": (),
        "etherscan/blocks_get_by_time": (),
        "etherscan/blocks_get_ends": (),
        "etherscan/contracts_get_creations": (),
        "etherscan/internal_transfers_list": _BLOCKS,
        "etherscan/internal_transfers_list_by_blocks": _PAGE,
        "etherscan/internal_transfers_list_by_transaction": ("direction", "limit"),
        "etherscan/token_balances_list": (),
        "etherscan/token_transfers_list_by_token": _BLOCKS,
        "etherscan/tokens_get": (),
        "etherscan/transactions_get_status": (),
        "etherscan/transactions_list": _BLOCKS,
        "etherscan/verified_contracts_list": (),
        "http/index_get_newest": (),
        "http/blocks_get_hash": (),
        "http/log_blocks_list": ("direction", "limit"),
        "http/log_transactions_get": (),
        "http/log_transactions_match": (),
        "http/logs_get_scope": (),
        "pages/activity_list": (),
        "pages/addresses_list_sample_blocks": (),
        "pages/names_list": (),
        "pages/token_transfers_count_over_time": (),
        "pages/transactions_get_events": (),
        "pages/verified_contracts_list": ("limit",),
        "webhooks/queues_claim": (),
    }.items()
}


def literal_params(statement: Statement) -> frozenset[str]:
    """Raises StatementError for a statement that is not in the table."""
    try:
        return LITERALS[statement.name]
    except KeyError:
        raise StatementError(f"{statement.name} is not among the prepared statements") from None


def prepare_text(
    cursor: Any,
    statement: Statement,
    params: Mapping[str, object],
    literals: frozenset[str],
    name: str,
) -> bytes:
    """PREPARE for these literals; raises StatementError where the statement takes others."""
    if statement.params != params.keys():
        raise StatementError(f"{statement.name} takes {sorted(statement.params)}")
    places = [param for param in params if param not in literals]
    numbered = {
        param: AsIs(f"${number}::{statement.types[param]}")
        for number, param in enumerate(places, start=1)
    }
    text: bytes = cursor.mogrify(statement.text, {**params, **numbered})
    types = ", ".join(statement.types[param] for param in places)
    return f"PREPARE {name}{f'({types})' if types else ''} AS ".encode() + text
