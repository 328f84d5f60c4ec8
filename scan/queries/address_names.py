"""Primary names of addresses, where an extension reads them from a name service.

A name is the claim of whoever has the address: it is shown beside the address, never instead of it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scan import registry
from scan.hooks import AddressNames
from scan.queries.reader import Reader


class AddressName(NamedTuple):
    """The primary name of an address; None without one, or where `problem` says why it is not
    known."""

    name: str | None = None
    problem: str | None = None


def of_addresses(reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, AddressName] | None:
    """Return the primary names of addresses; None where the chain has no name service."""
    part = registry.only(AddressNames)
    return None if part is None else part.of_addresses(reader, addresses)


def in_list(reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, str]:
    """Return the primary names that are known soon enough for a list, by address."""
    part = registry.only(AddressNames)
    return {} if part is None else part.in_list(reader, addresses)
