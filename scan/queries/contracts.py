"""Contracts: the code at an address, its verified source, a proxy's implementations; their
creations, with creator, factory and transaction; and selectors of functions by name."""

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts import abi_decoding, read_calls
from scan.contracts.abi import AbiError, canonical
from scan.contracts.proxy_contracts import CLONES, Proxy, proxy_after, stored_delegation
from scan.errors import InvalidParameter, Unavailable, UpstreamFailed
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.served_chain import BlockId
from scan.hex import BadHex, to_hex
from scan.queries import blocks
from scan.queries.cursors import ADDRESS, HASH, ORDINAL
from scan.queries.filter_values import Value
from scan.queries.filtered_pages import filtered_page
from scan.queries.list_pages import Page, Window
from scan.queries.reader import Reader
from scan.verification.contract_match import FULL, RUNTIME
from scan.verification.languages import language_of_path
from scan.verification.verifier import MESSAGES, SIMILAR

# Beside "abi": the ABI of the operator's build where the code is not verified.
BUILT_ABI = "built_abi"
# Columns that are large, or need a query of their own: they are read only where they are named.
ALL_COLUMNS = frozenset("code settings abi sources metadata layouts".split())


class Contract(NamedTuple):
    """A row of queries/contracts_get; JSON is text, and None where it was not read.

    `code_hash` is None where no contract is indexed, `match` where no source is known;
    `verifier` is another address with the same code, whose verification holds for this one.
    `since_block` is the first block with this code; `replaced_at` a block after which the node
    returned another code, for which no verification holds; `interface` the ABI with what the
    compiler says beside it; `is_similar` that it may have been created as the `verifier`;
    `delegation` and `delegated_calls` are as stored_delegation() reads them, None where they were
    not read.
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
    replaced_at: int | None = None
    interface: str | None = None
    is_similar: bool | None = None
    delegation: str | None = None
    delegated_calls: str | None = None

    @property
    def has_source(self) -> bool:
        """Return whether a source is known that compiles to this runtime code."""
        return self.match is not None

    @property
    def is_verified(self) -> bool:
        """Return whether the constructor is that of the source, too, as far as is known."""
        return self.match not in (None, RUNTIME)

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


def get_or_index(
    reader: Reader, address: bytes, columns: Collection[str] = ALL_COLUMNS
) -> Contract:
    """Return a contract as get() does, for requests that are about it: one that no block showed is
    read from the node and indexed. A development node may have another code than is indexed: it is
    read."""
    head = reader.once(blocks.newest) if reader.is_development else None
    if head is not None:
        states = reader.sources.account_states.all_at(reader.node, [address], head)
        codes = {address: state.code_hash for address, state in states.items()}
        reader.sources.replaced_codes.note(codes, head.number)
    contract = get(reader, address, columns)
    if contract.code_hash is None:
        reader.do_not_cache()  # another block may have it
        head = reader.once(blocks.newest)
        with suppress(UpstreamFailed, Unavailable, BadHex):
            if reader.sources.first_block.read() is None:
                return contract
            if head is not None and reader.sources.replaced_codes.index(reader.node, address, head):
                return get(reader, address, columns)
    return contract


def get_with_proxy(
    reader: Reader, address: bytes, columns: Collection[str] = ALL_COLUMNS
) -> tuple[Contract, ProxyLookup]:
    """Return a contract as get_or_index() does, and its proxy; a minimal proxy whose own code is
    not verified has its implementation's source."""
    contract = get_or_index(reader, address, {*columns, "code"})
    lookup = proxy_of(reader, address, contract)
    clone = lookup.proxy
    is_replaced = contract.replaced_at is not None
    if contract.has_source or is_replaced or clone is None or clone.kind not in CLONES:
        return contract, lookup
    implementation = get(reader, clone.implementation, columns)
    if not implementation.has_source:
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
    """Return a proxy's implementations at the newest block, by its code or its state."""
    if contract.code is None:
        return ProxyLookup(None)
    delegation = stored_delegation(contract.delegation, contract.delegated_calls)
    proxy = delegation.proxy
    if not delegation.depends_on_state:
        return ProxyLookup(proxy)
    with suppress(UpstreamFailed, BadHex, Unavailable):
        at_newest = proxy_after(reader.node, address, delegation, reader.once(blocks.newest))
        if at_newest is not None and at_newest.is_of_now:
            reader.do_not_cache()  # the node keeps no state of an older block, or lacks it yet
        if at_newest is None and reader.has_node_failed:
            reader.do_not_cache()
            return ProxyLookup(proxy, is_known=False)
        return ProxyLookup(at_newest)
    reader.do_not_cache()
    return ProxyLookup(proxy, is_known=proxy is not None)


@dataclass(frozen=True)
class ProxyAt:
    """The proxy at an address at the newest block; Reader.once() reads it once for all parts of a
    page. None where no contract is indexed."""

    address: bytes

    def __call__(self, reader: Reader) -> Proxy | None:
        return proxy_of(reader, self.address, get(reader, self.address, {"code"})).proxy


def proxies_among(reader: Reader, addresses: Sequence[bytes]) -> frozenset[str]:
    """Return the addresses, in hex, of contracts that are proxies by their code or by traces."""
    [listed] = reader.row("queries/contracts_list_proxies", addresses=list(addresses))
    return frozenset(orjson.loads(listed))


def call(
    reader: Reader,
    address: bytes,
    function: str,
    arguments: Sequence[object],
    block: BlockId | None = None,
) -> read_calls.CallResult:
    """Call a view function after a block, by default the newest; see ReadCalls.call()."""
    at, or_latest = blocks.or_newest(reader, block), block is None
    calls = reader.sources.read_calls
    return calls.call(reader.node, address, function, arguments, at, or_latest=or_latest)


def verified_page(reader: Reader, window: Window) -> Page:
    """Return verified contracts, the latest verified first."""
    traversal = window.traversal("contracts", {}, (ORDINAL, ADDRESS, HASH), has_blocks=False)
    after_us, after_address, after_code_hash = traversal.position(3)
    row = reader.row(
        "queries/verified_contracts_list",
        limit=window.limit,
        offset=window.offset,
        after_us=after_us,
        after_address=after_address,
        after_code_hash=after_code_hash,
    )
    return Page.keyed(traversal, row)


def language_of(contract: Contract) -> str:
    return language_of_path(contract.path).name


# Filters that look each contract up, in 4 to 20 us in memory, and the most look-ups for a page.
LOOKED_UP = frozenset({"verified", "proxy"})
MAX_LOOKED_UP = 16_384
# What a trace alone has of a creation by a contract.
OF_TRACES = "creator factory transactionHash blockNumber timestamp".split()


class IndexedCreation(NamedTuple):
    """A creation as indexed, without code: addresses and hash in bytes, the time in ISO 8601."""

    creator: bytes
    factory: bytes | None
    transaction_hash: bytes
    block_number: int
    timestamp: str
    transaction_index: int


def page(reader: Reader, window: Window, **filters: Value | None) -> Page:
    """Return contracts by their creations; creations by contracts are known of traced blocks."""
    if window.max_entries and not LOOKED_UP.isdisjoint(filters):
        window = window._replace(max_entries=MAX_LOOKED_UP)
    return filtered_page(reader, "contract_creations", filters, window)


def indexed(reader: Reader, address: bytes) -> IndexedCreation | None:
    """Return the creation, or None where neither a transaction nor an indexed trace shows it."""
    return creation_of(*reader.row("queries/contracts_get_creation", address=address))


def creation_of(
    creator: bytes | None, factory: bytes | None, transaction_hash: bytes, *block: Any
) -> IndexedCreation | None:
    """Return the creation in the columns of queries/contracts_get_creation."""
    if creator is None:
        return None
    made_by = None if factory is None else bytes(factory)
    return IndexedCreation(bytes(creator), made_by, bytes(transaction_hash), *block)


def creation_record(creation: IndexedCreation | None) -> dict[str, object] | None:
    return creation and {
        "creator": to_hex(creation.creator),
        "factory": None if creation.factory is None else to_hex(creation.factory),
        "transactionHash": to_hex(creation.transaction_hash),
        "blockNumber": creation.block_number,
        "timestamp": creation.timestamp,
        "unproven": [] if creation.factory is None else OF_TRACES,
    }


MAX_SELECTORS = 500  # of one name
MAX_IN_ANY_CASE = 5_000  # of one name, in verified contracts and imported signatures each
ADVICE = ": give its signature, such as deposit(uint256), or its selector."
NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z", re.ASCII)


class Declared(NamedTuple):
    """An event or an error of an ABI: its first topic or selector, its signature, and a verified
    contract that has it, None of one of a standard alone."""

    hash: bytes
    signature: str
    address: bytes | None


EVENT, ERROR = 32, 4  # bytes of their hashes
_DECLARED = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{2,}(?:\([a-zA-Z0-9_,.()\[\]]*)?\Z", re.ASCII)


def declared(reader: Reader, text: str, size: int, most: int) -> list[Declared]:
    """Return the events or errors, by the `size` of their hashes, whose name or signature begins
    with a text in any case, those of this name first, or that have it as their hash in hex; of
    standards those of this name or signature alone."""
    is_hash = re.fullmatch(rf"0x[0-9a-f]{{{2 * size}}}", text.lower())
    hash_ = bytes.fromhex(text[2:]) if is_hash else None
    if hash_ is None and not _DECLARED.match(text):
        return []
    hashes, signatures, addresses = reader.row(
        "queries/signatures_find", size=size, text=text, hash=hash_, most=most
    )
    contracts: dict[tuple[bytes, str], bytes | None] = {
        (bytes(key), signature): bytes(address)
        for key, signature, address in zip(hashes, signatures, addresses, strict=True)
    }
    standard = abi_decoding.standard_abis()
    for key, entries in (standard.events if size == EVENT else standard.errors).items():
        for signature in (entry.signature for entry in entries):
            names = (signature.lower(), signature.lower().partition("(")[0])
            if key == hash_ or text.lower() in names:
                contracts.setdefault((key, signature), None)
    in_order = sorted(contracts, key=lambda pair: (pair[1].lower(), pair))
    return [Declared(*pair, contracts[pair]) for pair in in_order[:most]]


def selectors(reader: Reader, text: str) -> list[bytes]:
    """Return the selectors that a text means: a selector, a signature or a function's name.

    Names are those of standards, verified contracts and imported signatures; where none is equal,
    those that differ in letter case alone. Raises InvalidParameter.
    """
    name = text.strip()
    if name[:2].lower() == "0x":
        return [parameters.method(name)]
    if not NAME.match(name):
        try:
            return [keccak256(canonical(name).encode())[:4]]
        except AbiError as error:
            raise InvalidParameter(f"method is not a signature: {error}.", field="method") from None
    exact, in_any_case = (
        {*map(bytes, hashes)}
        for hashes in reader.row("queries/selectors_find", name=name, most=MAX_IN_ANY_CASE)
    )
    is_cut = len(in_any_case) >= MAX_IN_ANY_CASE
    for selector, entries in abi_decoding.standard_abis().functions.items():
        names = {entry.name for entry in entries}
        if name in names:
            exact.add(selector)
        if name.lower() in map(str.lower, names):
            in_any_case.add(selector)
    found = exact or in_any_case
    if not found:
        raise InvalidParameter("method is not a known function" + ADVICE, field="method")
    if is_cut or len(found) >= MAX_SELECTORS:
        raise InvalidParameter("method is the name of too many functions" + ADVICE, field="method")
    return sorted(found)


def is_known_selector(reader: Reader, selector: bytes) -> bool:
    """Return whether a function of a standard, of a verified contract or of an imported signature
    has the selector."""
    if selector in abi_decoding.standard_abis().functions:
        return True
    return bool(reader.row("queries/selectors_has", selector=selector)[0])
