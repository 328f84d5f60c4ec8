"""Names and addresses as pages and the API show them: read at the newest indexed block, and kept.

A page must not be slower because somebody has a name: lists read few names at once, by two requests
at a time, within LIST_S, and show those of up to KEPT_S ago; while the node is late they do without
for PAUSE_S. What is not known is left out, and a later response has it. What Ethereum's node and
other hosts say is kept for KEPT_S, whatever blocks come.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from scan.cached_values import SizedCache
from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeGateway, NodeSession, NodeTimedOut
from scan.ethereum.served_chain import BlockId
from scan.extensions.names import gateways, node_names, normalization
from scan.extensions.names.chain_names import ChainNames, Claims, Target
from scan.extensions.names.gateways import Gateways
from scan.extensions.names.name_services import ENS, NameService, service_of
from scan.extensions.names.settings import Settings
from scan.queries import blocks
from scan.queries.addresses import AddressName, AddressNames
from scan.queries.reader import Reader

ONE_S = 0.5  # for the names that a request is about
LIST_S = 0.3
MAX_IN_LIST = 60
KEPT_S = 60.0
PAUSE_S = 5.0
# Two clients that ask for ever new names leave others a place for three quarters of the time.
PAUSE_FACTOR = 3.0
CACHE_BYTES = 4 * 1024 * 1024
ENTRY_BYTES = 600  # some 7,000 addresses


UNREAD = AddressName(None, node_names.Problem.UNREAD.value)


class Resolved(NamedTuple):
    """A normalised name and its address: None where it has none, or where `problem` says why it is
    not known. `block` is the newest one indexed; `coin_type` is that of an address which Ethereum's
    names have."""

    name: str
    address: bytes | None
    problem: node_names.Problem | None
    block: int | None
    coin_type: int | None = None


class _Kept(NamedTuple):
    """What an address had chosen at a block: a text, a problem or nothing."""

    claim: node_names.Claim
    block_hash: bytes
    read_at: float  # time.monotonic()
    is_hosted: bool = False  # other hosts were asked


class _Hosted(NamedTuple):
    """What other hosts said of a name."""

    target: Target
    read_at: float


_T = TypeVar("_T")


class Names(AddressNames):
    """The names that one process knows."""

    one_s, list_s, kept_s = ONE_S, LIST_S, KEPT_S

    def __init__(
        self, settings: Settings, hosts: Gateways | None = None, l1: NodeGateway | None = None
    ) -> None:
        """`hosts` are those that names' contracts name, `l1` is a node of Ethereum."""
        self.normalizer = normalization.Normalizer()
        self._settings = settings
        self._hosts = hosts
        self.asks_gateways = hosts is not None
        self._l1 = l1
        self._kept: SizedCache[_Kept] = SizedCache(CACHE_BYTES)
        self._hosted: SizedCache[_Hosted] = SizedCache(CACHE_BYTES // 4)
        limits: Any = {"pause_factor": PAUSE_FACTOR, "busy": "Names are being read."}
        self._lookups = ConcurrencyLimit(2, places_per_client=1, **limits)
        self._lists = ConcurrencyLimit(2, places_per_client=1, **limits)
        self._pause_until = 0.0

    def service(self, reader: Reader) -> NameService | None:
        """Return the name service of the indexed chain, None where there is none."""
        chosen, chain_id = self._settings.choice.service, reader.sources.chain_id.read()
        return service_of(chosen, chain_id, has_l1=self._l1 is not None)

    def resolve(self, reader: Reader, service: NameService, text: str) -> Resolved:
        """Return the address of a name. Raises NotNormalizable, NotChecked, UpstreamFailed,
        Unavailable."""
        name = self._normalized(reader, text)
        block = reader.once(blocks.newest)
        if block is None:
            return Resolved(name, None, None, None)
        names = self._chain_names(reader, reader.node, self.one_s, service, block)
        target = names.target(name)
        if target.address is node_names.Problem.OFF_CHAIN:
            target = self._hosted_target(reader, service, name, block) or target
        if isinstance(target.address, node_names.Problem):
            return Resolved(name, None, target.address, block.number)
        return Resolved(name, target.address, None, block.number, target.coin_type)

    def _hosted_target(
        self, reader: Reader, service: NameService, name: str, block: BlockId
    ) -> Target | None:
        kept = self._hosted.get(name)
        if kept is None or time.monotonic() - kept.read_at >= self.kept_s:
            target = self._by_gateways(reader, service, block, lambda names: names.target(name))
            if target is None:
                return None
            kept = _Hosted(target, time.monotonic())
            self._hosted.store(name, kept, ENTRY_BYTES)
        return kept.target

    def _by_gateways(
        self, reader: Reader, service: NameService, block: BlockId, read: Callable[[ChainNames], _T]
    ) -> _T | None:
        """Return what is read with other hosts asked; None where they are not asked, or where the
        node failed meanwhile."""
        if self._hosts is None:
            return None
        node, seconds = reader.sources.gateway.session(reader.client), gateways.TOTAL_S + self.one_s
        try:
            with self._lookups.place(reader.client):
                return read(self._chain_names(reader, node, seconds, service, block, self._hosts))
        except (UpstreamFailed, Unavailable):
            reader.do_not_cache()
            return None

    def _chain_names(
        self,
        reader: Reader,
        node: NodeSession,
        seconds: float,
        service: NameService,
        block: BlockId,
        hosts: Gateways | None = None,
    ) -> ChainNames:
        """Return the names of a request, whose nodes have so many seconds."""

        def reads(session: NodeSession, of: NameService, at: BlockId | str) -> node_names.NameReads:
            place = lambda: reader.sources.gateway.place(reader.client)  # noqa: E731
            lookups = None if hosts is None else node_names.GatewayReads(hosts, session, place)
            return node_names.NameReads(session, of, at, lookups)

        l1 = None
        if self._l1 is not None and service.contract != ENS.contract:
            l1 = reads(self._l1.session(reader.client).within(seconds), ENS, "latest")
        coin_type = node_names.evm_coin_type(int(reader.sources.chain_id.read() or 1))
        return ChainNames(reads(node.within(seconds), service, block), l1, coin_type)

    def of_addresses(
        self, reader: Reader, addresses: Sequence[bytes]
    ) -> Mapping[bytes, AddressName] | None:
        if self.service(reader) is None:
            return None
        primary = self.primary(reader, addresses)
        return {key: primary.get(key, AddressName()) for key in addresses}

    def primary(self, reader: Reader, addresses: Sequence[bytes]) -> dict[bytes, AddressName]:
        """Return the primary names of the addresses that a request is about, of the newest block;
        none where the chain has no service."""
        service, block = self._service_and_head(reader)
        if service is None or block is None:
            return {}
        claims = self._current(addresses, block, 0.0)
        missing = [address for address in addresses if address not in claims]
        if missing and not reader.has_node_failed:
            with suppress(UpstreamFailed, Unavailable):
                of_chain = self._chain_names(reader, reader.node, self.one_s, service, block)
                claims |= self._keep(of_chain.claims(missing), block)
            claims |= self._read_hosted(reader, service, claims, block)
        names = dict.fromkeys(addresses, UNREAD)
        for address, claim in claims.items():
            with suppress(normalization.NotChecked, UpstreamFailed, Unavailable):
                names[address] = self._checked(reader, claim)
        if UNREAD in names.values():
            reader.do_not_cache()
        return names

    def in_list(self, reader: Reader, addresses: Sequence[bytes]) -> dict[bytes, str]:
        """Return the primary names of addresses that a list shows, as far as they are known."""
        service, block = self._service_and_head(reader)
        if service is None or block is None:
            return {}
        claims = self._current(addresses, block, self.kept_s)
        missing = [address for address in addresses if address not in claims][:MAX_IN_LIST]
        if missing and not reader.has_node_failed and time.monotonic() >= self._pause_until:
            try:
                # In a session of its own: a list is cached whether or not names could be read.
                node = reader.sources.gateway.session(reader.client)
                names = self._chain_names(reader, node, self.list_s, service, block)
                with self._lists.place(reader.client):
                    claims |= self._keep(names.claims(missing), block)
                if names.is_l1_late:
                    self._pause_until = time.monotonic() + PAUSE_S
            except NodeTimedOut:
                self._pause_until = time.monotonic() + PAUSE_S
            except (UpstreamFailed, Unavailable):
                pass
        return self._known(claims)

    def _service_and_head(self, reader: Reader) -> tuple[NameService | None, BlockId | None]:
        service = self.service(reader)
        return service, None if service is None else reader.once(blocks.newest)

    def _current(self, addresses: Iterable[bytes], block: BlockId, age_s: float) -> Claims:
        """Return what is kept of addresses and of this block, or not older than `age_s`, or than
        KEPT_S where others than this chain's node have said it."""
        now = time.monotonic()
        kept = {address: self._kept.get(address) for address in addresses}
        return {
            address: entry.claim
            for address, entry in kept.items()
            if entry is not None
            and (
                now - entry.read_at < (self.kept_s if entry.is_hosted or self._l1 else age_s)
                or (entry.block_hash == block.hash and not entry.is_hosted)
            )
        }

    def _read_hosted(
        self, reader: Reader, service: NameService, claims: Claims, block: BlockId
    ) -> Claims:
        """Return what becomes of few claims that other hosts keep, where these are asked."""
        hosted = [
            address
            for address, claim in claims.items()
            if claim is node_names.Problem.OFF_CHAIN
            and not ((kept := self._kept.get(address)) and kept.is_hosted)
        ][: node_names.MAX_LOOKUPS]
        if not hosted:
            return {}
        read = self._by_gateways(reader, service, block, lambda names: names.claims(hosted))
        return self._keep(read or {}, block, is_hosted=True)

    def _keep(self, claims: Claims, block: BlockId, *, is_hosted: bool = False) -> Claims:
        read_at = time.monotonic()
        read_claims: Claims = {
            a: claim for a, claim in claims.items() if claim is not node_names.Problem.UNREAD
        }
        for address, claim in read_claims.items():
            self._kept.store(address, _Kept(claim, block.hash, read_at, is_hosted), ENTRY_BYTES)
        return read_claims

    def _known(self, claims: Claims) -> dict[bytes, str]:
        """Return claims that are normalised names, without those whose check would wait."""
        names = {}
        for address, claim in claims.items():
            with suppress(normalization.NotNormalizable):
                if isinstance(claim, str) and self.normalizer.known(claim) == claim:
                    names[address] = claim
        return names

    def _checked(self, reader: Reader, claim: node_names.Claim) -> AddressName:
        """Return a claim where it is a normalised name. Raises NotChecked, UpstreamFailed,
        Unavailable."""
        if not isinstance(claim, str):
            return AddressName(None, claim and str(claim.value))
        with suppress(normalization.NotNormalizable):
            if self._normalized(reader, claim) == claim:
                return AddressName(claim)
        return AddressName(None, node_names.Problem.NOT_NORMALIZED.value)

    def _normalized(self, reader: Reader, text: str) -> str:
        """Return a name, normalised; the process that others wait for takes one of the places of
        threads that wait."""
        normalized_name = self.normalizer.known(text)
        if normalized_name is not None:
            return normalized_name
        with reader.sources.gateway.place(reader.client, is_optional=False):
            return self.normalizer.normalized(text)
