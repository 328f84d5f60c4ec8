"""Addresses as Blockscout shows them in every object: with names, tags and proxy fields."""

from collections.abc import Iterable, Mapping
from typing import Any

from scan.cached_values import cached_property
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.objects import Object
from scan.extensions.blockscout.proxy_objects import proxy_fields
from scan.hex import data
from scan.http.requests import reader
from scan.queries import addresses
from scan.queries.address_names import AddressNames

UNRATED = "ok"  # Scan rates nobody, but Blockscout's form has `ok` or `scam` of an address


class AddressObjects:
    """The objects of a page's addresses, which one statement reads."""

    def __init__(self, shown: Iterable[str | None]) -> None:
        """`shown` are addresses in lower-case hex; None are left out."""
        self._keys = [data(address) for address in dict.fromkeys(shown) if address]
        self._parties = addresses.parties(reader(), self._keys)

    @cached_property
    def _names(self) -> Mapping[bytes, str]:
        return reader().sources.get(AddressNames).in_list(reader(), self._keys)

    def of(self, address: str) -> Object:
        name = self._names.get(data(address))
        shown = address_object(address, self._parties.get(address, {}), name)
        return shown | self._delegation(address)

    def of_optional(self, address: str | None) -> Object | None:
        return None if address is None else self.of(address)

    def is_contract(self, address: str) -> bool:
        party = self._parties.get(address, {})
        return bool(party.get("isContract") or party.get("delegate"))

    def _delegation(self, address: str) -> Object:
        """Return what is shown of an account that runs another address's code (EIP-7702)."""
        delegate = self._parties.get(address, {}).get("delegate")
        if not delegate:
            return {}
        return {"is_contract": True, **proxy_fields("eip7702", [data(delegate)])}


def address_object(address: str, party: Mapping[str, Any], name: str | None) -> Object:
    """Return the object of an address. Its name is a label or that of a verified contract, not what
    a token calls itself; `name` is its primary name."""
    label, contract = party.get("label"), party.get("contract")
    shown = checksummed(address)
    return {
        "hash": shown,
        "is_contract": party.get("isContract"),
        "name": label or contract,
        "is_scam": False,
        "reputation": UNRATED,
        "proxy_type": None,
        "implementations": [],
        "is_verified": contract is not None,
        "ens_domain_name": name,
        "metadata": None,
        "private_tags": [],
        "watchlist_names": [],
        "public_tags": [tag(shown, label)] if label else [],
    }


def tag(address: str, label: str) -> Object:
    return {"address_hash": address, "display_name": label, "label": label}
