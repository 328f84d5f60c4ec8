"""Addresses by balance in Blockscout's form."""

import orjson

from scan.extensions.addresses_by_balance import views
from scan.extensions.blockscout import address_and_token_objects, hooks, lists, routing
from scan.http.requests import Response, reader

blueprint = routing.routes("addresses_by_balance")


@blueprint.path("/addresses")
def list_addresses() -> Response:
    """Return the addresses with at least one coin, the largest balance first."""
    lists.one_of("sort", ("balance",))
    lists.one_of("order", ("desc",))
    position = lists.together(fetched_coin_balance=lists.amount, hash=lists.address)
    page = views.page(reader(), lists.first_window()._replace(position=position))
    records = orjson.loads(page.data)
    known = address_and_token_objects.AddressObjects(record["address"] for record in records)
    items = [
        {
            **known.of(record["address"]),
            "coin_balance": record["balance"],
            "transactions_count": str(record["txCount"]),
        }
        for record in records
    ]
    following = None
    if page.next is not None:
        last = items[-1]
        following = {"fetched_coin_balance": last["coin_balance"], "hash": last["hash"]}
    return lists.list_response(items, following, exchange_rate=None, total_supply=None)


HOOKS = hooks.Blockscout(blueprint=blueprint)
