"""Fields of GET /api/v1/transactions/:hash."""

from collections.abc import Mapping
from typing import Any

from scan import hooks, registry
from scan.extensions.transaction_details.details import ALL_LOGS
from scan.extensions.transaction_details.hooks import TransactionDetailsPart
from scan.extensions.transaction_details.queries import details
from scan.http.requests import reader


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and fields of extensions that follow from them."""
    of_node = details(reader(), record, ALL_LOGS)
    more = of_node.record()
    for part in registry.parts(TransactionDetailsPart):
        more |= part.fields(record, of_node)
    return more


HOOKS = hooks.Api(transaction_fields=transaction_fields)
