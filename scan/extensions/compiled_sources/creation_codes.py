"""Creation code that is found again in front of constructor arguments.

That is by a hash in which what compilations of one source may differ in is zero: addresses of
libraries, and the hashes in metadata. Where libraries are linked, only the compiler says; a search
takes all operands of PUSH20 for their addresses, and what it finds is compared with the compiler's
places.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import orjson

from scan.verification.bytecode_comparison import (
    ADDRESS_BYTES,
    HASH_PREFIXES,
    PUSH20,
    ByteRange,
    LinkedCode,
    mask,
)

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

    def is_in(self, creation: bytes, size: int, masked_hash: bytes, links: str) -> bool:
        """Return whether a creation begins with a code that has this size and hash; `links` are its
        places of libraries as JSON."""
        key = creation, size, links
        if key not in self._hashes:
            code, self._hashes[key] = creation[:size], None
            self._bytes += len(code)
            if self._bytes <= MAX_COMPARED_BYTES:
                places = [ByteRange(*link) for link in orjson.loads(links)]
                self._hashes[key] = _masked_hash(code, places)
        return self._hashes[key] == masked_hash


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


def metadata_hash(creation: bytes) -> bytes:
    """Return the last hash of metadata in a creation, which is that of its own sources, with what
    is before it in code; all of a creation that has none."""
    *_, found = [creation, *(match[0] for match in _HASH.finditer(creation))]
    return found


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
