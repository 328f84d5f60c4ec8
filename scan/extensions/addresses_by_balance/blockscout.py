"""Addresses by balance in Blockscout's form."""

import orjson

from scan.extensions.addresses_by_balance import views
from scan.extensions.blockscout import address_and_token_objects, hooks, paths
from scan.http.current_request import reader
from scan.http.json_responses import Response

blueprint = paths.Routes("addresses_by_balance")


@blueprint.path("/addresses")
def list_addresses() -> Response:
    """Return the addresses with at least one coin, the largest balance first."""
    paths.one_of("sort", ("balance",))
    paths.one_of("order", ("desc",))
    position = paths.together(fetched_coin_balance=paths.amount, hash=paths.address)
    page = views.page(reader(), paths.first_window()._replace(position=position))
    records = orjson.loads(page.data)
    objects = address_and_token_objects.AddressObjects(record["address"] for record in records)
    items = [
        {
            **objects.of(record["address"]),
            "coin_balance": record["balance"],
            "transactions_count": str(record["txCount"]),
        }
        for record in records
    ]
    last = items[-1] if page.next else None
    following = last and {"fetched_coin_balance": last["coin_balance"], "hash": last["hash"]}
    return paths.list_response(items, following, exchange_rate=None, total_supply=None)


HOOKS = hooks.Blockscout(blueprint=blueprint)
