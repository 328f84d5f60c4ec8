"""Names beside addresses on pages: in lists, and at the head of an address's own page."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan import hooks
from scan.extensions.names.primary_names import Names, Primary
from scan.http.requests import reader
from scan.pages.sections import AddressSection
from scan.queries.addresses import Address


def claimed_names(addresses: Sequence[bytes]) -> Mapping[bytes, str]:
    return reader().sources.get(Names).in_list(reader(), addresses)


def primary_name(key: bytes, account: Address) -> Mapping[str, Any]:
    """Return the values of primary_name.html."""
    primary = reader().sources.get(Names).primary(reader(), [key])
    return {"primary": primary.get(key, Primary(None))}


HOOKS = hooks.Pages(
    sections=(AddressSection({"address": "primary_name.html"}, primary_name),),
    claimed_names=claimed_names,
)
