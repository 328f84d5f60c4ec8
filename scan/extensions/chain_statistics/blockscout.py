"""The contracts that were called most in Blockscout's form."""

from typing import Any

from scan.errors import InvalidParameter
from scan.extensions.blockscout import address_and_token_objects, hooks, lists, routing
from scan.extensions.chain_statistics import statistics
from scan.http.requests import Response, reader

# What lists can be sorted by, and the spans of time, in seconds.
SORTS = {"transactions_count": "transactions", "total_gas_used": "gasUsed"}
SPANS_S = {"5m": 300, "1h": 3600, "3h": 10_800, "1d": 86_400, "7d": 604_800, "30d": 2_592_000}

blueprint = routing.routes("chain_statistics")


@blueprint.path("/stats/hot-smart-contracts")
def list_most_called() -> Response:
    """Return contracts by how often transactions called them in the `scale` before the newest
    block. Their balances are null: they are those of another time."""
    scale = lists.one_of("scale", [*SPANS_S])
    if scale is None:
        raise InvalidParameter(f"scale is missing: {', '.join(SPANS_S)}.", field="scale")
    sort = lists.one_of("sort", [*SORTS]) or "transactions_count"
    order = statistics.Order(
        by_gas=SORTS[sort] == "gasUsed",
        is_ascending=lists.one_of("order", ("asc", "desc")) == "asc",
    )
    place: Any = lists.together(
        **dict.fromkeys(SORTS, lists.number), contract_address_hash=lists.address
    )
    after = None if place is None else (place[[*SORTS].index(sort)], place[-1])
    most = lists.row_count()
    records = statistics.contracts(reader(), SPANS_S[scale], order, after, most)
    objects = address_and_token_objects.AddressObjects(record["address"] for record in records)
    items = [
        {
            "contract_address": objects.of(record["address"]),
            "transactions_count": record["transactions"],
            "total_gas_used": record["gasUsed"],
            "balance": None,
        }
        for record in records
    ]
    following = None
    if len(items) == most:  # the next page may be empty
        last_item = items[-1]
        following = {name: last_item[name] for name in SORTS}
        following["contract_address_hash"] = last_item["contract_address"]["hash"]
    return lists.list_response(items, following)


HOOKS = hooks.Blockscout(blueprint=blueprint)
