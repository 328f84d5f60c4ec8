"""Fields of GET /api/v1/transactions/:hash."""

from collections.abc import Mapping
from typing import Any

from scan.api.hooks import Api
from scan.extensions.transaction_details.details import ALL_LOGS
from scan.extensions.transaction_details.explanations import transaction_explanation
from scan.extensions.transaction_details.queries import details
from scan.http.requests import reader


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the node's details, decoded, and what explains them."""
    of_node = details(reader(), record, ALL_LOGS)
    return of_node.record() | transaction_explanation.fields(record, of_node)


HOOKS = Api(transaction_fields=transaction_fields)
