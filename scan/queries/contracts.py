"""Contracts: the code at an address, its verified source, and a proxy's implementations."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.proxy_contracts import CLONES, Proxy, by_code, current, state_kinds
from scan.contracts.read_calls import CallResult
from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.block_parameter import BlockId
from scan.hex import BadHex
from scan.queries.cursors import ADDRESS, HASH, ORDINAL
from scan.queries.pages import Page, Window
from scan.queries.reader import Reader
from scan.verification.contract_match import FULL, RUNTIME
from scan.verification.languages import of_path
from scan.verification.verifier import MESSAGES, SIMILAR

# Beside "abi": the ABI of the operator's build where the code is not verified.
BUILT_ABI = "built_abi"
# Columns that are large, or need a query of their own: they are read only where they are named.
ALL_COLUMNS = frozenset({"code", "settings", "abi", "sources", "metadata", "layouts", "storage"})


class Contract(NamedTuple):
    """A row of queries/contracts_get; JSON is text, and None where it was not read.

    `code_hash` is None where no contract is indexed, `match` where its code is not verified;
    `verifier` is another address with the same code, whose verification holds for this one.
    `since_block` is the first block with this code; `storage` the layout of the storage as it is
    stored (scan/verification/storage_layouts.py); `replaced_at` a block after which the node
    returned another code, for which no verification holds.
    """

    code_hash: bytes | None
    code: bytes | None
    match: str | None
    creation_match: str | None
    name: str
    path: str
    compiler_version: str
    license: str | None
    constructor_arguments: bytes | None
    verified_at: str | None
    verifier: bytes | None
    match_id: str | None
    settings: str | None
    abi: str | None
    sources: str | None
    metadata: str | None
    layouts: str | None
    since_block: int | None
    storage: bytes | None = None
    replaced_at: int | None = None

    @property
    def is_verified(self) -> bool:
        return self.match is not None

    @property
    def not_verified(self) -> str:
        """Return why this contract is not verified, as a sentence."""
        if self.replaced_at is None:
            return "The contract at this address is not verified."
        return (
            f"The node returned another code at block {self.replaced_at} than is indexed at this"
            " address: no verification holds for it."
        )

    @property
    def is_full_match(self) -> bool:
        """Return whether runtime and creation code match fully: no source matches better."""
        return self.match == self.creation_match == FULL

    @property
    def differs_in_creation(self) -> bool:
        """Return whether the code that created this contract is known not to be the source's."""
        return self.match == RUNTIME and self.verifier is None

    @property
    def warning(self) -> str | None:
        """Return the warning for a contract that matches in its runtime code alone, else None."""
        if self.match != RUNTIME:
            return None
        return MESSAGES[RUNTIME] if self.verifier is None else SIMILAR


class ProxyLookup(NamedTuple):
    """`proxy` is None where the contract is none, or where this is not known without the node."""

    proxy: Proxy | None
    is_known: bool = True


def get(reader: Reader, address: bytes, columns: Collection[str] = ALL_COLUMNS) -> Contract:
    """Return a contract, verified by itself or by another address with identical code."""
    return Contract(*reader.row("queries/contracts_get", address=address, columns=list(columns)))


def get_with_proxy(
    reader: Reader, address: bytes, columns: Collection[str] = ALL_COLUMNS
) -> tuple[Contract, ProxyLookup]:
    """Return a contract as get() does, and its proxy; a minimal proxy whose own code is not
    verified has its implementation's source."""
    contract = get(reader, address, {*columns, "code"})
    lookup = proxy_of(reader, address, contract)
    clone = lookup.proxy
    is_replaced = contract.replaced_at is not None
    if contract.is_verified or is_replaced or clone is None or clone.kind not in CLONES:
        return contract, lookup
    implementation = get(reader, clone.implementation, columns)
    if not implementation.is_verified:
        return contract, lookup
    lent = implementation._replace(
        code_hash=contract.code_hash,
        code=contract.code,
        creation_match=None,
        constructor_arguments=None,
        verifier=implementation.verifier or clone.implementation,
        since_block=contract.since_block,
    )
    return lent, lookup


def proxy_of(reader: Reader, address: bytes, contract: Contract) -> ProxyLookup:
    """Return a proxy's present implementations, by its code or its state."""
    code = bytes(contract.code or b"")
    proxy = by_code(code)
    kinds = () if proxy else state_kinds(code)
    if not kinds:
        return ProxyLookup(proxy)
    reader.do_not_cache()  # its storage may change with any block
    try:
        return ProxyLookup(current(reader.node, address, kinds))
    except (UpstreamFailed, BadHex, Unavailable):
        return ProxyLookup(None, is_known=False)


def proxies_among(reader: Reader, addresses: Sequence[bytes]) -> frozenset[str]:
    """Return the addresses, in hex, of contracts whose code passes all calls on, by the index."""
    [listed] = reader.row("queries/contracts_list_proxies", addresses=list(addresses))
    return frozenset(orjson.loads(listed))


def call(
    reader: Reader,
    address: bytes,
    function: str,
    arguments: Sequence[object],
    block: BlockId | None = None,
) -> CallResult:
    """Call a view function after a block, or at the node's newest; see ReadCalls.call()."""
    return reader.sources.read_calls.call(reader.node, address, function, arguments, block)


def verified_page(reader: Reader, window: Window) -> Page:
    """Return verified contracts, the latest verified first."""
    traversal = window.traversal("contracts", {}, (ORDINAL, ADDRESS, HASH), has_blocks=False)
    after_us, after_address, after_code_hash = traversal.position(3)
    data, count, total, verified_us, address, code_hash = reader.row(
        "queries/verified_contracts_list",
        limit=window.limit,
        offset=window.offset,
        after_us=after_us,
        after_address=after_address,
        after_code_hash=after_code_hash,
    )
    following = None
    if address is not None:
        following = traversal.next((verified_us, bytes(address), bytes(code_hash)))
    return Page(data, count, total, following)


def language_of(contract: Contract) -> str:
    return of_path(contract.path).name


def libraries_by_file(by_name: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return libraries grouped by file, as in standard JSON; they are given by `file:Name`."""
    by_file: dict[str, dict[str, Any]] = {}
    for qualified, address in by_name.items():
        path, _, name = qualified.rpartition(":")
        by_file.setdefault(path, {})[name] = address
    return by_file
