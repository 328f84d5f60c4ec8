"""Names and addresses as pages and the API show them: read at the newest indexed block, and kept.

A page must not be slower because somebody has a name: lists read few names at once, by two requests
at a time, within LIST_S, and show those of up to KEPT_S ago; while the node is late they do without
for PAUSE_S. What is not known is left out, and a later response has it.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.ethereum.request_node import NodeSession, NodeTimedOut
from scan.ethereum.sized_cache import SizedCache
from scan.extensions.names import node_names
from scan.extensions.names.name_services import Interface, NameService, service_of
from scan.extensions.names.node_names import Problem
from scan.extensions.names.normalization import Normalizer, NotChecked, NotNormalizable
from scan.extensions.names.settings import Settings
from scan.queries import blocks
from scan.queries.reader import Reader
from scan.rate_limits.concurrency import ConcurrencyLimit

ONE_S = 0.5  # for the names that a request is about
LIST_S = 0.3
MAX_IN_LIST = 60
KEPT_S = 60.0
PAUSE_S = 5.0
CACHE_BYTES = 4 * 1024 * 1024
ENTRY_BYTES = 600  # some 7,000 addresses


class Primary(NamedTuple):
    """The primary name of an address: None without one, or where `problem` says why it is not
    known or not shown."""

    name: str | None
    problem: Problem | None = None


UNREAD = Primary(None, Problem.UNREAD)


class Resolved(NamedTuple):
    """A normalised name and its address at a block: None where it has none, or where `problem`
    says why it is not known."""

    name: str
    address: bytes | None
    problem: Problem | None
    block: int | None


class _Kept(NamedTuple):
    """What an address had chosen at a block: a text, a problem or nothing."""

    claim: str | Problem | None
    block_hash: bytes
    read_at: float  # time.monotonic()


class Names:
    """The names that one process knows."""

    def __init__(self, settings: Settings) -> None:
        self.normalizer = Normalizer()
        self._settings = settings
        self._kept: SizedCache[_Kept] = SizedCache(CACHE_BYTES)
        self._lists = ConcurrencyLimit(2, places_per_client=1, busy="Names are being read.")
        self._pause_until = 0.0

    def service(self, reader: Reader) -> NameService | None:
        """Return the name service of the indexed chain, None where there is none."""
        if self._settings.service == "off":
            return None
        return service_of(self._settings.service, reader.sources.chain_id.read())

    def resolve(self, reader: Reader, service: NameService, text: str) -> Resolved:
        """Return the address of a name. Raises NotNormalizable, NotChecked, UpstreamFailed,
        Unavailable."""
        name = self._normalized(reader, text)
        block = _head(reader)
        if block is None:
            return Resolved(name, None, None, None)
        target = node_names.addresses_of(reader.node.within(ONE_S), service, [name], block)[name]
        if isinstance(target, Problem):
            return Resolved(name, None, target, block.number)
        return Resolved(name, target, None, block.number)

    def primary(self, reader: Reader, addresses: Sequence[bytes]) -> dict[bytes, Primary]:
        """Return the primary names of the addresses that a request is about, of the newest block;
        none where the chain has no service."""
        service, block = self._service_and_head(reader)
        if service is None or block is None:
            return {}
        claims = self._current(addresses, block, 0.0)
        missing = [address for address in addresses if address not in claims]
        if missing and not reader.has_node_failed:
            with suppress(UpstreamFailed, Unavailable):
                claims |= self._read(reader.node.within(ONE_S), service, missing, block)
        names: dict[bytes, Primary] = {}
        for address in addresses:
            names[address] = UNREAD
            if address in claims:
                with suppress(NotChecked, UpstreamFailed, Unavailable):
                    names[address] = self._checked(reader, claims[address])
        if any(name.problem is Problem.UNREAD for name in names.values()):
            reader.do_not_cache()
        return names

    def in_list(self, reader: Reader, addresses: Sequence[bytes]) -> dict[bytes, str]:
        """Return the primary names of addresses that a list shows, as far as they are known."""
        service, block = self._service_and_head(reader)
        if service is None or block is None:
            return {}
        claims = self._current(addresses, block, KEPT_S)
        missing = [address for address in addresses if address not in claims][:MAX_IN_LIST]
        if missing and not reader.has_node_failed and time.monotonic() >= self._pause_until:
            try:
                # In a session of its own: a list is cached whether or not names could be read.
                node = reader.sources.gateway.session(reader.client).within(LIST_S)
                with self._lists.place(reader.client):
                    claims |= self._read(node, service, missing, block)
            except NodeTimedOut:
                self._pause_until = time.monotonic() + PAUSE_S
            except (UpstreamFailed, Unavailable):
                pass
        return self._known(claims)

    def _service_and_head(self, reader: Reader) -> tuple[NameService | None, BlockId | None]:
        service = self.service(reader)
        return service, None if service is None else _head(reader)

    def _current(
        self, addresses: Iterable[bytes], block: BlockId, age_s: float
    ) -> dict[bytes, str | Problem | None]:
        """Return what is kept of addresses and of this block, or not older than `age_s`."""
        now = time.monotonic()
        kept = {address: self._kept.get(address) for address in addresses}
        return {
            address: entry.claim
            for address, entry in kept.items()
            if entry is not None and (entry.block_hash == block.hash or now - entry.read_at < age_s)
        }

    def _read(
        self,
        node: NodeSession,
        service: NameService,
        addresses: Sequence[bytes],
        block: BlockId,
    ) -> dict[bytes, str | Problem | None]:
        """Return what addresses have chosen and what leads back to them, and keep it."""
        claims = node_names.names_of(node, service, addresses, block)
        if service.interface is Interface.REGISTRY:
            claims |= self._compared(node, service, claims, block)
        read_at = time.monotonic()
        for address, claim in claims.items():
            if claim is not Problem.UNREAD:
                self._kept.store(address, _Kept(claim, block.hash, read_at), ENTRY_BYTES)
        return {a: claim for a, claim in claims.items() if claim is not Problem.UNREAD}

    def _compared(
        self,
        node: NodeSession,
        service: NameService,
        claims: dict[bytes, str | Problem | None],
        block: BlockId,
    ) -> dict[bytes, str | Problem | None]:
        """Return what becomes of claims that are names: nothing where the name has another
        address."""
        names = {address: claim for address, claim in claims.items() if isinstance(claim, str)}
        targets = node_names.addresses_of(node, service, [*{*names.values()}], block)
        return {address: _claim(name, targets[name], address) for address, name in names.items()}

    def _known(self, claims: Mapping[bytes, str | Problem | None]) -> dict[bytes, str]:
        """Return claims that are normalised names, without those whose check would wait."""
        names = {}
        for address, claim in claims.items():
            with suppress(NotNormalizable):
                if isinstance(claim, str) and self.normalizer.known(claim) == claim:
                    names[address] = claim
        return names

    def _checked(self, reader: Reader, claim: str | Problem | None) -> Primary:
        """Return a claim where it is a normalised name. Raises NotChecked, UpstreamFailed,
        Unavailable."""
        if not isinstance(claim, str):
            return Primary(None, claim)
        with suppress(NotNormalizable):
            if self._normalized(reader, claim) == claim:
                return Primary(claim)
        return Primary(None, Problem.NOT_NORMALIZED)

    def _normalized(self, reader: Reader, text: str) -> str:
        """Return a name, normalised; the process that others wait for takes one of the places of
        threads that wait."""
        known = self.normalizer.known(text)
        if known is not None:
            return known
        with reader.sources.gateway.place(reader.client):
            return self.normalizer.normalized(text)


def _head(reader: Reader) -> BlockId | None:
    number = blocks.newest_number(reader)
    with suppress(NotFound):  # it was removed by a reorg meanwhile
        return None if number is None else blocks.find(reader, number)
    return None


def _claim(name: str, target: bytes | Problem | None, address: bytes) -> str | Problem | None:
    if isinstance(target, Problem):
        return target
    return name if target == address else None
