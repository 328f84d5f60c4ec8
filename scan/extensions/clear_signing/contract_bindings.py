"""Which descriptor is that of a called contract (ERC-7730, "Context section" and "Proxy support").

In this order: one deployed at the address; one of the factory that created the contract; one
deployed at the implementation of the proxy that it is.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import orjson

from scan.contracts.abi import WORD
from scan.contracts.proxy_contracts import Proxy
from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum.served_chain import BlockId
from scan.ethereum.stored_blocks import TransactionLog
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.clear_signing.descriptors import Descriptor, Descriptors
from scan.extensions.clear_signing.value_formats import ADDRESS_BYTES
from scan.extensions.transaction_details.contract_abis import Block, ContractAbis
from scan.hex import to_hex
from scan.queries import contracts
from scan.queries.reader import Reader
from scan.queries.transactions import get as get_transaction
from scan.queries.transactions import indexed

TIMEOUT_S = 1.5  # of the node, for proxies and for logs of factories
MAX_CREATIONS = 8  # of contracts that factories may have created, looked up for a request


class Called(NamedTuple):
    """A called contract and the selector."""

    address: bytes
    selector: bytes


class ContractBindings:
    """Finds the descriptors of a request's calls, of contracts as they are after a block."""

    def __init__(
        self, reader: Reader, descriptors: Descriptors, chain_id: str, block: BlockId
    ) -> None:
        self._reader = reader
        self._chain_id = chain_id
        self._block = block
        self._descriptors = descriptors
        self._creations_left = MAX_CREATIONS

    def find(self, calls: Collection[Called]) -> dict[Called, Descriptor]:
        """Return the descriptors of calls; none where the node that has to tell does not respond.
        Raises StillReading."""
        bound = {call: self._at(call.address, call.selector) for call in calls}
        missing = [call for call, descriptor in bound.items() if descriptor is None]
        for find in (self._of_factories, self._of_proxies):
            try:
                bound |= find(missing) if missing else {}
            except (NotFound, UpstreamFailed, Unavailable):
                self._reader.do_not_cache()
            missing = [call for call in missing if bound[call] is None]
        return {call: descriptor for call, descriptor in bound.items() if descriptor is not None}

    def with_implementations(self, address: bytes) -> list[bytes]:
        """Return an address and, of a proxy, its implementations; none where the node that has to
        tell does not respond."""
        try:
            proxy = self._implementations([address]).get(address)
        except (UpstreamFailed, Unavailable):
            self._reader.do_not_cache()
            return [address]
        return [address, *(proxy.implementations if proxy else ())]

    def _implementations(self, addresses: Collection[bytes]) -> Mapping[bytes, Proxy]:
        """Return the proxies among addresses. Raises UpstreamFailed, Unavailable."""
        block = Block(self._block.number, to_hex(self._block.hash))
        abis = self._reader.sources.get(ContractAbis)
        return abis.proxies_at(addresses, block, self._reader.node.within(TIMEOUT_S))

    def _at(self, address: bytes, selector: bytes) -> Descriptor | None:
        return self._descriptors.find(self._chain_id, address, selector)

    def _of_proxies(self, calls: Sequence[Called]) -> dict[Called, Descriptor | None]:
        proxies = self._implementations([call.address for call in calls])
        bound: dict[Called, Descriptor | None] = {}
        for call in calls:
            if call.address in proxies:
                implementations = proxies[call.address].implementations
                described = (self._at(address, call.selector) for address in implementations)
                bound[call] = next(filter(None, described), None)
        return bound

    def _of_factories(self, calls: Sequence[Called]) -> dict[Called, Descriptor | None]:
        """Return the descriptors of contracts that a factory created itself, by the index, if a log
        of it in the same transaction names them: that alone is proven."""
        factories = self._descriptors.factories(self._chain_id)
        created: dict[bytes, tuple[bytes, IndexedTransaction]] = {}  # factory, and its transaction
        for address in dict.fromkeys(call.address for call in calls if factories):
            if self._creations_left == 0:
                break
            self._creations_left -= 1
            creation = contracts.indexed(self._reader, address)
            if creation is None or creation.factory is None or creation.factory not in factories:
                continue
            if (record := get_transaction(self._reader, creation.transaction_hash)) is not None:
                created[address] = creation.factory, indexed(orjson.loads(record))
        if not created:
            return {}
        read = self._reader.sources.transaction_contents.transactions(
            self._reader.node.within(TIMEOUT_S),
            [transaction for _, transaction in created.values()],
        )
        bound: dict[Called, Descriptor | None] = {}
        for call in calls:
            if call.address not in created:
                continue
            factory, transaction = created[call.address]
            receipt = read[transaction.hash].receipt
            topics = {
                log.topics[0]
                for log in (receipt.logs if receipt else None) or ()
                if log.address == factory and log.topics and _names(log, call.address)
            }
            bound[call] = self._descriptors.find_of_factory(
                self._chain_id, factory, topics, call.selector
            )
        return bound


def _names(log: TransactionLog, address: bytes) -> bool:
    """Return whether a topic or a word of the data of an event is the address."""
    word = bytes(WORD - ADDRESS_BYTES) + address
    words = (log.data[at : at + WORD] for at in range(0, len(log.data), WORD))
    return word in log.topics[1:] or word in words
