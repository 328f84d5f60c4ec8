"""The layouts of verified contracts, read from the database and cached."""

from collections.abc import Collection, Mapping, Sequence
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
BYTES_PER_CHARACTER = 6  # memory of a layout per character of its JSON, measured
EMPTY = Layout((), {})


class KnownLayout(NamedTuple):
    """The layout of the code at `address`, with the contract's name in the source."""

    address: bytes
    contract_name: str
    layout: Layout


class StorageLayouts:
    """A reader of layouts."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._layouts: SizedCache[Layout] = SizedCache(CACHE_BYTES)

    def of(self, addresses: Collection[bytes]) -> dict[bytes, KnownLayout]:
        """Return the layouts of those contracts whose verification has one, by address."""
        if not addresses:
            return {}
        rows = self._database.rows("contracts/storage_layouts_find", addresses=sorted(addresses))
        return {
            bytes(address): KnownLayout(
                bytes(address), name, self._layout((bytes(verified), bytes(code_hash), at), path)
            )
            for address, name, path, verified, code_hash, at in rows
        }

    def _layout(self, key: tuple[bytes, bytes, object], path: str) -> Layout:
        """Return the layout of a verification, which is nothing where it is malformed."""
        layout = self._layouts.get(key)
        if layout is None:
            stored = self._database.value(
                "contracts/storage_layouts_get", address=key[0], code_hash=key[1]
            )
            text = "" if stored is None else storage_layouts.unpacked(bytes(stored))
            read = read_vyper if of_path(path) is VYPER else read_solidity
            try:
                layout = read(text)
            except MalformedLayout:
                layout = EMPTY
            self._layouts.store(key, layout, 1_000 + BYTES_PER_CHARACTER * len(text))
        return layout


def in_order(known: Mapping[bytes, KnownLayout], addresses: Sequence[bytes]) -> list[KnownLayout]:
    """Return the layouts that are known of these contracts, in their order."""
    return [known[address] for address in dict.fromkeys(addresses) if address in known]
