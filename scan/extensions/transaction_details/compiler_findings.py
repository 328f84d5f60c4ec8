"""What compilers say of verified contracts besides their ABIs, stored when they are verified: where
the code, and the code that creates it, is in the sources, and the layout of the storage.

Creation code is found again in front of constructor arguments by a hash in which what compilations
of one source may differ in is zero: addresses of libraries, and the hashes in metadata. Where
libraries are linked, only the compiler says; a search takes all operands of PUSH20 for their
addresses, and what it finds is compared with the compiler's places.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import orjson

from scan.database.connection import Database
from scan.extensions.transaction_details import source_maps, storage_layouts
from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    HASH_PREFIXES,
    PUSH20,
    ByteRange,
    LinkedCode,
    linked_code,
    mask,
)
from scan.verification.contract_match import Match
from scan.verification.hooks import CompilerFindings, Store
from scan.verification.submission_compilations import Compilations

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


def read(compilations: Compilations, match: Match) -> Store:
    """Return what stores a match's findings. The layout of the storage takes a compilation more."""
    given = match.contract.output.get("storageLayout")
    named_layout = storage_layouts.add_names(given, compilations, match)
    layout = storage_layouts.packed(named_layout) or storage_layouts.packed(given)
    return partial(_store, match, layout)


def _store(
    match: Match, layout: bytes | None, database: Database, address: bytes, code_hash: bytes
) -> bool:
    """Store the findings in the place of what was known of the code, and return whether they have a
    source map."""
    evm, files = match.contract.output["evm"], orjson.dumps([*match.contract.files.items()])
    values = {"address": address, "code_hash": code_hash}
    mapped = values | {"files": files.decode()}
    database.rows("verification/storage_layouts_put", **values, layout=layout)
    source_map = source_maps.packed(evm["deployedBytecode"].get("sourceMap"))
    database.rows("verification/source_maps_put", **mapped, source_map=source_map)
    creation = creation_code_of(linked_code(evm["bytecode"]))
    creation_map = source_maps.packed(evm["bytecode"].get("sourceMap"))
    database.rows(
        "verification/creation_maps_put",
        **mapped,
        code_size=creation and creation.size,
        search_hash=creation and creation.search_hash,
        masked_hash=creation and creation.masked_hash,
        links=creation and orjson.dumps([[*link] for link in creation.links]).decode(),
        source_map=creation and creation_map,
    )
    return source_map is not None


HOOKS = CompilerFindings(read=read)
