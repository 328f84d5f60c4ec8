"""One transaction's input, method and logs: read from the node, decoded, for every interface."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.contracts.abi_decoding import (
    Decoded,
    decode_call,
    decode_call_by,
    decode_log,
    decode_log_by,
)
from scan.contracts.contract_abis import NO_CONTRACT, Block, Contract, ContractAbis
from scan.contracts.node_reads import NodeReads
from scan.ethereum.client import Node, NodeError
from scan.ethereum.sized_cache import SizedCache
from scan.ethereum.transaction_contents import (
    TIMEOUT_S,
    TOO_MANY_LOGS,
    ContentsUnavailable,
    TransactionContents,
    TransactionLog,
    TransactionPlace,
    read_contents,
)
from scan.hex import data, to_hex

NO_ANSWER = "The node does not answer now; try again shortly."
CACHE_BYTES = 128 * 1024 * 1024
LOG_BYTES = 650  # of a log in memory beside its data, measured
MAX_CONTRACTS = 500  # of a transaction, whose own ABIs are looked up; others have the standards'


class DecodedLog(NamedTuple):
    log: TransactionLog
    event: Decoded | None

    def record(self) -> dict[str, Any]:
        return {
            "address": to_hex(self.log.address),
            "topics": [to_hex(topic) for topic in self.log.topics],
            "data": to_hex(self.log.data),
            "logIndex": self.log.log_index,
            "event": None if self.event is None else self.event.record(),
        }


class TransactionDetails(NamedTuple):
    """Nonce and gas limit are for pages, whose records may not have them yet.

    `unavailable` is why input or logs are None; `passing` is set where asking again may
    help.
    """

    nonce: int | None = None
    gas_limit: int | None = None
    input: bytes | None = None
    method: Decoded | None = None
    logs: Sequence[DecodedLog] | None = None
    log_count: int | None = None
    unavailable: str | None = None
    passing: bool = False

    def record(self) -> dict[str, Any]:
        return {
            "input": None if self.input is None else to_hex(self.input),
            "method": None if self.method is None else self.method.record(),
            "logs": None if self.logs is None else [log.record() for log in self.logs],
            "unavailable": self.unavailable,
            "logCount": self.log_count,
        }


class TransactionDetailsReader:
    """Reads in bounded time; what was read stays true of the block's hash."""

    def __init__(self, node: Node, reads: NodeReads, abis: ContractAbis) -> None:
        self._node = node
        self._abis = abis
        self._contents: SizedCache[TransactionContents] = SizedCache(CACHE_BYTES)
        self._reads = reads

    def read(self, place: TransactionPlace) -> TransactionDetails:
        """Raises Unavailable where the database cannot be asked."""
        until = time.monotonic() + TIMEOUT_S
        try:
            contents = self._read(place)
            contracts = self._contracts(place, contents, until)
        except ContentsUnavailable as error:
            return TransactionDetails(unavailable=str(error), passing=True)
        except NodeError:
            return TransactionDetails(unavailable=NO_ANSWER, passing=True)
        return self._details(place, contents, contracts)

    def _read(self, place: TransactionPlace) -> TransactionContents:
        key = (place.hash, place.block_hash)
        found = self._contents.get(key)
        if found is None:
            with self._reads.place():
                found = read_contents(self._node, place)
            self._contents.store(key, found, _size(found))
        return found

    def _contracts(
        self, place: TransactionPlace, contents: TransactionContents, until: float
    ) -> dict[bytes, Contract]:
        """Of whom it called and who emitted its logs."""
        called = _called(place, contents)
        emitters = (log.address for log in contents.logs or ())
        wanted = [*dict.fromkeys((*([called] if called else []), *emitters))][:MAX_CONTRACTS]
        block = Block(place.block_number, place.block_hash)
        return self._abis.find(wanted, block, until=until)

    def _details(
        self,
        place: TransactionPlace,
        contents: TransactionContents,
        contracts: Mapping[bytes, Contract],
    ) -> TransactionDetails:
        called = _called(place, contents)
        method = None
        if called is not None:
            contract = contracts.get(called, NO_CONTRACT)
            method = decode_call(contents.input, contract.abis, contract.token_type)
        logs = [_decoded(log, contracts) for log in contents.logs or ()]
        imported = self._imported(contents if called and not method else None, logs)
        if called is not None and method is None:
            method = decode_call_by(contents.input, imported.get(contents.input[:4], ()))
        return TransactionDetails(
            contents.nonce,
            contents.gas_limit,
            contents.input,
            method,
            None if contents.logs is None else [_decoded_by(each, imported) for each in logs],
            contents.log_count,
            TOO_MANY_LOGS if contents.logs is None else None,
        )

    def _imported(
        self, called: TransactionContents | None, logs: Iterable[DecodedLog]
    ) -> dict[bytes, list[str]]:
        """Signatures by selector, for what is not decoded yet."""
        wanted = {each.log.topics[0][:4] for each in logs if not each.event and each.log.topics}
        wanted |= {called.input[:4]} if called else set()
        return self._abis.imported(wanted)


def _called(place: TransactionPlace, contents: TransactionContents) -> bytes | None:
    """The address whose function was called."""
    if place.to_address is None or len(contents.input) < 4:
        return None
    return data(place.to_address, 20)


def _decoded(log: TransactionLog, contracts: Mapping[bytes, Contract]) -> DecodedLog:
    contract = contracts.get(log.address, NO_CONTRACT)
    return DecodedLog(log, decode_log(log.topics, log.data, contract.abis, contract.token_type))


def _decoded_by(each: DecodedLog, imported: Mapping[bytes, Sequence[str]]) -> DecodedLog:
    log = each.log
    if each.event or not log.topics or log.topics[0][:4] not in imported:
        return each
    return DecodedLog(log, decode_log_by(log.topics, log.data, imported[log.topics[0][:4]]))


def _size(contents: TransactionContents) -> int:
    logs = contents.logs or ()
    return len(contents.input) + sum(LOG_BYTES + len(log.data) for log in logs) + LOG_BYTES
