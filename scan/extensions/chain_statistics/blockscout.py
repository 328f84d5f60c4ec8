"""The contracts that were called most in Blockscout's form."""

from typing import Any

from scan.errors import InvalidParameter
from scan.extensions.blockscout import address_and_token_objects, hooks, paths
from scan.extensions.chain_statistics import statistics
from scan.http.current_request import reader
from scan.http.json_responses import Response

# What lists can be sorted by, and the spans of time, in seconds.
SORTS = {"transactions_count": "transactions", "total_gas_used": "gasUsed"}
SPANS_S = {"5m": 300, "1h": 3600, "3h": 10_800, "1d": 86_400, "7d": 604_800, "30d": 2_592_000}

blueprint = paths.routes("chain_statistics")


@blueprint.path("/stats/hot-smart-contracts")
def list_most_called() -> Response:
    """Return contracts by how often transactions called them in the `scale` before the newest
    block. Their balances are null: they are those of another time."""
    scale = paths.one_of("scale", [*SPANS_S])
    if scale is None:
        raise InvalidParameter(f"scale is missing: {', '.join(SPANS_S)}.", field="scale")
    sort = paths.one_of("sort", [*SORTS]) or "transactions_count"
    order = statistics.Order(
        by_gas=SORTS[sort] == "gasUsed",
        is_ascending=paths.one_of("order", ("asc", "desc")) == "asc",
    )
    place: Any = paths.together(
        **dict.fromkeys(SORTS, paths.number), contract_address_hash=paths.address
    )
    after = None if place is None else (place[[*SORTS].index(sort)], place[-1])
    most = paths.row_count()
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
    return paths.list_response(items, following)


HOOKS = hooks.Blockscout(blueprint=blueprint)
