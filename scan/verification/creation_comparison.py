"""Comparison of the code that created a contract with compiled creation code, without arguments.

Only the creation code has the constructor and the initial values that it writes: sources that
differ in nothing else have the same runtime code. It is the input of the contract's transaction, or
of a traced call.

The same code is found again in front of constructor arguments by a hash in which what compilations
of one source may differ in is zero: addresses of libraries, and the hashes in metadata. Where
libraries are linked, only the compiler says; a search takes all operands of PUSH20 for their
addresses, and what it finds is compared with the compiler's places.

A blueprint (ERC-5202) is creation code that is deployed as it is, for contracts that create others:
after `fe 71`, a byte with the version and the number of bytes of the length of data, that length
and the data. It cannot be called.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan import registry
from scan.contracts.abi import AbiError, decode, encode, parse_types
from scan.database.connection import Database
from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeGateway, NodeSession
from scan.ethereum.transaction_reader import (
    Content,
    IndexedTransaction,
    TransactionReader,
    TransactionUnavailable,
)
from scan.hex import to_hex
from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    HASH_PREFIXES,
    PUSH20,
    ByteRange,
    LinkedCode,
    differences,
    has_integrity,
    has_same_shape,
    mask,
    within_hashes,
)
from scan.verification.hooks import CreationInput


class Creation(NamedTuple):
    """The result of comparing creation code; `is_same` is None if it was not compared.

    `match` is "full" or "partial" if the code is the same and constructor arguments follow it.
    `libraries` are the addresses of the compiled code's libraries, by `file:Name`.
    `inner_metadata`: all differences are in bytes that look like metadata of embedded contracts.
    `auxdata` are the ranges known to be metadata. `proves_source`: the code is equal, and
    has a hash of the source that the runtime code lacks. `unread` follows equal code, and is not
    how constructor arguments are encoded.
    """

    is_same: bool | None = None
    match: str | None = None
    constructor_arguments: bytes | None = None
    libraries: Mapping[str, bytes] = {}
    inner_metadata: bool = False
    auxdata: Sequence[ByteRange] = ()
    proves_source: bool = False
    unread: bytes | None = None


NOT_COMPARED = Creation()


class DeployedCode(NamedTuple):
    """A contract's code on the chain. `creation` is the input of its creation, None if unknown."""

    runtime: bytes
    creation: bytes | None


def compare_creation(
    deployed: DeployedCode,
    compiled: LinkedCode,
    libraries: Mapping[str, bytes],
    auxdata: Sequence[ByteRange],
    abi: Sequence[Mapping[str, Any]],
) -> Creation:
    """Compare creation code. `auxdata` are the ranges of metadata, which may differ.

    The match is "full" if the metadata is equal, too, or is that of the deployed runtime code.
    """
    if deployed.creation is None:
        return NOT_COMPARED
    length = len(compiled.code)
    code, arguments = deployed.creation[:length], deployed.creation[length:]
    if len(code) != length:
        return Creation(is_same=False)
    # Libraries that were not submitted are read from the creation code: runtime code lacks those
    # that only the constructor calls.
    linked: dict[str, bytes] = {}
    linked_code = bytearray(compiled.code)
    for name, ranges in compiled.links.items():
        in_code = code[ranges[0].start : ranges[0].end]
        linked[name] = libraries.get(name, libraries.get(name.rpartition(":")[2], in_code))
        for start, end in ranges:
            linked_code[start:end] = linked[name]
    expected = bytes(linked_code)
    offsets = differences(code, expected)
    metadata = auxdata if offsets else ()
    if mask(code, metadata) != mask(expected, metadata) or not all(
        has_same_shape(code, expected, part) for part in metadata
    ):
        return Creation(is_same=False, inner_metadata=within_hashes(offsets, expected))
    if not are_constructor_arguments(abi, arguments):
        return Creation(is_same=True, libraries=linked, auxdata=auxdata, unread=arguments)
    is_full = all(deployed.runtime.endswith(code[start:end]) for start, end in metadata)
    level = "full" if is_full else "partial"
    proves_source = not offsets and has_integrity(expected)
    return Creation(True, level, arguments, linked, auxdata=auxdata, proves_source=proves_source)


def are_constructor_arguments(abi: Sequence[Mapping[str, Any]], arguments: bytes) -> bool:
    constructor = next((entry for entry in abi if entry.get("type") == "constructor"), {})
    try:
        types = parse_types(constructor.get("inputs", []))
        return encode(types, decode(types, arguments)) == arguments
    except (AbiError, OverflowError):
        return False


MAX_CODE_BYTES = 256 * 1024  # of what is searched for; five times EIP-3860's
MAX_ARGUMENT_BYTES = 8192
WORD_BYTES = 32
MAX_LINKS = 1000
MAX_COMPARED_BYTES = 16 * 1024 * 1024  # of creations, for one request: 0.2 s at most

# A run of instructions, with the operand of the PUSH20 that ends it: 48 KiB take 1 ms.
_INSTRUCTIONS = re.compile(
    rb"((?:[^\x60-\x7f]|%s)*+)(?:\x73(.{0,20}))?"
    % b"|".join(
        b"\\x%02x.{0,%d}" % (PUSH20 + size - 20, size) for size in range(1, 33) if size != 20
    ),
    re.DOTALL,
)
_HASH = re.compile(b"(%s)(.{0,32})" % b"|".join(map(re.escape, HASH_PREFIXES)), re.DOTALL)


class CreationCode(NamedTuple):
    """Compiled creation code: its size, the hash by which it is searched for, the hash of it with
    zeros where libraries are linked, and these places."""

    size: int
    search_hash: bytes
    masked_hash: bytes
    links: Sequence[ByteRange]

    def is_in(self, creation: bytes) -> bool:
        """Return whether this code is what a creation begins with."""
        code = creation[: self.size]
        return len(code) == self.size and _masked_hash(code, self.links) == self.masked_hash


class CreationComparison:
    """Compares creations with stored codes: at most MAX_COMPARED_BYTES, hashed once for all codes
    with the same places of libraries. What is beyond is not compared."""

    def __init__(self) -> None:
        self._bytes = 0
        self._hashes: dict[tuple[bytes, int, str], bytes | None] = {}

    def is_in(self, creation: bytes, size: int, links: str, masked_hash: bytes) -> bool:
        """Return whether a creation begins with a code that has this size and hash; `links` are its
        places of libraries as JSON."""
        key = creation, size, links
        if key not in self._hashes:
            self._hashes[key] = self._masked_hash(creation[:size], links)
        return self._hashes[key] == masked_hash

    def _masked_hash(self, code: bytes, links: str) -> bytes | None:
        self._bytes += len(code)
        if self._bytes > MAX_COMPARED_BYTES:
            return None
        return _masked_hash(code, [ByteRange(*link) for link in orjson.loads(links)])


def creation_code_of(compiled: LinkedCode) -> CreationCode | None:
    """Return what creation code is found by; None of code that is too large, or none at all."""
    code = compiled.code
    links = [place for places in compiled.links.values() for place in places]
    if not 0 < len(code) <= MAX_CODE_BYTES or len(links) > MAX_LINKS:
        return None
    if not all(start >= 0 and start + ADDRESS_BYTES == end <= len(code) for start, end in links):
        return None
    search_hash = hashlib.sha256(_without_operands(code)).digest()
    return CreationCode(len(code), search_hash, _masked_hash(code, links), links)


def search_hashes(creation: bytes) -> Mapping[bytes, int]:
    """Return the search hashes of all code that a creation may begin with, with their sizes: it
    ends with arguments of at most MAX_ARGUMENT_BYTES, which are whole words."""
    if len(creation) > MAX_CODE_BYTES + MAX_ARGUMENT_BYTES:
        return {}
    code = _without_operands(creation)
    first = max(len(code) % WORD_BYTES, len(code) - MAX_ARGUMENT_BYTES)
    digest, hashes = hashlib.sha256(code[:first]), {}
    for size in range(first, len(code) + 1, WORD_BYTES):
        hashes[digest.digest()] = size
        digest.update(code[size : size + WORD_BYTES])
    return hashes


def _masked_hash(code: bytes, links: Sequence[ByteRange]) -> bytes:
    return hashlib.sha256(_without_hashes(mask(code, links))).digest()


def _without_operands(code: bytes) -> bytes:
    """Return code with zeros in operands of PUSH20, and in hashes of metadata. A part of the code
    from its beginning is the same part of the result."""
    return _without_hashes(
        _INSTRUCTIONS.sub(
            lambda run: run[1] + (b"" if run[2] is None else bytes([PUSH20]) + bytes(len(run[2]))),
            code,
        )
    )


def _without_hashes(code: bytes) -> bytes:
    return _HASH.sub(lambda match: match[1] + bytes(len(match[2])), code)


_CLIENT = "verification"


class CreationReader:
    """Finds creations in the index and reads their input from the node."""

    def __init__(
        self, database: Database, gateway: NodeGateway, transactions: TransactionReader, traces: str
    ) -> None:
        """`traces` is as SCAN_TRACES."""
        self._database = database
        self._gateway = gateway
        self._transactions = transactions
        part = registry.only(CreationInput)
        self._traced_inputs = None if part is None else part.reader(traces)

    def input_of(
        self, address: bytes, block_number: int, node: NodeSession | None = None
    ) -> bytes | None:
        """Return the creation code, with constructor arguments, of a contract whose code is indexed
        since this block; None if its creation there is not indexed, or the node does not have it or
        does not answer. `node` is the session of a request, by default one of verifications."""
        row = self._database.row(
            "verification/creations_get", address=address, block_number=block_number
        )
        if row is None:
            return None
        is_by_contract, *hashes, to_address = row
        transaction_hash, block_hash = (to_hex(bytes(value)) for value in hashes)
        to = None if to_address is None else to_hex(bytes(to_address))
        indexed = IndexedTransaction(transaction_hash, block_number, block_hash, to)
        node = node or self._gateway.session(_CLIENT)
        try:
            if is_by_contract:
                traced = self._traced_inputs
                return None if traced is None else traced.input_of(node, indexed, address)
            sent = self._transactions.read(node, [(indexed, Content.INPUT)])
            return sent[indexed.hash].input
        except (TransactionUnavailable, TracesUnavailable, UpstreamFailed, Unavailable):
            return None


_MARK = b"\xfe\x71"
PREAMBLE = _MARK + b"\0"  # of the first version, without data
_LENGTHS = 0b11  # bits of the number of bytes of the length; the others are the version, 0
_RESERVED = 3


def preamble_of(code: bytes) -> bytes | None:
    """Return what precedes the creation code in a blueprint; None for other code."""
    if code[:2] != _MARK or len(code) < 3 or code[2] >= _RESERVED:
        return None
    data = 3 + (code[2] & _LENGTHS)
    start = data + int.from_bytes(code[3:data], "big")
    return code[:start] if start < len(code) else None


def as_deployed(output: Mapping[str, Any], preamble: bytes) -> dict[str, Any]:
    """Return a compiler's output with blueprints of contracts in the place of their runtime code,
    without source maps: the code of a blueprint never runs."""
    contracts = {
        path: {name: _blueprint(contract, preamble) for name, contract in of_file.items()}
        for path, of_file in (output.get("contracts") or {}).items()
    }
    return {**output, "contracts": contracts}


def _blueprint(contract: Mapping[str, Any], preamble: bytes) -> dict[str, Any]:
    evm = contract.get("evm") or {}
    creation = evm.get("bytecode") or {}
    links = {
        path: {
            name: [{**place, "start": place["start"] + len(preamble)} for place in places]
            for name, places in libraries.items()
        }
        for path, libraries in (creation.get("linkReferences") or {}).items()
    }
    code = creation.get("object")
    runtime = {"object": preamble.hex() + code if code else "", "linkReferences": links}
    return {**contract, "evm": {**evm, "deployedBytecode": runtime}}
