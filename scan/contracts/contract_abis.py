"""ABIs for decoding calls and logs of contracts: their own and their implementations'."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.abi_index import AbiIndex, functions_of, index_abi
from scan.contracts.decoding_budget import DecodingBudget
from scan.contracts.proxy_contracts import (
    clone_of,
    delegates,
    eip1967_implementations,
)
from scan.database.connection import Database
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.gateway import NodeSession
from scan.ethereum.sized_cache import SizedCache
from scan.hex import data, to_hex

CACHE_BYTES = 32 * 1024 * 1024
BYTES_PER_CHARACTER = 12  # memory of an indexed ABI per character of its JSON, measured
SMALL_ENTRY_BYTES = 400
MAX_PROXIES = 100  # whose implementations are read from the node at once


class Block(NamedTuple):
    number: int
    hash: str


class Emitter(NamedTuple):
    """A contract at a block."""

    address: bytes
    block: Block


class Contract(NamedTuple):
    """A contract's ABIs, its own before its implementation's, and its token type.

    `delegates`: its code may be an EIP-1967 proxy, whose implementation at a block the node knows.
    """

    abis: tuple[AbiIndex, ...] = ()
    token_type: str | None = None
    delegates: bool = False


NO_CONTRACT = Contract()


class _Proxying(NamedTuple):
    """What a contract's code says of proxies: a minimal proxy's implementation; whether it may
    be another proxy."""

    clone_of: bytes | None
    delegates: bool


class ContractAbis:
    """Looks up the ABIs of all contracts of a transaction or of a page at once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._abis: SizedCache[AbiIndex] = SizedCache(CACHE_BYTES)
        self._codes: SizedCache[_Proxying] = SizedCache(CACHE_BYTES // 8)
        self._implementations: SizedCache[bytes] = SizedCache(CACHE_BYTES // 8)

    def find(self, addresses: Collection[bytes], budget: DecodingBudget) -> dict[bytes, Contract]:
        """Return the contracts by address. ABIs beyond the budget are not read.

        Clones also have their implementation's ABI; EIP-1967 proxies have only their own.
        """
        rows = self._rows(addresses)
        proxying = self._proxying({row["codeHash"] for row in rows.values()})
        codes = {address: proxying[row["codeHash"]] for address, row in rows.items()}
        clones = {a: code.clone_of for a, code in codes.items() if code.clone_of is not None}
        abis = self._abis_of({**rows, **self._rows({*clones.values()} - {*rows})}, budget)
        return {
            address: Contract(
                _first_two(abis, address, clones.get(address)),
                row["tokenType"],
                codes[address].delegates and address not in clones,
            )
            for address, row in rows.items()
        }

    def find_at(
        self, emitters: Collection[Emitter], node: NodeSession, budget: DecodingBudget
    ) -> dict[Emitter, Contract]:
        """Return what find() does, with the ABIs of EIP-1967 proxies' implementations at the
        emitter's block, or of the current ones if the node has no state of that block. Raises as
        the session does."""
        contracts = self.find({emitter.address for emitter in emitters}, budget)
        known = {
            emitter: contracts[emitter.address]
            for emitter in emitters
            if emitter.address in contracts
        }
        targets = self._implementations_of(
            [emitter for emitter, contract in known.items() if contract.delegates], node
        )
        abis = self._abis_of(self._rows({*targets.values()}), budget)
        for emitter, implementation in targets.items():
            own = known[emitter]
            known[emitter] = own._replace(abis=own.abis + _first_two(abis, implementation, None))
        return known

    def find_at_or_now(
        self, emitters: Collection[Emitter], node: NodeSession, budget: DecodingBudget
    ) -> dict[bytes, Contract]:
        """Return what find_at() does, by address; where the node does not respond, what find()
        does."""
        try:
            contracts = self.find_at(emitters, node, budget)
        except (UpstreamFailed, Unavailable):
            if not node.failed:
                raise
            return self.find({emitter.address for emitter in emitters}, budget)
        return {emitter.address: contract for emitter, contract in contracts.items()}

    def function_text(self, selector: bytes, contract: Contract) -> str | None:
        """Return the signature of a contract's function; None where it is not known for sure."""
        if len(selector) < 4:
            return None
        entry = next(functions_of(selector, contract.abis, contract.token_type), None)
        if entry is not None:
            return entry.signature
        signatures = self.imported([selector]).get(selector, [])
        return signatures[0] if len(signatures) == 1 else None

    def imported(self, selectors: Collection[bytes]) -> dict[bytes, list[str]]:
        """Return the signatures that operators imported, by selector."""
        if not selectors:
            return {}
        signatures = self._database.prepared_value(
            "contracts/signatures_find", selectors=sorted(selectors)
        )
        return {data(selector): texts for selector, texts in orjson.loads(signatures).items()}

    def _rows(self, addresses: Collection[bytes]) -> dict[bytes, Mapping[str, Any]]:
        if not addresses:
            return {}
        rows = self._database.prepared_value(
            "contracts/contracts_find", addresses=sorted(addresses)
        )
        return {data(row["address"]): row for row in orjson.loads(rows)}

    def _abis_of(
        self, rows: Mapping[bytes, Mapping[str, Any]], budget: DecodingBudget
    ) -> dict[bytes, AbiIndex]:
        """Return the ABIs of verified contracts; many addresses may have the same code, and so
        the same ABI."""
        abis: dict[bytes, AbiIndex] = {}
        read: dict[tuple[Any, ...], AbiIndex] = {}
        for address, row in rows.items():
            if row["verifiedAddress"]:
                key = tuple(row[name] for name in ("codeHash", "verifiedAddress", "verifiedAt"))
                index = read.get(key) or self._abis.get(key)
                if index is None and budget.allows():
                    entries = self._database.value(
                        "contracts/verified_contracts_get_interface",
                        code_hash=data(row["codeHash"]),
                        address=data(row["verifiedAddress"]),
                    )
                    index = index_abi(entries or ())
                    self._abis.store(key, index, BYTES_PER_CHARACTER * len(orjson.dumps(entries)))
                if index is not None:
                    abis[address] = read[key] = index
        return abis

    def _proxying(self, code_hashes: Iterable[str]) -> dict[str, _Proxying]:
        by_hash = {code_hash: self._codes.get(code_hash) for code_hash in code_hashes}
        missing = [data(code_hash) for code_hash, cached in by_hash.items() if cached is None]
        if missing:
            for code_hash, code in self._database.rows("contracts/codes_list", code_hashes=missing):
                proxying = _Proxying(clone_of(bytes(code)), delegates(bytes(code)))
                by_hash[to_hex(bytes(code_hash))] = proxying
                self._codes.store(to_hex(bytes(code_hash)), proxying, SMALL_ENTRY_BYTES)
        no_proxy = _Proxying(None, False)
        return {code_hash: proxying or no_proxy for code_hash, proxying in by_hash.items()}

    def _implementations_of(
        self, proxies: Sequence[Emitter], node: NodeSession
    ) -> dict[Emitter, bytes]:
        """Return the implementations of EIP-1967 proxies, cached by block hash, whose state
        cannot change."""
        cached = {proxy: self._implementations.get(proxy) for proxy in proxies}
        missing = [proxy for proxy in proxies if cached[proxy] is None][:MAX_PROXIES]
        at_numbers = [(proxy.address, proxy.block.number) for proxy in missing]
        read = eip1967_implementations(node, at_numbers) if missing else ()
        for proxy, implementation in zip(missing, read, strict=True):
            cached[proxy] = implementation or b""
            self._implementations.store(proxy, implementation or b"", SMALL_ENTRY_BYTES)
        return {proxy: implementation for proxy, implementation in cached.items() if implementation}


def _first_two(
    abis: Mapping[bytes, AbiIndex], address: bytes, implementation: bytes | None
) -> tuple[AbiIndex, ...]:
    """Return at most two ABIs of a contract, its own before its implementation's."""
    keys = [address] if implementation is None else [address, implementation]
    return tuple(abis[key] for key in keys if key in abis)
