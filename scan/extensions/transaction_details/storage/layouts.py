"""The layouts of verified contracts, read from the database and cached."""

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

from scan.database.connection import Database
from scan.ethereum.sized_cache import SizedCache
from scan.extensions.transaction_details.storage.layout import (
    Layout,
    MalformedLayout,
    read_solidity,
)
from scan.extensions.transaction_details.storage.vyper_layout import read_vyper
from scan.verification import storage_layouts
from scan.verification.languages import of_path
from scan.verification.languages.vyper import VYPER

CACHE_BYTES = 16 * 1024 * 1024
# Of the JSON of a request's layouts together, those of one code once: they take 0.05 s to read.
MAX_CHARACTERS = 3 * 1024 * 1024
BYTES_PER_CHARACTER = 6  # memory of a layout per character of its JSON, measured
EMPTY = Layout((), {})


class KnownLayout(NamedTuple):
    """The layout of the code at `address`, with the contract's name in the source."""

    address: bytes
    contract_name: str
    layout: Layout


class _Sized(NamedTuple):
    """A layout, with the characters of its JSON."""

    layout: Layout
    characters: int


class StorageLayouts:
    """A reader of layouts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._layouts: SizedCache[_Sized] = SizedCache(CACHE_BYTES)

    def of(self, addresses: Sequence[bytes]) -> dict[bytes, KnownLayout]:
        """Return the layouts of those contracts whose verification has one, by address; those last
        in order are left out where all have more than MAX_CHARACTERS. Contracts of one
        verification have the same object."""
        if not addresses:
            return {}
        distinct = sorted({*addresses})
        rows = self._database.rows("contracts/storage_layouts_find", addresses=distinct)
        by_address = {bytes(address): row for address, *row in rows}
        read: dict[Hashable, _Sized] = {}
        known: dict[bytes, KnownLayout] = {}
        left = MAX_CHARACTERS
        for address in dict.fromkeys(addresses):
            if address not in by_address or left <= 0:
                continue
            name, path, verified, code_hash, at = by_address[address]
            key = bytes(verified), bytes(code_hash), at
            if key not in read:
                read[key] = self._layout(key, path)
                left -= read[key].characters
            known[address] = KnownLayout(address, name, read[key].layout)
        return known

    def _layout(self, key: tuple[bytes, bytes, object], path: str) -> _Sized:
        """Return the layout of a verification, which is nothing where it is malformed."""
        sized = self._layouts.get(key)
        if sized is None:
            stored = self._database.value(
                "contracts/storage_layouts_get", address=key[0], code_hash=key[1]
            )
            text = "" if stored is None else storage_layouts.unpacked(bytes(stored))
            read = read_vyper if of_path(path) is VYPER else read_solidity
            try:
                layout = read(text)
            except MalformedLayout:
                layout = EMPTY
            sized = _Sized(layout, len(text))
            self._layouts.store(key, sized, 1_000 + BYTES_PER_CHARACTER * len(text))
        return sized


def in_order(known: Mapping[bytes, KnownLayout], addresses: Sequence[bytes]) -> list[KnownLayout]:
    """Return the layouts that are known of these contracts, in their order."""
    return [known[address] for address in dict.fromkeys(addresses) if address in known]
