"""What a call is for, among the fields of GET /api/v1/transactions/:hash, by the descriptors of the
operator's folder, which live as long as the process.
"""

from collections.abc import Mapping
from typing import Any

from scan.api.hooks import Api
from scan.extensions.clear_signing.descriptors import Descriptors
from scan.extensions.clear_signing.queries import Erc7730
from scan.extensions.clear_signing.settings import Settings
from scan.extensions.transaction_details.decoding import ClearSigning
from scan.http.hooks import Service
from scan.http.requests import reader


def transaction_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the call is for."""
    return reader().sources.get(Erc7730).of_transaction(reader(), record).record()


HOOKS = (
    Api(transaction_fields=transaction_fields),
    Service(
        make=lambda core: Erc7730(Descriptors(core.settings.of(Settings).descriptors)),
        base=ClearSigning,
    ),
)
