"""The balances of an address over time in Blockscout's form."""

from typing import Any

from scan.extensions.blockscout import hooks, paths
from scan.extensions.history import balance_history
from scan.http.current_request import reader
from scan.http.json_responses import Response, json_value

DAYS = 10
CHANGES_OF_DAYS = 1000

blueprint = paths.Routes("history")


@blueprint.path("/addresses/<address_hash>/coin-balance-history")
def list_coin_balances(address_hash: str) -> Response:
    key, window = paths.path_address(address_hash), paths.before_block()
    changes, has_more = balance_history.coin_balances_page(
        reader(), key, window.limit, window.block_to
    )
    items = [coin_balance_object(change) for change in changes]
    following = {"block_number": changes[-1].block_number} if has_more and changes else None
    return paths.list_response(items, following)


def coin_balance_object(change: balance_history.CoinBalance) -> paths.Object:
    return paths.renamed("coin_balance", change)


@blueprint.path("/addresses/<address_hash>/coin-balance-history-by-day")
def list_coin_balances_by_day(address_hash: str) -> Response:
    """Return the known balances at the end of the newest days that changed them, oldest first."""
    key = paths.path_address(address_hash)
    changes, _ = balance_history.coin_balances_page(reader(), key, CHANGES_OF_DAYS)
    by_day: dict[str, Any] = {}
    for change in changes:  # newest first
        by_day.setdefault(change.timestamp[:10], change.value)
    newest = [day for day in by_day.items() if day[1] is not None][:DAYS]
    items = [{"date": day, "value": str(value)} for day, value in reversed(newest)]
    return json_value({"days": DAYS, "items": items})


HOOKS = hooks.Blockscout(blueprint=blueprint)
