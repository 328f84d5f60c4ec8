"""Primary names of addresses, where an extension reads them from a name service.

A name is the claim of whoever has the address: it is shown beside the address, never instead of it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scan.queries.reader import Reader


class AddressName(NamedTuple):
    """The primary name of an address; None without one, or where `problem` says why it is not
    known."""

    name: str | None = None
    problem: str | None = None


class AddressNames:
    """The primary names that a process knows; without an extension, none."""

    def of_addresses(
        self, reader: Reader, addresses: Sequence[bytes]
    ) -> Mapping[bytes, AddressName] | None:
        """Return the names of addresses that a request is about; None where the chain has no name
        service."""
        return None

    def in_list(self, reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, str]:
        """Return the names that are known soon enough for a list, by address."""
        return {}
