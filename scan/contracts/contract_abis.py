"""ABIs that calls and logs of contracts are decoded by: theirs and their implementations'."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.abi_decoding import AbiIndex, index_abi
from scan.contracts.node_reads import NodeReads
from scan.contracts.proxy_contracts import (
    clone_of,
    delegates,
    eip1967_implementations,
)
from scan.database.connection import Database
from scan.ethereum.client import Node, NodeError
from scan.ethereum.sized_cache import SizedCache
from scan.hex import data, to_hex

CACHE_BYTES = 32 * 1024 * 1024
BYTES_PER_CHARACTER = 12  # of an ABI's JSON, once it is indexed; measured
SMALL_ENTRY_BYTES = 400
MAX_PROXIES = 50  # whose implementations are asked of the node for one transaction


class Block(NamedTuple):
    number: int
    hash: str


class Contract(NamedTuple):
    """A contract's ABIs, its own before its implementation's, and the type of token it is."""

    abis: tuple[AbiIndex, ...] = ()
    token_type: str | None = None


NO_CONTRACT = Contract()


class _Proxying(NamedTuple):
    """What code shows: the implementation that a minimal proxy names, or that it may have one."""

    clone_of: bytes | None
    delegates: bool


class ContractAbis:
    """Looked up for all contracts of a transaction, or of a page of them, at once."""

    def __init__(self, database: Database, node: Node, reads: NodeReads) -> None:
        self._database = database
        self._node = node
        self._reads = reads
        self._abis: SizedCache[AbiIndex] = SizedCache(CACHE_BYTES)
        self._codes: SizedCache[_Proxying] = SizedCache(CACHE_BYTES // 8)
        self._implementations: SizedCache[bytes] = SizedCache(CACHE_BYTES // 8)

    def find(
        self, addresses: Collection[bytes], block: Block | None = None, *, until: float = 0.0
    ) -> dict[bytes, Contract]:
        """By address; those that are no contracts are missing.

        Implementations in storage (EIP-1967) are those at `block`, or now where the node has no
        such state; it has to answer before `until` of time.monotonic(), else NodeError is raised.
        Without `block` they are left out.
        """
        rows = self._rows(addresses)
        targets = self._targets(rows, block, until)
        behind = self._rows({each for each in targets.values() if each not in rows})
        known = {**rows, **behind}
        return {
            address: Contract(self._abis_of(known, address, targets), row["tokenType"])
            for address, row in rows.items()
        }

    def imported(self, selectors: Collection[bytes]) -> dict[bytes, list[str]]:
        """Signatures that operators imported, by selector."""
        if not selectors:
            return {}
        found = self._database.prepared_value(
            "contracts/signatures_find", selectors=sorted(selectors)
        )
        return {data(selector): texts for selector, texts in orjson.loads(found).items()}

    def _rows(self, addresses: Collection[bytes]) -> dict[bytes, Mapping[str, Any]]:
        if not addresses:
            return {}
        found = self._database.prepared_value(
            "contracts/contracts_find", addresses=sorted(addresses)
        )
        return {data(row["address"]): row for row in orjson.loads(found)}

    def _abis_of(
        self,
        known: Mapping[bytes, Mapping[str, Any]],
        address: bytes,
        targets: Mapping[bytes, bytes],
    ) -> tuple[AbiIndex, ...]:
        wanted = (address, targets.get(address, address))
        rows = [known[each] for each in dict.fromkeys(wanted) if each in known]
        return tuple(self._abi(row) for row in rows if row["verifiedAddress"])

    def _abi(self, row: Mapping[str, Any]) -> AbiIndex:
        key = tuple(row[name] for name in ("codeHash", "verifiedAddress", "verifiedAt"))
        found = self._abis.get(key)
        if found is None:
            entries = self._database.value(
                "contracts/verified_contracts_get_interface",
                code_hash=data(row["codeHash"]),
                address=data(row["verifiedAddress"]),
            )
            found = index_abi(entries or ())
            self._abis.store(key, found, BYTES_PER_CHARACTER * len(orjson.dumps(entries)))
        return found

    def _targets(
        self, rows: Mapping[bytes, Mapping[str, Any]], block: Block | None, until: float
    ) -> dict[bytes, bytes]:
        """The implementation of each proxy."""
        proxying = self._proxying({row["codeHash"] for row in rows.values()})
        codes = {address: proxying[row["codeHash"]] for address, row in rows.items()}
        clones = {a: each.clone_of for a, each in codes.items() if each.clone_of is not None}
        if block is None:
            return clones
        delegating = [a for a, each in codes.items() if each.delegates and a not in clones]
        return clones | self._stored(delegating[:MAX_PROXIES], block, until)

    def _proxying(self, code_hashes: Iterable[str]) -> dict[str, _Proxying]:
        found = {code_hash: self._codes.get(code_hash) for code_hash in code_hashes}
        missing = [data(code_hash) for code_hash, each in found.items() if each is None]
        if missing:
            for code_hash, code in self._database.rows("contracts/codes_list", code_hashes=missing):
                each = _Proxying(clone_of(bytes(code)), delegates(bytes(code)))
                found[to_hex(bytes(code_hash))] = each
                self._codes.store(to_hex(bytes(code_hash)), each, SMALL_ENTRY_BYTES)
        nothing = _Proxying(None, False)
        return {code_hash: each or nothing for code_hash, each in found.items()}

    def _stored(self, addresses: Sequence[bytes], block: Block, until: float) -> dict[bytes, bytes]:
        """Implementations by EIP-1967; what was read of a block stays true of its hash."""
        found = {each: self._implementations.get((each, block.hash)) for each in addresses}
        missing = [each for each, implementation in found.items() if implementation is None]
        if missing:
            for each, implementation in zip(missing, self._ask(missing, block, until), strict=True):
                found[each] = implementation or b""
                self._implementations.store(
                    (each, block.hash), implementation or b"", SMALL_ENTRY_BYTES
                )
        return {each: implementation for each, implementation in found.items() if implementation}

    def _ask(
        self, addresses: Sequence[bytes], block: Block, until: float
    ) -> Sequence[bytes | None]:
        with self._reads.place():
            left_s = until - time.monotonic()
            if left_s <= 0:
                raise NodeError("there is no time left to ask for implementations")
            return eip1967_implementations(self._node, addresses, block.number, left_s)
