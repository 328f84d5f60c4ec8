"""Fields of GET /api/v1/transactions/:hash."""

from collections.abc import Mapping
from typing import Any

from scan import registry
from scan.extensions.transaction_details.details import ALL_LOGS
from scan.extensions.transaction_details.queries import details
from scan.http.requests import reader


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and fields of extensions that follow from them."""
    of_node = details(reader(), record, ALL_LOGS)
    more = of_node.record()
    for fields in registry.values("transaction_details", "transaction_fields"):
        more |= fields(record, of_node)
    return more
