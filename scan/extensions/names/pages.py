"""The name at the head of an address's page."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.names.primary_names import Names, Primary
from scan.http.requests import reader
from scan.pages.hooks import AddressSection, Pages
from scan.queries.addresses import Address


def primary_name(key: bytes, account: Address) -> Mapping[str, Any]:
    """Return the values of primary_name.html."""
    primary = reader().sources.get(Names).primary(reader(), [key])
    return {"primary": primary.get(key, Primary(None))}


HOOKS = Pages(sections=(AddressSection({"address": "primary_name.html"}, primary_name),))
